#include "rules/Members.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

Verdict begin(const Places &Where, const char *Rule, const char *Unit,
              double Number) {
  Verdict V;
  V.Rule = Rule;
  V.Unit = Unit;
  V.Number = Number;
  V.Iterations = Where.iterations();
  return V;
}

uint64_t sum(const Places &Where, uint64_t Site::*Of) {
  uint64_t Result = 0;
  for (const Site *S : sitesOf(Where.Statement))
    Result += S->*Of;
  return Result;
}

/// A list's elements are handles to one tensor: it is written now through one,
/// now through another.
std::optional<Verdict> ofSharedTensor(const Places &Where) {
  const uint64_t Writes = sum(Where, &Site::SharedWrites);
  if (!Writes)
    return std::nullopt;
  return wrongResult(
      begin(Where, "writes through several elements", "writes", double(Writes)),
      double(Writes),
      "the tensor that is made at this line is written in place "
      "through one element and then through another, " +
          countText(double(Writes), "time"));
}

std::optional<Verdict> ofSharedModule(const Places &Where) {
  int64_t Most = 0;
  for (const Site *S : sitesOf(Where.Statement))
    Most = std::max(Most, S->MostListed);
  if (Most < 2)
    return std::nullopt;
  return wrongResult(begin(Where, "parameters that a module has several times",
                           "parameters", double(Most)),
                     double(Most),
                     "one parameter that is made at this line is " +
                         countText(double(Most), "parameter") + " of a module");
}

std::optional<Verdict> ofReplaced(const Places &Where) {
  const uint64_t Replaced = sum(Where, &Site::MembersReplaced);
  if (!Replaced)
    return std::nullopt;
  return wrongResult(
      begin(Where, "members in place of registered tensors", "members",
            double(Replaced)),
      double(Replaced),
      "a member that was the registered tensor is one that this line "
      "has made, and the other one is still registered, in " +
          countText(double(Replaced), "module"));
}

/// A module that is a member, and to which train() and eval() do not come.
std::optional<Verdict> ofMode(const Places &Where) {
  const uint64_t Other = sum(Where, &Site::CallsInOtherMode);
  const uint64_t Same = sum(Where, &Site::CallsInEvalMode);
  if (!Other && !Same)
    return std::nullopt;
  Verdict V = begin(Where, "modes of a member and of the module that has it",
                    "calls in the other mode", double(Other));
  if (Other)
    return wrongResult(
        std::move(V), double(Other),
        "the module that is made at this line was called " +
            countText(double(Other), "time") +
            " in another mode than the module that it is a member of");
  V.Result = Outcome::Refuted;
  V.Sentence = "the module that is made at this line was in eval mode when the "
               "module was that it is a member of, in all " +
               countText(double(Same), "call");
  return V;
}

std::string copies(uint64_t Count) {
  return numberText(double(Count)) + (Count == 1 ? " copy" : " copies");
}

/// Weights that the step at this line has changed, and passes under autocast.
std::optional<Verdict> ofCasts(const Places &Where) {
  if (!Where.Run.has("casts"))
    return std::nullopt;
  const uint64_t Stale = sum(Where, &Site::StaleCasts);
  const uint64_t Fresh = sum(Where, &Site::FreshCasts);
  Verdict V = begin(Where, "copies of weights under autocast", "stale copies",
                    double(Stale));
  if (Stale)
    return wrongResult(
        std::move(V), double(Stale),
        "passes under autocast took " + copies(Stale) +
            " of weights from before this step had changed them");
  if (!Fresh)
    return std::nullopt;
  V.Result = Outcome::Refuted;
  V.Sentence = "passes under autocast made new copies of what this step had "
               "changed, " +
               copies(Fresh);
  return V;
}

} // namespace

std::optional<Verdict> judgeMembers(const Places &Where) {
  using K = FindingKind;
  if (!Where.Finding.Kind)
    return std::nullopt;
  switch (*Where.Finding.Kind) {
  case K::FillSharesTensor:
    return ofSharedTensor(Where);
  case K::FillSharesModule:
  case K::RegisteredInTwo:
    return ofSharedModule(Where);
  case K::ReassignedParameter:
  case K::ReassignedBuffer:
    return ofReplaced(Where);
  case K::UnregisteredModeOnly:
    return ofMode(Where);
  case K::AutocastCache:
    return ofCasts(Where);
  default:
    return std::nullopt;
  }
}

} // namespace torchtidy::confirm
