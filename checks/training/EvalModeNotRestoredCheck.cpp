// Finds evaluations in a training loop that leave the network in eval mode, so
// that it is trained with its dropout and its statistics switched off.
#include "training/EvalModeNotRestoredCheck.h"
#include "ast/Expressions.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "training/EvalModeNotRestored.h"

namespace torchtidy::checks {

using namespace model;

/// The call that says which mode it is, where a function of the user's is given
/// it as a flag: setMode(net, false). The site itself where none does.
static const clang::Expr *whereDecided(const ModeChangeEvent &Eval) {
  const auto *Site = llvm::cast<clang::Expr>(Eval.Site);
  const auto *Call = llvm::dyn_cast<clang::CallExpr>(Site);
  const clang::Expr *Flag =
      Call && Call->getNumArgs() == 1 ? Call->getArg(0) : nullptr;
  for (const Frame *F = Eval.In; F && Flag; F = F->Caller) {
    const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(ast::strip(Flag));
    const auto *Parameter =
        Ref ? llvm::dyn_cast<clang::ParmVarDecl>(Ref->getDecl()) : nullptr;
    const Supergraph::Passed Given =
        Parameter ? Supergraph::passed(F, Parameter) : Supergraph::Passed();
    const auto *Caller = llvm::dyn_cast_or_null<clang::CallExpr>(F->Site);
    if (Given.To != F || !Given.Argument || !Caller ||
        llvm::isa<clang::CXXDefaultArgExpr>(Given.Argument))
      break;
    Site = Caller;
    Flag = Given.Argument;
  }
  return Site;
}

static Finding describe(const Program &Program,
                        const EvalModeNotRestored &Found) {
  const clang::ASTContext &Context = Program.context();
  const clang::Expr *Eval = Found.Eval->Site;
  const std::string Name = objectName(Context, Eval);
  const clang::Expr *Decided = whereDecided(*Found.Eval);
  const std::string Restore =
      Decided == Eval ? "call '" + memberPrefix(Context, Eval) + "train()'"
                      : "set it to train mode";
  Finding Result;
  Result.Location = Decided->getBeginLoc();
  Result.Range = Decided->getSourceRange();
  Result.Message =
      (Name.empty() ? "the module" : "'" + Name + "'") +
      " is still in eval mode when the loop trains it again: its " +
      Found.Part + " works as in evaluation from then on; " + Restore +
      " before the next training pass";
  addNote(Result, {Found.Trains->Site->getBeginLoc(),
                   "this forward pass trains it", NoteRole::Trained});
  addNote(Result, {Found.Evaluates->Site->getBeginLoc(),
                   "eval mode is meant for this one", NoteRole::Sign});
  addLoop(Result, *Found.Entry, Found.Eval->In, Found.Around);
  if (Found.RestoreIn && Decided == Eval)
    Result.Fixes = insertFirst(Context, Found.RestoreIn,
                               memberPrefix(Context, Eval) + "train();");
  Result.IterationSite = Found.Trains->Site->getBeginLoc();
  return Result;
}

std::vector<Finding> EvalModeNotRestoredCheck::analyze(Program &Program) {
  return findingsOf(Program, evalModesNotRestored, describe);
}

} // namespace torchtidy::checks
