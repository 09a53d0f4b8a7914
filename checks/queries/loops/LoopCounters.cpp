#include "queries/loops/LoopCounters.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// The variable that S counts: ++i, --it, i += 2; null for others.
static const VarDecl *countedIn(const Stmt *S) {
  const Expr *Target = nullptr;
  if (const auto *Unary = dyn_cast<UnaryOperator>(S))
    Target = Unary->isIncrementDecrementOp() ? Unary->getSubExpr() : nullptr;
  else if (const auto *Binary = dyn_cast<CompoundAssignOperator>(S))
    Target = Binary->isCompoundAssignmentOp() ? Binary->getLHS() : nullptr;
  else if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S))
    Target = llvm::is_contained({OO_PlusPlus, OO_MinusMinus, OO_PlusEqual},
                                Operator->getOperator())
                 ? Operator->getArg(0)
                 : nullptr;
  const auto *Ref =
      Target ? dyn_cast<DeclRefExpr>(ast::strip(Target)) : nullptr;
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

static const Stmt *bodyOf(const Stmt *Loop) {
  if (const auto *For = dyn_cast<ForStmt>(Loop))
    return For->getBody();
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Loop))
    return Range->getBody();
  return Loop;
}

const LoopCounters::Variables &LoopCounters::countedBy(const flow::Loop &L) {
  const auto Inserted = Counted.try_emplace(&L);
  Variables &Result = Inserted.first->second;
  const Stmt *Statement = Entry.loopStatement(L);
  if (!Inserted.second || !Statement || isa<Expr>(Statement))
    return Result;
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Statement))
    Result.insert(Range->getLoopVariable());
  // What a loop inside declares begins anew each time.
  const SourceRange Body = bodyOf(Statement)->getSourceRange();
  ast::forEachStmt(
      Statement,
      [&](const Stmt *S) {
        const VarDecl *V = countedIn(S);
        if (V && !Body.fullyContains(V->getSourceRange()))
          Result.insert(V);
      },
      ast::Lambdas::Enter);
  return Result;
}

bool LoopCounters::isFollower(const ValueDecl *D, const Frame *F,
                              const flow::Loop &L, unsigned Depth) {
  if (const auto *Binding = dyn_cast<BindingDecl>(D))
    D = Binding->getDecomposedDecl();
  const auto *V = dyn_cast_or_null<VarDecl>(D);
  if (!V || V->hasGlobalStorage())
    return false;
  if (countedBy(L).count(V))
    return true;
  const Frame *Owner = Supergraph::owner(F, V);
  if (!Owner)
    return false;
  const Stmt *Statement = Entry.loopStatement(L);
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
    // std::for_each
    if (Owner->Range && Owner->Site == Statement)
      return true;
    const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
    return Given.Argument && Given.To->Caller &&
           follows(Given.Argument, Given.To->Caller, L, Depth + 1);
  }
  const bool IsInside = Entry.beginsIn(Owner, L) ||
                        (Statement && Statement->getSourceRange().fullyContains(
                                          V->getSourceRange()));
  return IsInside && V->getInit() && follows(V->getInit(), Owner, L, Depth + 1);
}

bool LoopCounters::follows(const Expr *E, const Frame *F, const flow::Loop &L,
                           unsigned Depth) {
  // Bounds the way through variables and callers.
  if (!E || Depth > 6)
    return false;
  return ast::anyStmt(
      E,
      [&](const Stmt *S) {
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        return Ref && isFollower(Ref->getDecl(), F, L, Depth);
      },
      ast::Lambdas::Skip);
}

} // namespace torchtidy::model
