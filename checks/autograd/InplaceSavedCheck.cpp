// Finds tensors that autograd has saved for backward() and that are changed in
// place before it.
#include "autograd/InplaceSavedCheck.h"
#include "autograd/InplaceSaved.h"
#include "report/Report.h"

namespace torchtidy::checks {

using namespace clang;
using namespace model;

/// y of y.view(-1).add_(1) and of y[0] = 1.
static std::string nameOf(const ASTContext &Context, const Expr *Target) {
  for (unsigned Hop = 0; Target && Hop < 4; ++Hop) {
    if (std::string Name = plainName(Context, Target); !Name.empty())
      return Name;
    const auto *Call =
        dyn_cast<CallExpr>(Target->IgnoreUnlessSpelledInSource());
    Target = Call ? writtenAt(Call) : nullptr;
  }
  return "";
}

static std::string savingText(const Program &Program, const Save &Saved) {
  if (isa<CXXOperatorCallExpr>(Saved.Site))
    return "this operation";
  const std::string Callee = calleeText(Program, Saved.Site);
  return Callee.empty() ? "this operation" : "'" + Callee + "'";
}

static Finding describe(const Program &Program, const SavedWrite &Found) {
  const ASTContext &Context = Program.context();
  const Expr *Site = Found.Change->Site;
  const Save &Saved = *Found.Saved;
  const bool IsResult = Saved.What == torch::Saved::Result;
  Finding Result;
  Result.Location = Site->getBeginLoc();
  Result.Range = Site->getSourceRange();
  Result.Kind = IsResult ? FindingKind::SavedResultIsWritten
                         : FindingKind::SavedOperandIsWritten;
  const std::string Name = nameOf(Context, Found.Target);
  Result.Message =
      (Name.empty() ? "a tensor" : "'" + Name + "'") +
      " is changed in place, but the backward() that needs it as it was throws "
      // In LibTorch's words: what is looked up is what was read.
      "\"one of the variables needed for gradient computation has been "
      "modified by an inplace operation\"; use the operation that returns a "
      "new tensor, or change a clone()";
  Result.Notes.push_back(
      {Saved.Site->getExprLoc(),
       savingText(Program, Saved) + (IsResult ? " has saved its result here"
                                              : " has saved its operand here"),
       NoteRole::GraphBuilt});
  addNote(Result, {Found.Use->Site->getExprLoc(),
                   "needed, with what it was, by this " +
                       std::string(Found.Use->Is == Event::Grad ? "grad()"
                                                                : "backward()"),
                   NoteRole::Backward});
  addCallers(Result, Found.Change->In);
  Result.IterationSite = Site->getBeginLoc();
  return Result;
}

std::vector<Finding> InplaceSavedCheck::analyze(Program &Program) {
  return findingsOf(Program, savedWrites, describe);
}

} // namespace torchtidy::checks
