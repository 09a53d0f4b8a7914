#include "transfer/DeviceComparison.h"
#include "ast/Expressions.h"
#include "torch/Api.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// x.to(device), or that a variable gets it.
static bool isTransfer(const Stmt *S) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  if (!E)
    return false;
  E = ast::stripCopies(E);
  if (const auto *Assign = dyn_cast<CXXOperatorCallExpr>(E);
      Assign && Assign->getOperator() == OO_Equal)
    return isTransfer(Assign->getArg(1));
  const auto *Call = dyn_cast<CallExpr>(E);
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  return Op && torch::isTransfer(*Op);
}

static bool returnsTransfer(const Stmt *S) {
  const auto *Return = dyn_cast_or_null<ReturnStmt>(S);
  return Return && isTransfer(Return->getRetValue());
}

static const Stmt *onlyStatement(const Stmt *S) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(S);
  return Block && Block->size() == 1 ? Block->body_front() : S;
}

/// A variable or a member, as it is.
static bool isPlain(const Expr *E) {
  return isa<DeclRefExpr, MemberExpr>(ast::stripCopies(E));
}

/// The statement behind S in its block, or null.
static const Stmt *next(const flow::ControlFlow &Flow, const Stmt *S) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Flow.parent(S));
  if (!Block)
    return nullptr;
  const auto *At = llvm::find(Block->body(), S);
  return At == Block->body_end() || At + 1 == Block->body_end() ? nullptr
                                                                : *(At + 1);
}

/// All that is decided is whether to() is called: to() sees that nothing is to
/// be done.
static bool decidesTransferOnly(const flow::ControlFlow &Flow,
                                const Expr *Compare) {
  const Stmt *S = Compare, *Around = Flow.parent(S);
  while (
      isa_and_nonnull<ParenExpr, ImplicitCastExpr, ExprWithCleanups>(Around)) {
    S = Around;
    Around = Flow.parent(S);
  }
  if (const auto *Choice = dyn_cast_or_null<ConditionalOperator>(Around);
      Choice && Choice->getCond() == S)
    return (isTransfer(Choice->getTrueExpr()) &&
            isPlain(Choice->getFalseExpr())) ||
           (isTransfer(Choice->getFalseExpr()) &&
            isPlain(Choice->getTrueExpr()));
  const auto *If = dyn_cast_or_null<IfStmt>(Around);
  if (!If || If->getCond() != S)
    return false;
  const Stmt *Then = onlyStatement(If->getThen()),
             *Else = onlyStatement(If->getElse());
  if (const auto *Return = dyn_cast<ReturnStmt>(Then); Return && !Else)
    return Return->getRetValue() && ((isPlain(Return->getRetValue()) &&
                                      returnsTransfer(next(Flow, If))) ||
                                     isTransfer(Return->getRetValue()));
  return isTransfer(Then) && !Else;
}

static bool isOfTensor(const Value &V) {
  return V.Index.get() == DeviceIndex::OfTensor &&
         V.OnDevice.get() != Device::CPU;
}

static bool hasNoIndex(const Value &V) {
  return V.Index.get() == DeviceIndex::None;
}

std::vector<DeviceComparison> deviceComparisons(Program &Program) {
  std::vector<DeviceComparison> Result;
  for (const auto &Entry : Program.executions())
    for (const CompareEvent &Compare : Entry->events<CompareEvent>()) {
      const auto *Call = dyn_cast<CXXOperatorCallExpr>(Compare.Site);
      const bool IsLeft = isOfTensor(Compare.Left) && hasNoIndex(Compare.Right);
      const bool IsRight =
          isOfTensor(Compare.Right) && hasNoIndex(Compare.Left);
      if (!Call || !(IsLeft || IsRight) ||
          (Compare.In->Flow && decidesTransferOnly(*Compare.In->Flow, Call)))
        continue;
      DeviceComparison Found;
      Found.Entry = Entry.get();
      Found.Compare = &Compare;
      Found.Call = Call;
      Found.TensorIsLeft = IsLeft;
      Found.OfTensor = Call->getArg(IsLeft ? 0 : 1);
      Found.Other = Call->getArg(IsLeft ? 1 : 0);
      Found.MayBeCpu =
          !(IsLeft ? Compare.Right : Compare.Left).OnDevice.get().has_value();
      Result.push_back(Found);
    }
  return Result;
}

} // namespace torchtidy::model
