// Finds optimizer steps in a loop whose gradients nothing clears between
// iterations, so that every step applies the sum of the gradients so far.
#include "training/MissingZeroGradCheck.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "training/MissingZeroGrad.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const UnclearedStep &Missed) {
  const clang::ASTContext &Context = Program.context();
  const StepEvent &Step = *Missed.Step;
  const std::string Prefix = memberPrefix(Context, Step.Site);
  const std::string Name = objectName(Context, Step.Site);
  const std::string Clear = Prefix + "zero_grad()";

  Finding Result;
  Result.Location = Step.Site->getBeginLoc();
  Result.Range = Step.Site->getSourceRange();
  Result.Kind = Missed.IsClearedElsewhere
                    ? FindingKind::GradientsClearedOnSomePath
                    : FindingKind::GradientsNeverCleared;
  Result.Message = "gradients of '" + Name + "' are not cleared " +
                   (Missed.IsClearedElsewhere ? "on some path " : "") +
                   "between iterations: every step() applies the sum of the "
                   "gradients so far; call '" +
                   Clear + "' after this step()";
  Result.Notes.push_back({Missed.Backward->Site->getBeginLoc(),
                          "gradients are added here", NoteRole::Backward});
  addLoop(Result, *Missed.Entry, Step.In, Missed.Around);
  if (Step.In->Flow)
    Result.Fixes = insertAfter(Context, *Step.In->Flow, Step.Site, Clear + ";");
  Result.IterationSite = Missed.Backward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> MissingZeroGradCheck::analyze(Program &Program) {
  return findingsOf(Program, unclearedSteps, describe);
}

} // namespace torchtidy::checks
