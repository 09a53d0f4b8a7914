// Finds evaluations in a training loop that leave the network in eval mode, so
// that it is trained with its dropout and its statistics switched off.
#include "training/EvalModeNotRestoredCheck.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "training/EvalModeNotRestored.h"

namespace torchtidy::checks {

using namespace model;

static Finding describe(const Program &Program,
                        const EvalModeNotRestored &Found) {
  const clang::ASTContext &Context = Program.context();
  const clang::Expr *Eval = Found.Eval->Site;
  const std::string Name = objectName(Context, Eval);
  const std::string Call = memberPrefix(Context, Eval) + "train()";
  Finding Result;
  Result.Location = Eval->getBeginLoc();
  Result.Range = Eval->getSourceRange();
  Result.Message =
      (Name.empty() ? "the module" : "'" + Name + "'") +
      " is still in eval mode when the loop trains it again: its " +
      Found.Part + " works as in evaluation from then on; call '" + Call +
      "' before the next training pass";
  addNote(Result, {Found.Trains->Site->getBeginLoc(),
                   "this forward pass trains it", NoteRole::Trained});
  addNote(Result, {Found.Evaluates->Site->getBeginLoc(),
                   "eval mode is meant for this one", NoteRole::Sign});
  addLoop(Result, *Found.Entry, Found.Eval->In, Found.Around);
  if (Found.RestoreIn)
    Result.Fixes = insertFirst(Context, Found.RestoreIn, Call + ";");
  Result.IterationSite = Found.Trains->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> EvalModeNotRestoredCheck::analyze(Program &Program) {
  return findingsOf(Program, evalModesNotRestored, describe);
}

} // namespace torchtidy::checks
