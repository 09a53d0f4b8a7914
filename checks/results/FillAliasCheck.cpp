// Finds containers whose elements are all handles to one tensor or one module,
// although each is used as if it were its own.
#include "results/FillAliasCheck.h"
#include "report/Report.h"
#include "results/FillAlias.h"
#include "clang/AST/ExprCXX.h"

namespace torchtidy::checks {

using namespace model;

/// The container as its class or function knows it.
static std::string containerName(const SharedFill &Found) {
  const PlaceTable &Places = Found.Entry->places();
  for (PlaceId P : Found.Fill->Containers) {
    while (!Places.isRoot(P) && Places.step(P).Of != Step::Field)
      P = Places.parent(P);
    const std::string Name = Places.isRoot(P)
                                 ? Places.name(P)
                                 : Places.step(P).Member->getNameAsString();
    if (!Name.empty())
      return "'" + Name + "'";
  }
  return "the container";
}

/// How each element gets one of its own: by what makes the shared one, where
/// that is written in the call and short enough to read.
static std::string advice(const Program &Program, const SharedFill &Found) {
  const clang::Expr *Made = Found.Fill->Operand;
  const std::string Text =
      llvm::isa<clang::CallExpr, clang::CXXTemporaryObjectExpr,
                clang::CXXFunctionalCastExpr>(Made->IgnoreImplicit())
          ? Program.text(Made)
          : "";
  std::string Each = "make one for each element in a loop";
  if (Found.Around || Text.empty() || Text.size() > 40)
    return Each;
  return Each + ", by '" + Text + "'";
}

static Finding describe(const Program &Program, const SharedFill &Found) {
  Finding Result;
  const clang::Expr *Site = Found.Fill->Site;
  Result.Location = Found.Fill->Operand->getExprLoc();
  Result.Range = Site->getSourceRange();
  Result.Cause = "shared-fill";
  const std::string Name = containerName(Found);
  const bool IsModule = !Found.Write;
  Result.Kind =
      IsModule ? FindingKind::FillSharesModule : FindingKind::FillSharesTensor;
  const std::string One = IsModule ? "module" : "tensor";
  Result.Message = "all elements of " + Name + " are handles to one " + One +
                   (IsModule ? ", so they share its parameters; "
                             : ", so a write into one changes all; ") +
                   advice(Program, Found);
  if (Found.Write)
    Result.Notes.push_back(
        {Found.Write->Site->getBeginLoc(), "written here", NoteRole::Write});
  if (Found.Around)
    addLoop(Result, *Found.Entry, Found.Fill->In, Found.Around);
  return Result;
}

std::vector<Finding> FillAliasCheck::analyze(Program &Program) {
  return findingsOf(Program, sharedFills, describe);
}

} // namespace torchtidy::checks
