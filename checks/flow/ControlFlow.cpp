#include "flow/ControlFlow.h"
#include "ast/Walk.h"
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
  Options.AddLifetime = true;      // of what has no destructor
  Options.AddInitializers = true;
  Options.AddCXXDefaultInitExprInCtors = true;
  Options.PruneTriviallyFalseEdges = true;
  auto Result = std::make_unique<ControlFlow>();
  Result->Function = Function;
  Result->Graph = CFG::buildCFG(Function, Body, &Context, Options);
  if (!Result->Graph || Result->Graph->size() > MaxBlocks)
    return nullptr;
  Result->Parents = std::make_unique<ParentMap>(Body);
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Function))
    for (const CXXCtorInitializer *Init : Constructor->inits())
      if (const Expr *Whole = writtenInitializer(*Init))
        Result->Parents->addStmt(const_cast<Expr *>(Whole));
  Result->index();
  return Result;
}

const Expr *ControlFlow::writtenInitializer(const CXXCtorInitializer &Init) {
  const Expr *Whole = Init.getInit();
  if (const auto *OfMember = dyn_cast_or_null<CXXDefaultInitExpr>(Whole))
    return OfMember->getExpr();
  return Whole;
}

void ControlFlow::index() {
  for (const CFGBlock *Block : *Graph) {
    for (unsigned I = 0; I < Block->size(); ++I)
      if (const std::optional<CFGStmt> Element = (*Block)[I].getAs<CFGStmt>())
        Positions[Element->getStmt()].push_back({Block, I});
    if (const auto *Loop =
            dyn_cast_or_null<CXXForRangeStmt>(Block->getTerminatorStmt()))
      RangeLoops.try_emplace(Loop->getLoopVariable(), Loop);
  }
  UnseenParts = ast::anyStmt(
      Function->getBody(),
      [](const Stmt *S) {
        const auto *If = dyn_cast<IfStmt>(S);
        return (If && If->isConstexpr()) || isa<CapturedStmt>(S);
      },
      ast::Lambdas::Enter);
}

llvm::ArrayRef<ControlFlow::Position>
ControlFlow::positions(const Stmt *S) const {
  auto It = Positions.find(S);
  if (It == Positions.end())
    return {};
  return It->second;
}

const CXXForRangeStmt *ControlFlow::rangeLoop(const VarDecl *V) const {
  return RangeLoops.lookup(V);
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

bool ControlFlow::isFullExpression(const Stmt *S) const {
  if (isa<DeclStmt, ReturnStmt>(S))
    return true;
  if (!isa<Expr>(S))
    return false;
  const Stmt *Around = around(S);
  return !Around || !isa<Expr, DeclStmt, ReturnStmt>(Around);
}

bool ControlFlow::isInitializer(const Stmt *S) const {
  return isa<Expr>(S) && !around(S);
}

const Stmt *ControlFlow::around(const Stmt *S) const {
  const Stmt *Around = parent(S);
  while (isa_and_nonnull<FullExpr, ParenExpr, MaterializeTemporaryExpr,
                         CXXBindTemporaryExpr>(Around))
    Around = parent(Around);
  return Around;
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
