// Finds outputs of a torch::autograd::Function that its forward() puts into
// saved_data, so that they keep themselves alive.
#include "autograd/SavedDataCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "autograd/SavedData.h"
#include "report/Report.h"
#include "clang/AST/StmtCXX.h"

namespace torchtidy::checks {

using namespace model;

/// "ctx->" of ctx->saved_data["y"].
static std::string context(const Program &Program, const clang::Expr *Element) {
  const auto *Subscript =
      llvm::dyn_cast<clang::CXXOperatorCallExpr>(ast::strip(Element));
  const auto *Member =
      Subscript
          ? llvm::dyn_cast<clang::MemberExpr>(ast::strip(Subscript->getArg(0)))
          : nullptr;
  return Member ? Program.text(Member->getBase()) +
                      (Member->isArrow() ? "->" : ".")
                : "";
}

/// The list of saved variables has it alone.
static std::vector<clang::FixItHint> fix(const Program &Program,
                                         const SavedData &Found) {
  if (Found.Reads.empty() || ast::beginLoc(Found.Save).isMacroID())
    return {};
  const std::string Name = Found.Output->getNameAsString();
  const auto *Assign = llvm::cast<clang::CXXOperatorCallExpr>(Found.Save);
  std::vector<clang::FixItHint> Result = {clang::FixItHint::CreateReplacement(
      Assign->getSourceRange(), context(Program, Assign->getArg(0)) +
                                    "save_for_backward({" + Name + "})")};
  for (const clang::CallExpr *Read : Found.Reads) {
    const clang::Expr *Element = ast::objectOf(Read);
    if (ast::beginLoc(Read).isMacroID())
      return {};
    Result.push_back(clang::FixItHint::CreateReplacement(
        Read->getSourceRange(),
        context(Program, Element) + "get_saved_variables()[0]"));
  }
  return Result;
}

static Finding describe(const Program &Program, const SavedData &Found) {
  Finding Result;
  Result.Location = ast::beginLoc(Found.Save);
  Result.Range = Found.Save->getSourceRange();
  Result.Kind = FindingKind::OutputInSavedData;
  const std::string Name = Found.Output->getNameAsString();
  Result.Message = "the output '" + Name +
                   "' and the 'saved_data' that it is put into keep each "
                   "other alive, so what each call has made is never freed, "
                   "and memory grows; save it by "
                   "'save_for_backward({" +
                   Name + "})', and read it by 'get_saved_variables()'";
  Result.Notes.push_back(
      {Found.Maker->getBeginLoc(), "the output is made here", NoteRole::Made});
  Result.Notes.push_back(
      {Found.Return->getBeginLoc(), "and returned here", NoteRole::Returned});
  Result.Fixes = fix(Program, Found);
  Result.IterationSite = Found.Maker->getBeginLoc();
  return Result;
}

std::vector<Finding> SavedDataCheck::analyze(Program &Program) {
  return findingsOf(Program, findSavedData, describe);
}

} // namespace torchtidy::checks
