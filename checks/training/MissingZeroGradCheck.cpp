// Finds optimizer steps in a loop whose gradients nothing clears between
// iterations, so that every step applies the sum of the gradients so far.
#include "training/MissingZeroGradCheck.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "training/MissingZeroGrad.h"

namespace torchtidy::checks {

using namespace model;

/// What is not cleared, and how it can be.
struct Clearing {
  std::string Name;
  /// What applies the gradients, as the message calls it.
  std::string Step;
  std::string Call;
  bool IsSafeAfterStep = true;
};

/// Nothing else reads the gradients, and what they are of can be named where
/// the step is made.
static bool isReadOnlyThere(const Execution &Entry, const StepEvent &Step) {
  if (!Step.In->Flow ||
      !Step.In->Flow->isInside(Step.Gradient, Step.In->Function->getBody()))
    return false;
  return llvm::none_of(Entry.events<ReadGradientEvent>(),
                       [&](const ReadGradientEvent &Read) {
                         return Read.Site != Step.Gradient &&
                                llvm::any_of(Read.Of, [&](PlaceId P) {
                                  return llvm::is_contained(Step.Trained, P);
                                });
                       });
}

static Clearing clearingOf(const clang::ASTContext &Context,
                           const UnclearedStep &Missed) {
  const StepEvent &Step = *Missed.Step;
  if (!Step.Gradient)
    return {objectName(Context, Step.Site), "step()",
            memberPrefix(Context, Step.Site) + "zero_grad()"};
  return {objectName(Context, Step.Gradient), "update",
          memberPrefix(Context, Step.Gradient) + "grad().zero_()",
          isReadOnlyThere(*Missed.Entry, Step)};
}

static Finding describe(const Program &Program, const UnclearedStep &Missed) {
  const clang::ASTContext &Context = Program.context();
  const StepEvent &Step = *Missed.Step;
  const Clearing Clear = clearingOf(Context, Missed);

  Finding Result;
  Result.Location = Step.Site->getBeginLoc();
  Result.Range = Step.Site->getSourceRange();
  Result.Kind = Missed.IsClearedElsewhere
                    ? FindingKind::GradientsClearedOnSomePath
                    : FindingKind::GradientsNeverCleared;
  Result.Message = "gradients of '" + Clear.Name + "' are not cleared " +
                   (Missed.IsClearedElsewhere ? "on some path " : "") +
                   "between iterations: every " + Clear.Step +
                   " applies the sum of the gradients so far; call '" +
                   Clear.Call + "' after this " + Clear.Step;
  Result.Notes.push_back({Missed.Backward->Site->getBeginLoc(),
                          "gradients are added here", NoteRole::Backward});
  addLoop(Result, *Missed.Entry, Step.In, Missed.Around);
  if (Step.In->Flow && Clear.IsSafeAfterStep)
    Result.Fixes =
        insertAfter(Context, *Step.In->Flow, Step.Site, Clear.Call + ";");
  Result.IterationSite = Missed.Backward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> MissingZeroGradCheck::analyze(Program &Program) {
  return findingsOf(Program, unclearedSteps, describe);
}

} // namespace torchtidy::checks
