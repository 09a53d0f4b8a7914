#include "ast/Walk.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/SmallVector.h"

using namespace clang;

namespace torchtidy::ast {

static Stmt::const_child_range childrenOf(const Stmt *S, Lambdas Into) {
  Stmt::const_child_range All = S->children();
  const auto *Lambda = dyn_cast<LambdaExpr>(S);
  if (!Lambda || Into == Lambdas::Enter)
    return All;
  // The captures come first, then the body.
  auto End = All.begin();
  if (Into == Lambdas::Captures)
    std::advance(End, Lambda->capture_size());
  return {All.begin(), End};
}

void walk(
    const Stmt *Root,
    llvm::function_ref<Next(const Stmt *, llvm::ArrayRef<const Stmt *>)> Visit,
    Lambdas Into) {
  // The statements that have been entered, and the children of each that are
  // still to be visited.
  llvm::SmallVector<const Stmt *, 32> Around;
  llvm::SmallVector<Stmt::const_child_range, 32> Left;
  /// False where the walk is over.
  auto Meet = [&](const Stmt *S) {
    const Next Then = S ? Visit(S, Around) : Next::Past;
    if (Then == Next::Children) {
      Around.push_back(S);
      Left.push_back(childrenOf(S, Into));
    }
    return Then != Next::Stop;
  };
  bool GoesOn = Meet(Root);
  while (GoesOn && !Left.empty()) {
    Stmt::const_child_range &Here = Left.back();
    if (Here.begin() == Here.end()) {
      Left.pop_back();
      Around.pop_back();
      continue;
    }
    const Stmt *Child = *Here.begin();
    Here = {std::next(Here.begin()), Here.end()};
    GoesOn = Meet(Child);
  }
}

bool anyStmt(const Stmt *Root, llvm::function_ref<bool(const Stmt *)> Is,
             Lambdas Into) {
  bool Result = false;
  walk(
      Root,
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
        Result = Is(S);
        return Result ? Next::Stop : Next::Children;
      },
      Into);
  return Result;
}

void forEachStmt(const Stmt *Root, llvm::function_ref<void(const Stmt *)> Visit,
                 Lambdas Into) {
  walk(
      Root,
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
        Visit(S);
        return Next::Children;
      },
      Into);
}

} // namespace torchtidy::ast
