#include "lifetime/DanglingData.h"
#include "ast/Expressions.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"

using namespace clang;

namespace torchtidy::model {

/// What returns the tensor itself where there is nothing to do (contiguous()),
/// of a variable that code with errors names: that may have made it so.
static bool mayBeItself(const OutlivedLoan &Found) {
  const flow::ControlFlow *Flow = Found.Taken->In->Flow;
  const auto *Call = Found.End && Found.End->How == EndKind::FullExpression
                         ? dyn_cast_or_null<CallExpr>(
                               ast::strip(cast_or_null<Expr>(Found.End->Site)))
                         : nullptr;
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  if (!Flow || !Op || !(torch::makesContiguous(*Op) || torch::isTransfer(*Op)))
    return false;
  const Expr *Object = ast::objectOf(Call);
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(ast::strip(Object));
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && isNamedInErrors(*Flow, V);
}

std::vector<OutlivedLoan> outlivedViews(Program &Program) {
  std::vector<OutlivedLoan> Result =
      outlivedLoans(Program, [](const Loan &Taken) { return !isBlob(Taken); });
  llvm::erase_if(Result, mayBeItself);
  return Result;
}

} // namespace torchtidy::model
