#include "fix/Trial.h"
#include "rules/Judge.h"
#include "rules/Places.h"
#include "run/Execute.h"
#include <algorithm>

namespace torchtidy::confirm::fix {
namespace {

std::string endOf(const Recording &Run) {
  return Ended{Run.ExitCode, Run.Signal}.text();
}

/// Whether any operation of the statement ran in the loop that the finding
/// names.
bool isInLoop(const DiagnosedFinding &Finding, const Recording &Run) {
  const SourceMatch Sources(Run);
  const Places Where(Finding, Run, Sources);
  const std::vector<const Site *> Sites = sitesOf(Where.Statement);
  return std::any_of(Sites.begin(), Sites.end(), [&](const Site *S) {
    return std::find(Where.Loop.begin(), Where.Loop.end(), S) !=
           Where.Loop.end();
  });
}

/// Of a finding that was confirmed: whether the effect is gone; nothing where
/// the run with the fix does not tell.
std::optional<bool> isGone(const FindingIn &Before, const FindingIn &After,
                           const FixVerdict &Said, std::string &Why) {
  const Verdict &Now = *Said.After;
  if (Now.Result == Outcome::Refuted || Now.Result == Outcome::NotReached)
    return true;
  // Moved out of the loop: what is left are the hits of a loop around that.
  if (Now.Iterations < Said.Before.Iterations &&
      isInLoop(Before.Finding, Before.Run.What) &&
      !isInLoop(After.Finding, After.Run.What)) {
    Why = "it no longer runs in the loop: " +
          countText(double(Now.Iterations), "time") + " in place of " +
          numberText(double(Said.Before.Iterations));
    return true;
  }
  if (Now.Result == Outcome::Confirmed)
    return false;
  return std::nullopt;
}

std::string changes(const Comparison &Beside) {
  std::string Result;
  if (!Beside.EndsSame)
    Result = "the program ends with " + Beside.EndAfter + " in place of " +
             Beside.EndBefore;
  if (!Beside.Output.isSame())
    Result += (Result.empty() ? "the fix changed what the program prints: line"
                              : ", and prints something else in line") +
              std::string(Beside.Output.Count == 1 ? " " : "s ") +
              lineNumbers(Beside.Output);
  return Result;
}

} // namespace

std::string nameOf(FixOutcome Result) {
  switch (Result) {
  case FixOutcome::Confirmed:
    return "CONFIRMED";
  case FixOutcome::OutputChanged:
    return "OUTPUT CHANGED";
  case FixOutcome::EffectRemains:
    return "EFFECT REMAINS";
  case FixOutcome::Refuted:
    return "REFUTED";
  case FixOutcome::NotReached:
    return "NOT REACHED";
  case FixOutcome::NotMeasurable:
    return "NOT MEASURABLE HERE";
  case FixOutcome::NotApplied:
    return "NOT APPLIED";
  case FixOutcome::DoesNotBuild:
    break;
  }
  return "DOES NOT BUILD";
}

Comparison compare(const ProgramRun &Before, const ProgramRun &After,
                   const std::string &Again, const IgnoredLines &Ignored) {
  Comparison Result;
  Result.EndBefore = endOf(Before.What);
  Result.EndAfter = endOf(After.What);
  Result.EndsSame = Result.EndBefore == Result.EndAfter;
  std::set<size_t> Unsteady;
  if (!Again.empty())
    Unsteady = differentLines(After.Output, Again, Ignored);
  Result.Unsteady = Unsteady.size();
  Result.Output =
      compareOutputs(Before.Output, After.Output, Ignored, Unsteady);
  return Result;
}

Verdict verdictOf(const DiagnosedFinding &Finding, const Recording &Run) {
  return judge({Finding}, Run).front().Result;
}

FixOutcome withoutEffect(Outcome Result) {
  if (Result == Outcome::Refuted)
    return FixOutcome::Refuted;
  return Result == Outcome::NotReached ? FixOutcome::NotReached
                                       : FixOutcome::NotMeasurable;
}

bool isOfResults(const Verdict &Confirmed) {
  return Confirmed.Cost == CostKind::WrongResult;
}

FixVerdict decide(const FindingIn &Before, const FindingIn &After,
                  const Comparison &Beside, size_t OtherFixes) {
  FixVerdict Result;
  Result.Before = verdictOf(Before.Finding, Before.Run.What);
  Result.After =
      After.Finding.Statement.isKnown()
          ? verdictOf(After.Finding, After.Run.What)
          : verdict(Outcome::NotReached, "the fix takes the statement out");
  if (Result.Before.Result != Outcome::Confirmed) {
    Result.Result = withoutEffect(Result.Before.Result);
    return Result;
  }
  const auto Gone = isGone(Before, After, Result, Result.After->Sentence);
  if (!Gone) {
    Result.Result = FixOutcome::NotMeasurable;
    return Result;
  }
  if (!*Gone) {
    Result.Result = FixOutcome::EffectRemains;
    Result.Sentence = "something else has the same effect there, or the fix "
                      "does not cure all of it";
    return Result;
  }
  Result.Sentence = changes(Beside);
  if (Beside.isSame() && Beside.isAllUnsteady() &&
      !isOfResults(Result.Before)) {
    Result.Result = FixOutcome::NotMeasurable;
    Result.Sentence = "the effect is gone; but each line that the program "
                      "prints differs from run to run, so that it cannot be "
                      "told whether it does the same";
    return Result;
  }
  if (Beside.isSame() || isOfResults(Result.Before)) {
    Result.Result = FixOutcome::Confirmed;
    if (!Result.Sentence.empty())
      Result.Sentence += "; results that were wrong are expected to change";
    return Result;
  }
  Result.Result = FixOutcome::OutputChanged;
  if (OtherFixes)
    Result.Sentence +=
        "; " + numberText(double(OtherFixes)) +
        (OtherFixes == 1 ? " other fix was" : " other fixes were") +
        " applied too, and --each tells whose it is";
  return Result;
}

} // namespace torchtidy::confirm::fix
