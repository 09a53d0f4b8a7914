// Finds networks that backward() goes through though no optimizer trains them:
// feature extractors, teachers, target networks that run without a guard.
#include "autograd/UnusedGradientsCheck.h"
#include "autograd/UnusedGradients.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program, const UnusedGradients &Found) {
  const clang::ASTContext &Context = Program.context();
  const bool IsBelow = Found.Site != Found.Forward->Site;
  const std::string Name =
      IsBelow ? "" : objectName(Context, Found.Forward->Site);
  Finding Result;
  Result.Location = Found.Site->getBeginLoc();
  Result.Range = Found.Site->getSourceRange();
  Result.Message =
      std::string("forward pass ") + (IsBelow ? "below this call " : "") +
      (Name.empty() ? "" : "of '" + Name + "' ") +
      "records a graph, and backward() goes through it for gradients that no "
      "optimizer uses (memory, time); put 'torch::NoGradGuard no_grad;' around "
      "it, or set 'requires_grad_(false)' on its parameters";
  addNote(Result, {Found.Forward->Site->getBeginLoc(), "it is this one",
                   NoteRole::Made});
  addNote(Result, {Found.Backward->Site->getBeginLoc(),
                   "this backward() goes through it", NoteRole::Backward});
  if (Found.Made->Site)
    addNote(Result,
            {Found.Made->Site->getBeginLoc(),
             Found.Made->Is == Event::Load ? "the network is loaded here"
                                           : "the network is made here",
             NoteRole::Declared});
  if (!Found.In->Function->isMain())
    addCallers(Result, Found.In);
  // It is the same guard that is missing.
  Result.Cause = "graph of inference";
  Result.IterationSite = Found.Forward->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> UnusedGradientsCheck::analyze(Program &Program) {
  return findingsOf(Program, unusedGradients, describe);
}

} // namespace torchtidy::checks
