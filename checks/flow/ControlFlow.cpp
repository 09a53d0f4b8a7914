#include "flow/ControlFlow.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::flow {

std::unique_ptr<ControlFlow> ControlFlow::build(const FunctionDecl *Function,
                                                ASTContext &Context) {
  Stmt *Body = Function->getBody();
  if (!Body)
    return nullptr;
  CFG::BuildOptions Options;
  // Every expression is an element of its own, after its operands.
  Options.setAllAlwaysAdd();
  Options.AddImplicitDtors = true; // the end of a guard's scope
  Options.AddLifetime = true; // of what has no destructor
  Options.AddInitializers = true;
  Options.AddCXXDefaultInitExprInCtors = true;
  Options.PruneTriviallyFalseEdges = true;
  auto Result = std::make_unique<ControlFlow>();
  Result->Function = Function;
  Result->Graph = CFG::buildCFG(Function, Body, &Context, Options);
  if (!Result->Graph || Result->Graph->size() > MaxBlocks)
    return nullptr;
  Result->Parents = std::make_unique<ParentMap>(Body);
  return Result;
}

const Stmt *ControlFlow::parent(const Stmt *S) const {
  return Parents->getParent(S);
}

bool ControlFlow::isInside(const Stmt *S, const Stmt *Outer) const {
  for (; S; S = parent(S))
    if (S == Outer)
      return true;
  return false;
}

static bool holdsStatements(const Stmt *Parent, const Stmt *Child) {
  if (isa<CompoundStmt, SwitchCase, LabelStmt, CXXTryStmt>(Parent))
    return true;
  if (const auto *If = dyn_cast<IfStmt>(Parent))
    return Child == If->getThen() || Child == If->getElse();
  if (const auto *For = dyn_cast<ForStmt>(Parent))
    return Child == For->getBody();
  if (const auto *For = dyn_cast<CXXForRangeStmt>(Parent))
    return Child == For->getBody();
  if (const auto *While = dyn_cast<WhileStmt>(Parent))
    return Child == While->getBody();
  if (const auto *Do = dyn_cast<DoStmt>(Parent))
    return Child == Do->getBody();
  return false;
}

const Stmt *ControlFlow::statement(const Stmt *S) const {
  while (S) {
    const Stmt *Parent = parent(S);
    if (!Parent || holdsStatements(Parent, S))
      return S;
    S = Parent;
  }
  return nullptr;
}

} // namespace torchtidy::flow
