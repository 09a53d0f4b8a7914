// Finds tensors that a loop transfers to a device, or converts, again and
// again.
#include "transfer/RepeatedTransferCheck.h"
#include "ast/Expressions.h"
#include "ast/Locations.h"
#include "report/Edit.h"
#include "report/Report.h"
#include "transfer/RepeatedTransfer.h"

namespace torchtidy::checks {

using namespace model;

/// ".to(device)", as it is written.
static std::string callText(const Program &Program, const clang::Expr *Call) {
  const auto *Member = llvm::dyn_cast<clang::CXXMemberCallExpr>(Call);
  std::string Result = "." + calleeText(Program, Call) + "(";
  if (Member)
    for (const clang::Expr *Argument : Member->arguments())
      if (!llvm::isa<clang::CXXDefaultArgExpr>(Argument))
        Result += (Result.back() == '(' ? "" : ", ") + Program.text(Argument);
  return Result + ")";
}

static Finding describe(const Program &Program, const RepeatedTransfer &Found) {
  const clang::ASTContext &Context = Program.context();
  const auto *Call = llvm::cast<clang::CallExpr>(Found.Transfer->Site);
  Finding Result;
  Result.Location = ast::beginLoc(Call);
  Result.Range = Call->getSourceRange();
  const std::string Name = plainName(Context, ast::objectOf(Call));
  const std::string Subject = Name.empty() ? "this tensor" : "'" + Name + "'";
  const std::string Text = "'" + callText(Program, Call) + "'";
  switch (Found.How) {
  case RepeatedTransfer::Copies:
    Result.Kind = FindingKind::TransferMoves;
    Result.Message = Subject + " does not change in this loop, but " + Text +
                     " copies it in every iteration; transfer it once before "
                     "the loop";
    break;
  case RepeatedTransfer::Converts:
    Result.Kind = FindingKind::TransferConverts;
    Result.Message = Subject + " does not change in this loop, but " + Text +
                     " converts it in every iteration; convert it once before "
                     "the loop";
    break;
  case RepeatedTransfer::Samples:
    Result.Kind = FindingKind::TransferSamples;
    Result.Message = "each sample is copied by itself by " + Text +
                     "; put the batch together first and transfer it once";
    break;
  }
  addLoop(Result, *Found.Entry, Found.Transfer->In, Found.Around);
  if (Found.CanMove)
    Result.Fixes =
        moveBeforeLoop(Context, *Found.Transfer->In->Flow, Found.Variable,
                       Found.Entry->loopStatement(*Found.Around), "");
  Result.IterationSite = ast::beginLoc(Call);
  return Result;
}

std::vector<Finding> RepeatedTransferCheck::analyze(Program &Program) {
  return findingsOf(Program, repeatedTransfers, describe, Strict);
}

} // namespace torchtidy::checks
