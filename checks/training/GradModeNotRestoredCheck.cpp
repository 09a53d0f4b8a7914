// Finds places that switch grad mode off and do not switch it on again before
// the next training pass, whose backward() finds no graph and throws.
#include "training/GradModeNotRestoredCheck.h"
#include "report/Report.h"
#include "training/GradModeNotRestored.h"

namespace torchtidy::checks {

using namespace model;

static std::string messageOf(const GradModeNotRestored &Found) {
  const std::string Effect =
      " when the next training pass runs, so autograd records nothing of "
      "that, and its backward() throws; ";
  const std::string Instead = "use a 'torch::NoGradGuard' in the scope that "
                              "needs no gradient";
  if (Found.Guard)
    return "the guard '" + Found.Guard->getNameAsString() +
           "' outlives the scope it is made in, and grad mode is still off" +
           Effect + Instead + " as a local variable";
  const std::string Where =
      Found.Restores ? "grad mode is switched off here and not on again on "
                       "every path: it is still off"
                     : "grad mode is switched off here, and is still off";
  return Where + Effect + Instead;
}

static Finding describe(const Program & /*Program*/,
                        const GradModeNotRestored &Found) {
  Finding Result;
  Result.Location = Found.Off->Site->getBeginLoc();
  Result.Range = Found.Off->Site->getSourceRange();
  Result.Kind = Found.Guard ? FindingKind::GradModeGuardLasts
                            : FindingKind::GradModeNotRestored;
  Result.Message = messageOf(Found);
  if (Found.Restores)
    addNote(Result, {Found.Restores->Site->getBeginLoc(),
                     "other paths switch it on here", NoteRole::Sign});
  if (Found.Pass)
    addNote(Result,
            {Found.Pass->getBeginLoc(), "this is computed without a graph then",
             NoteRole::Trained});
  addNote(Result, {Found.Use->Site->getBeginLoc(), "this needs the graph",
                   NoteRole::Backward});
  addCallers(Result, Found.Off->In);
  Result.IterationSite = Found.Use->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> GradModeNotRestoredCheck::analyze(Program &Program) {
  return findingsOf(Program, gradModesNotRestored, describe);
}

} // namespace torchtidy::checks
