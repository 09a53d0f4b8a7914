#include "queries/loops/Slots.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/LoopInvariance.h"
#include "queries/paths/Calls.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;

namespace {

/// v[i], v.at(i), p[i].
struct Element {
  const Expr *Container = nullptr;
  const Expr *Index = nullptr;
};

/// i + 2 of a variable i.
struct Position {
  const VarDecl *Counter = nullptr;
  int64_t Offset = 0;
};

} // namespace

static std::optional<Element> asElement(const Expr *E) {
  E = ast::strip(E);
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E))
    return Element{Subscript->getBase(), Subscript->getIdx()};
  const auto *Call = dyn_cast<CallExpr>(E);
  const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
  if (!Object || !Call->isGLValue() || ast::argumentsOf(Call).size() != 1 ||
      torch::isTensor(Object->getType()))
    return std::nullopt;
  return Element{Object, ast::argumentsOf(Call).front()};
}

/// What an assignment writes to; null for others.
static const Expr *assignedTo(const Expr *Site) {
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Site))
    return Operator->getOperator() == OO_Equal ? Operator->getArg(0) : nullptr;
  const auto *Binary = dyn_cast<BinaryOperator>(Site);
  return Binary && Binary->getOpcode() == BO_Assign ? Binary->getLHS()
                                                    : nullptr;
}

bool overwritesSlots(const Execution &Entry, const StoreEvent &Store,
                     const Loop &L) {
  const Expr *To = assignedTo(Store.Site);
  Invariance Same(Entry);
  bool IsCounted = false;
  // v[layer][i]
  std::optional<Element> Each = To ? asElement(To) : std::nullopt;
  for (; Each; Each = asElement(Each->Container)) {
    if (!Same.isSameElementAgain(Each->Index, Store.In, L))
      return false;
    IsCounted |= !Same.isInvariant(Each->Index, Store.In, L);
  }
  return IsCounted;
}

static std::optional<Position> asPosition(const Expr *Index,
                                          const ASTContext &Context) {
  const Expr *E = ast::strip(Index);
  Position Result;
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (!Binary->isAdditiveOp())
      return std::nullopt;
    Expr::EvalResult Number;
    const Expr *Left = Binary->getLHS(), *Right = Binary->getRHS();
    if (Binary->getOpcode() == BO_Add && !Right->EvaluateAsInt(Number, Context))
      std::swap(Left, Right);
    if (!Right->EvaluateAsInt(Number, Context))
      return std::nullopt;
    Result.Offset = Number.Val.getInt().getExtValue();
    if (Binary->getOpcode() == BO_Sub)
      Result.Offset = -Result.Offset;
    E = ast::strip(Left);
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  Result.Counter = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return Result.Counter ? std::optional(Result) : std::nullopt;
}

/// for (..; ..; ++i), which declares i.
static const ForStmt *asCountedUp(const Stmt *S, const VarDecl *Counter) {
  const auto *For = dyn_cast_or_null<ForStmt>(S);
  const auto *Init = For ? dyn_cast_or_null<DeclStmt>(For->getInit()) : nullptr;
  const auto *Inc =
      For ? dyn_cast_or_null<UnaryOperator>(For->getInc()) : nullptr;
  return Init && llvm::is_contained(Init->decls(), Counter) && Inc &&
                 Inc->isIncrementOp() && named(Inc->getSubExpr()) == Counter
             ? For
             : nullptr;
}

static bool isNameOf(const Stmt *S, const ValueDecl *Container) {
  const auto *E = dyn_cast_or_null<Expr>(S);
  return isa_and_nonnull<DeclRefExpr, MemberExpr>(E) && named(E) == Container;
}

/// In S nothing is read of the container but its size, and elements at the
/// counter of At whose offset is none that IsOther.
static bool readsOnly(const Stmt *S, const ValueDecl *Container,
                      const Position &At, const ASTContext &Context,
                      llvm::function_ref<bool(int64_t)> IsOther) {
  unsigned Mentions = 0, Known = 0;
  ast::forEachStmt(
      S,
      [&](const Stmt *Part) {
        const auto *E = dyn_cast<Expr>(Part);
        // Not what casts it once more.
        if (!E || ast::strip(E) != E)
          return;
        Mentions += isNameOf(E, Container);
        const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
        if (Call && Call->getNumArgs() == 0 &&
            Call->getType()->isIntegerType() &&
            named(Call->getImplicitObjectArgument()) == Container)
          ++Known;
        const std::optional<Element> Each = asElement(E);
        if (!Each || named(Each->Container) != Container)
          return;
        const auto Index = asPosition(Each->Index, Context);
        Known +=
            Index && Index->Counter == At.Counter && !IsOther(Index->Offset);
      },
      ast::Lambdas::Enter);
  return Mentions == Known;
}

static bool readsOnlyUpTo(const Stmt *S, const ValueDecl *Container,
                          const Position &At, const ASTContext &Context) {
  return readsOnly(S, Container, At, Context,
                   [&](int64_t Offset) { return Offset > At.Offset; });
}

/// A function that an iteration of L calls mentions the container.
static bool isNamedInCallees(const Execution &Entry, const Loop &L,
                             const Frame *But, const ValueDecl *Container) {
  return llvm::any_of(Entry.graph().frames(), [&](const auto &Called) {
    return Called.get() != But && Called->Function->getBody() &&
           Entry.beginsIn(Called.get(), L) &&
           ast::anyStmt(
               Called->Function->getBody(),
               [&](const Stmt *S) { return isNameOf(S, Container); },
               ast::Lambdas::Enter);
  });
}

/// Of a variable that refers to an element, that element.
static const Expr *elementBehind(const Expr *To) {
  const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(To));
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->getType()->isReferenceType() && V->getInit() ? V->getInit()
                                                              : To;
}

bool writesOwnElement(const Execution &Entry, const StoreEvent &Store,
                      const Loop &L) {
  const Expr *To = assignedTo(Store.Site);
  const Stmt *Statement = Entry.loopStatement(L);
  if (!To || !Statement)
    return false;
  const ASTContext &Context = Entry.code().context();
  if (const auto *Range = dyn_cast<CXXForRangeStmt>(Statement)) {
    const ValueDecl *Container = named(Range->getRangeInit());
    return Container && named(To) == Range->getLoopVariable() &&
           Range->getLoopVariable()->getType()->isReferenceType() &&
           readsOnly(Range->getBody(), Container, {}, Context,
                     [](int64_t) { return true; }) &&
           !isNamedInCallees(Entry, L, Store.In, Container);
  }
  const std::optional<Element> Each = asElement(elementBehind(To));
  const auto At = Each ? asPosition(Each->Index, Context) : std::nullopt;
  const ValueDecl *Container = Each ? named(Each->Container) : nullptr;
  const ForStmt *For = At ? asCountedUp(Statement, At->Counter) : nullptr;
  return Container && For &&
         readsOnly(For->getBody(), Container, *At, Context,
                   [&](int64_t Offset) { return Offset != At->Offset; }) &&
         !isNamedInCallees(Entry, L, Store.In, Container);
}

bool fillsSlotsInOrder(const Execution &Entry, const StoreEvent &Store,
                       const Loop &L) {
  if (!overwritesSlots(Entry, Store, L))
    return false;
  const ASTContext &Context = Entry.code().context();
  const std::optional<Element> To = asElement(assignedTo(Store.Site));
  const std::optional<Position> At = asPosition(To->Index, Context);
  const ValueDecl *Container = named(To->Container);
  if (!At || !Container)
    return false;
  const Loop *Inner = nullptr;
  const ForStmt *For = nullptr;
  for (const Loop *Each : Entry.loopsAround(Store.Point))
    if (const auto *Found =
            asCountedUp(Entry.loopStatement(*Each), At->Counter)) {
      Inner = Each;
      For = Found;
    }
  // The element that is written is not one that is read: v[i] = f(v[i]).
  const Position Before = {At->Counter, At->Offset - 1};
  if (!For || !Store.Operand ||
      !readsOnlyUpTo(Store.Operand, Container, Before, Context) ||
      !readsOnlyUpTo(For->getBody(), Container, *At, Context))
    return false;
  if (isNamedInCallees(Entry, *Inner, Store.In, Container))
    return false;
  return llvm::none_of(Entry.events<StoreEvent>(), [&](const auto &Other) {
    return Other.Site != Store.Site && L.contains(Other.Point) &&
           Entry.mayAlias(Other.Places, Store.Places);
  });
}

} // namespace torchtidy::model
