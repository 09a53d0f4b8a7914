#include "queries/modes/Deciders.h"
#include "ast/Walk.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Analysis/CFG.h"

using namespace clang;

namespace torchtidy::model {

const Stmt *statementIn(const Frame *F, const Event &E) {
  const Stmt *S = E.Site;
  for (const Frame *In = E.In; In; S = In->Site, In = In->Caller)
    if (In == F)
      return S;
  return nullptr;
}

/// Goes from S outwards, through the calls that lead to it, until a statement
/// is around Beside as well. Stops where Visit says so: with the frame, the
/// statement and the part of it that S is in.
static void goOutwards(
    const Stmt *S, const Frame *F, const Event &Beside,
    llvm::function_ref<bool(const Frame *, const Stmt *, const Stmt *)> Visit) {
  for (; F && F->Flow && S; S = F->Site, F = F->Caller) {
    const Stmt *Other = statementIn(F, Beside);
    for (const Stmt *Part = S, *Around = F->Flow->parent(S); Around;
         Part = Around, Around = F->Flow->parent(Around))
      if ((Other && F->Flow->isInside(Other, Around)) ||
          !Visit(F, Around, Part))
        break;
    if (Other)
      return;
  }
}

/// Part runs wherever Around does: it is what is asked, and not what the answer
/// decides about.
static bool isAsked(const Stmt *Around, const Stmt *Part) {
  if (const auto *If = dyn_cast<IfStmt>(Around))
    return Part == If->getCond() || Part == If->getInit();
  if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(Around))
    return Part == Choice->getCond();
  if (const auto *Switch = dyn_cast<SwitchStmt>(Around))
    return Part == Switch->getCond() || Part == Switch->getInit();
  if (const auto *While = dyn_cast<WhileStmt>(Around))
    return Part == While->getCond();
  if (const auto *For = dyn_cast<ForStmt>(Around))
    return Part == For->getInit() || Part == For->getCond();
  const auto *Logical = dyn_cast<BinaryOperator>(Around);
  return Logical && Logical->isLogicalOp() && Part == Logical->getLHS();
}

/// The condition that decides whether a part of Around is run; null where none
/// does, Around itself where it is one of another kind.
static const Stmt *conditionOf(const Stmt *Around, const Stmt *Part) {
  if (isAsked(Around, Part))
    return nullptr;
  if (const auto *If = dyn_cast<IfStmt>(Around))
    return If->getCond();
  if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(Around))
    return Choice->getCond();
  if (const auto *Logical = dyn_cast<BinaryOperator>(Around))
    return Logical->isLogicalOp() && Part == Logical->getRHS()
               ? Logical->getLHS()
               : nullptr;
  return isa<SwitchStmt, CXXTryStmt, CXXCatchStmt>(Around) ? Around : nullptr;
}

/// A comparison of measured numbers, as of a loss with the best so far: it says
/// nothing of what was set before.
static bool comparesMeasures(const Stmt *Condition) {
  const auto *E = dyn_cast_or_null<Expr>(Condition);
  const auto *Compares =
      E ? dyn_cast<BinaryOperator>(E->IgnoreParens()) : nullptr;
  return Compares && Compares->isRelationalOp() &&
         Compares->getLHS()->getType()->isFloatingType();
}

llvm::DenseSet<flow::Digraph::Node>
decidersOf(const Execution &Entry, const Event &Of, const Event &Beside) {
  llvm::DenseSet<std::pair<const Frame *, const Stmt *>> Deciders;
  goOutwards(Of.Site, Of.In, Beside,
             [&](const Frame *F, const Stmt *Around, const Stmt *Part) {
               const Stmt *Condition = conditionOf(Around, Part);
               if (isAsked(Around, Part) || comparesMeasures(Condition))
                 return true;
               Deciders.insert({F, Around});
               // Each side of a && turns the control flow by itself.
               ast::forEachStmt(
                   dyn_cast_or_null<Expr>(Condition),
                   [&](const Stmt *S) {
                     const auto *Logical = dyn_cast<BinaryOperator>(S);
                     if (Logical && Logical->isLogicalOp())
                       Deciders.insert({F, Logical});
                   },
                   ast::Lambdas::Skip);
               return true;
             });
  llvm::DenseSet<flow::Digraph::Node> Result;
  for (flow::Digraph::Node N = 0; N < Entry.points().size(); ++N) {
    const Segment &In = Entry.segment(N);
    if (In.Of == Segment::Elements && In.Block && Entry.point(N).IsEnd &&
        In.End == In.Block->size() &&
        Deciders.count({In.In, In.Block->getTerminatorStmt()}))
      Result.insert(N);
  }
  return Result;
}

bool isUnderOwnCondition(const Stmt *S, const Frame *F, const Event &Beside,
                         llvm::function_ref<bool(const Expr *)> Passes) {
  bool Result = false;
  goOutwards(S, F, Beside,
             [&](const Frame *, const Stmt *Around, const Stmt *Part) {
               const Stmt *Decides = conditionOf(Around, Part);
               const auto *Condition = dyn_cast_or_null<Expr>(Decides);
               Result |= Decides && !(Condition && Passes(Condition));
               return !Result;
             });
  return Result;
}

} // namespace torchtidy::model
