#include "queries/memory/WrittenCopies.h"
#include "ast/Expressions.h"
#include "model/syntax/Effects.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include <set>

using namespace clang;
using torchtidy::torch::Operation;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

bool isAssignment(const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  return Operator && Operator->getOperator() == OO_Equal;
}

const CallExpr *copyWrittenBy(const CallExpr *Call) {
  const Operation *Op = torch::classify(Call).Op;
  const bool Writes = Op && Op->Writes == op::Self &&
                      !torch::changesNoData(*Op) &&
                      !torch::changesHistoryOnly(*Op);
  const Expr *Target = ast::objectOf(Call);
  if (!Writes && !isAssignment(Call))
    return nullptr;
  Target = Target ? ast::strip(Target) : nullptr;
  const auto *Copy = dyn_cast_or_null<CallExpr>(Target);
  const Operation *Made = Copy ? torch::classify(Copy).Op : nullptr;
  return Made && torch::isTensor(Copy->getType()) && !Copy->isGLValue() &&
                 Effects::isPure(Copy, Made)
             ? Copy
             : nullptr;
}

WrittenCopies writtenCopies(Program &User) {
  WrittenCopies Lost;
  std::set<const Stmt *> Others;
  for (const auto &Entry : User.executions())
    for (const WriteEvent &Write : Entry->events<WriteEvent>()) {
      const auto *Call = dyn_cast_or_null<CallExpr>(Write.Site);
      if (!Call || !copyWrittenBy(Call))
        continue;
      const Value &Before = Write.Before;
      if (Before.InStorage.get() == Storage::Owns && Before.Memory.empty() &&
          Write.Places.empty())
        Lost[Call] |= Before.mayHaveGraph();
      else
        Others.insert(Call);
    }
  for (const Stmt *Site : Others)
    Lost.erase(Site);
  return Lost;
}

} // namespace torchtidy::model
