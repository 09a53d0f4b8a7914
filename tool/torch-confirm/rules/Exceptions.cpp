// exception: an operation of LibTorch that throws. It does so at the flagged
// line, or at one that a note of the finding names: a parameter that is no leaf
// is made here, and the optimizer that throws is made there.
#include "rules/Rule.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

struct Thrown {
  uint64_t Number = 0, Hits = 0;
  const Site *Where = nullptr;
};

Thrown thrownOn(const std::vector<CallPath> &Paths) {
  Thrown Result;
  for (const Site *S : sitesOf(Paths)) {
    if (!S->Exceptions)
      continue;
    Result.Number += S->Exceptions;
    Result.Hits += S->Hits;
    if (!Result.Where || S->Exceptions > Result.Where->Exceptions)
      Result.Where = S;
  }
  return Result;
}

/// Of mistakes that change the result without an error: what it is that only a
/// run without the mistake shows. Empty for others.
std::string silentEffect(const DiagnosedFinding &Finding) {
  if (Finding.Kind == FindingKind::NonLeafIgnored ||
      Finding.Kind == FindingKind::NonLeafRebound ||
      Finding.Kind == FindingKind::InferenceTrained)
    return "that step() changes nothing";
  if (Finding.Kind == FindingKind::StaleSilent ||
      Finding.Kind == FindingKind::StaleUnknown)
    return "that gradients are computed with other weights";
  return "";
}

/// Tensors on two devices, of which the run had one.
bool needsDevice(const Places &Where) {
  const auto &Kind = Where.Finding.Kind;
  return Where.Run.CudaDevice.empty() &&
         (Kind == FindingKind::MismatchInput ||
          Kind == FindingKind::MismatchOperands ||
          Kind == FindingKind::MismatchModule);
}

class ExceptionRule : public Rule {
public:
  std::string evidence() const override { return "exception"; }
  std::vector<std::string> needs() const override {
    return {"operations", "exceptions"};
  }

  Verdict judge(const Places &Where) const override {
    if (const Thrown Here = thrownOn(Where.Statement); Here.Number)
      return confirmed(Here, Where.Finding.Line);
    bool AllNotesRan = true;
    for (const FindingNote &Note : Where.Finding.Notes) {
      const std::vector<CallPath> Paths = Where.paths(Where.known(Note.Place));
      if (const Thrown There = thrownOn(Paths); There.Number)
        return confirmed(There, Note.Place.First);
      AllNotesRan &= !Paths.empty();
    }
    Verdict V;
    V.Iterations = Where.iterations();
    V.Number = 0;
    V.Unit = "exceptions";
    V.Rule = "no exception";
    if (Where.Statement.empty()) {
      V.Number.reset();
      V.Result = Outcome::NotReached;
      V.Sentence = Where.unseenText();
    } else if (const std::string Effect = silentEffect(Where.Finding);
               !Effect.empty()) {
      V.Number.reset();
      V.Sentence =
          "the line ran and nothing was thrown, as the finding says; " +
          Effect + " shows only beside a run without the mistake";
      V.Rule = "needs a run without the mistake";
    } else if (needsDevice(Where)) {
      V.Number.reset();
      V.Result = Outcome::NotMeasurable;
      V.Sentence =
          "the line ran on the CPU alone, where all tensors are on one "
          "device";
      V.Rule = "needs a device";
    } else if (!AllNotesRan) {
      V.Sentence = "nothing was thrown at this line, " +
                   countText(double(V.Iterations), "iteration") +
                   "; of another place that the finding names nothing was seen";
    } else {
      V.Result = Outcome::Refuted;
      V.Sentence = "the line ran and nothing was thrown, " +
                   countText(double(V.Iterations), "iteration");
    }
    return V;
  }

  /// Where modules are registered and optimizers made no operation runs; but
  /// what is thrown there is seen.
  std::optional<Verdict> judgeUnseen(const Places &Where) const override {
    for (const FindingNote &Note : Where.Finding.Notes) {
      const auto There = thrownOn(Where.paths(Where.known(Note.Place)));
      if (There.Number)
        return confirmed(There, Note.Place.First);
    }
    if (!Where.isFileKnown())
      return std::nullopt;
    Verdict V;
    V.Rule = "no exception";
    V.Sentence = "nothing was thrown at this line, and no operation of it was "
                 "seen: whether it ran is not known";
    return V;
  }

private:
  static Verdict confirmed(const Thrown &Seen, unsigned Line) {
    Verdict V;
    V.Result = Outcome::Confirmed;
    V.Rule = "exceptions that leave LibTorch";
    V.Number = double(Seen.Number);
    V.Unit = "exceptions";
    V.Iterations = Seen.Hits;
    const bool IsOperation = Seen.Where->Operation != "throw";
    V.Sentence = (IsOperation ? Seen.Where->Operation + " threw "
                              : std::string("LibTorch threw ")) +
                 countText(double(Seen.Number), "exception") + " at line " +
                 std::to_string(Line);
    if (IsOperation)
      V.Sentence += " in " + countText(double(Seen.Hits), "call");
    if (!Seen.Where->Thrown.empty()) {
      const ThrownCount &First = Seen.Where->Thrown.front();
      V.Sentence += ": " + First.Type;
      if (!First.Message.empty())
        V.Sentence += ", \"" + First.Message + "\"";
    }
    V.Cost = CostKind::WrongResult;
    V.CostAmount = double(Seen.Number);
    V.CostText = "the program cannot go on from there";
    return V;
  }
};

const RegisterRule<ExceptionRule> Register;

} // namespace
} // namespace torchtidy::confirm
