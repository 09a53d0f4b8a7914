#include "training/MissingZeroGradCheck.h"
#include "model/Edit.h"
#include "model/Gradients.h"
#include "model/Program.h"
#include "model/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const Execution &Way,
                        const UnclearedStep &Missed) {
  const clang::ASTContext &Context = Program.context();
  const Event &Step = *Missed.Step;
  const std::string Prefix = memberPrefix(Context, Step.Site);
  const std::string Name = objectName(Context, Step.Site);
  const std::string Clear = Prefix + "zero_grad()";

  Finding Result;
  Result.Location = Step.Site->getBeginLoc();
  Result.Range = Step.Site->getSourceRange();
  Result.Message = "gradients of '" + Name + "' are not cleared " +
                   (Missed.IsClearedElsewhere ? "on some path " : "") +
                   "between iterations: every step() applies the sum of the "
                   "gradients so far; call '" +
                   Clear + "' after this step()";
  Result.Notes.push_back(
      {Missed.Backward->Site->getBeginLoc(), "gradients are added here"});
  addLoop(Result, Way, Step.In, Missed.Around);
  if (Step.In->Flow)
    Result.Fixes = insertAfter(Context, *Step.In->Flow, Step.Site, Clear + ";");
  Result.IterationSite = Missed.Backward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> MissingZeroGradCheck::analyze(Program &Program) {
  std::vector<Finding> Findings;
  for (const auto &Way : Program.executions())
    for (const UnclearedStep &Missed : unclearedSteps(*Way))
      addUnlessKnown(Findings, describe(Program, *Way, Missed));
  return Findings;
}

} // namespace torchtidy::checks
