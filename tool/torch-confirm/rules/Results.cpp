#include "rules/Results.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Of the hits, so many leave a result that nothing uses.
constexpr double ShareUnused = 0.9;
/// Fewer optimizers say nothing: one may be made for another phase.
constexpr uint64_t FewestOptimizers = 3;
constexpr double ShareMadeAgain = 0.5;

bool isOneOf(const Places &Where, std::initializer_list<FindingKind> Kinds) {
  return Where.Finding.Kind && std::find(Kinds.begin(), Kinds.end(),
                                         *Where.Finding.Kind) != Kinds.end();
}

Verdict wrongResult(Verdict V, double Amount, std::string Sentence) {
  V.Result = Outcome::Confirmed;
  V.Sentence = std::move(Sentence);
  V.Cost = CostKind::WrongResult;
  V.CostAmount = Amount;
  V.CostText = "wrong results";
  return V;
}

/// The operation whose result a statement leaves: of the nearest ones that take
/// memory, the one that ran last for the first time.
const Site *resultOf(const CallPath &Path) {
  const Site *Result = nullptr;
  for (const Site *S : Path.Sites)
    if (S->Allocations + S->CudaAllocations &&
        (!Result || S->Stack.size() <= Result->Stack.size()))
      Result = S;
  return Result;
}

/// The new tensor is gone when the statement ends. One that is put into a copy
/// of a handle may be used through the copy.
std::optional<Verdict> ofUnusedResult(const Places &Where, bool IsCopy) {
  Verdict V;
  V.Rule = "results that nothing uses";
  V.Unit = "results";
  V.Iterations = Where.iterations();
  uint64_t Hits = 0, Unused = 0;
  std::string Operation;
  for (const CallPath &Path : Where.Statement)
    if (const Site *S = resultOf(Path)) {
      Hits += S->Hits;
      Unused += std::min(S->DiedAtOnce, S->Hits);
      Operation = S->Operation;
    }
  if (!Hits)
    return std::nullopt;
  V.Number = double(Unused);
  if (double(Unused) >= ShareUnused * double(Hits))
    return wrongResult(std::move(V), double(Unused),
                       "the result of " + Operation +
                           " is gone before any operation has used it, " +
                           numberText(double(Unused)) + " of " +
                           countText(double(Hits), "time"));
  if (IsCopy && Unused)
    return std::nullopt;
  V.Sentence = "the result of " + Operation +
               " is used: it is there when the "
               "next operation begins, " +
               numberText(double(Hits - Unused)) + " of " +
               countText(double(Hits), "time");
  // Through the copy, perhaps.
  if (IsCopy)
    return std::nullopt;
  V.Result = Outcome::Refuted;
  return V;
}

/// Parameters that are made at the line, trained, and in no optimizer, though
/// others are.
std::optional<Verdict> ofLeaves(const Places &Where) {
  Verdict V;
  V.Rule = "leaves that get gradients and that no step changes";
  V.Unit = "leaves";
  V.Iterations = Where.iterations();
  uint64_t Trained = 0, Stepped = 0;
  for (const Site *S : sitesOf(Where.Statement)) {
    Trained += S->LeavesTrained;
    Stepped += S->LeavesStepped;
  }
  const bool IsAnyStepped =
      std::any_of(Where.Run.Sites.begin(), Where.Run.Sites.end(),
                  [](const Site &S) { return S.LeavesStepped > 0; });
  if (!Trained || (!IsAnyStepped && !Stepped))
    return std::nullopt;
  V.Number = double(Trained - std::min(Trained, Stepped));
  const std::string Of = numberText(*V.Number) + " of " +
                         countText(double(Trained), "leaf tensor") +
                         " made at this line get gradients, and no step "
                         "changes them";
  if (*V.Number > 0)
    return wrongResult(std::move(V), double(Trained - Stepped),
                       Of + ", though a step changes others");
  V.Result = Outcome::Refuted;
  V.Sentence = "all " + countText(double(Trained), "leaf tensor") +
               " made at this line that get gradients are changed by a step";
  return V;
}

/// Each time the state of the optimizer before is forgotten.
std::optional<Verdict> ofOptimizers(const Places &Where) {
  Verdict V;
  V.Rule = "optimizers of the same parameters";
  V.Unit = "optimizers";
  uint64_t Made = 0, Again = 0;
  for (const Site *S : sitesOf(Where.Statement))
    if (S->Operation == "optimizer") {
      Made += S->Hits;
      Again += S->MadeAgain;
    }
  if (Made < FewestOptimizers)
    return std::nullopt;
  V.Iterations = Made;
  V.Number = double(Again);
  const std::string Of = numberText(double(Again)) + " of " +
                         countText(double(Made), "optimizer") +
                         " made at this line are for parameters that the one "
                         "before had stepped";
  if (double(Again) >= ShareMadeAgain * double(Made))
    return wrongResult(std::move(V), double(Again), Of);
  V.Sentence = Of;
  if (!Again)
    V.Result = Outcome::Refuted;
  return V;
}

} // namespace

std::optional<Verdict> judgeResult(const Places &Where) {
  using K = FindingKind;
  if (isOneOf(Where, {K::DiscardedConversion, K::DiscardedComputation}))
    return ofUnusedResult(Where, /*IsCopy=*/false);
  if (isOneOf(Where,
              {K::WriteIntoTemporary, K::WriteIntoTemporaryRange,
               K::WriteIntoLoopCopy, K::WriteIntoParameter, K::WriteIntoCopy}))
    return ofUnusedResult(Where, /*IsCopy=*/true);
  if (isOneOf(Where, {K::UnregisteredSubmodule, K::UnregisteredParameter,
                      K::ReassignedParameter, K::ReassignedModule}))
    return ofLeaves(Where);
  if (isOneOf(Where, {K::OptimizerInLoop}))
    return ofOptimizers(Where);
  return std::nullopt;
}

} // namespace torchtidy::confirm
