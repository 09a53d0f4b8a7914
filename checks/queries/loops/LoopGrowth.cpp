#include "queries/loops/LoopGrowth.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/syntax/Reads.h"
#include "queries/loops/Loops.h"
#include "queries/loops/TripCount.h"
#include "queries/memory/Numbers.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/Support/MathExtras.h"

using namespace clang;

namespace torchtidy::model {

using flow::Loop;
using Number = std::optional<int64_t>;

static Number sum(Number A, Number B) {
  int64_t Result = 0;
  return A && B && !llvm::AddOverflow(*A, *B, Result) ? Number(Result)
                                                      : std::nullopt;
}

static Number product(Number A, Number B) {
  int64_t Result = 0;
  return A && B && !llvm::MulOverflow(*A, *B, Result) ? Number(Result)
                                                      : std::nullopt;
}

static bool isPositive(const Growth &Size) {
  return Size.Most.value_or(1) > 0 && Size.Step.value_or(0) >= 0;
}

std::optional<Growth> multiply(const Growth &A, const Growth &B) {
  if (!isPositive(A) || !isPositive(B))
    return std::nullopt;
  Growth Result{A.Grows || B.Grows, 0, product(A.Most, B.Most)};
  if (A.Grows && B.Grows)
    Result.Step = std::nullopt;
  else if (Result.Grows)
    Result.Step = A.Grows ? product(A.Step, B.Most) : product(B.Step, A.Most);
  return Result;
}

/// The statement of Body, and the only one in it, that changes V: ++v.
static const Expr *onlyChange(const Stmt *Body, const VarDecl *V) {
  const auto *Block = dyn_cast_or_null<CompoundStmt>(Body);
  const Expr *Result = nullptr;
  if (Block)
    for (const Stmt *S : Block->body())
      if (!onlyReads(V, S)) {
        const auto *E = dyn_cast<Expr>(S);
        if (Result || !E)
          return nullptr;
        Result = E;
      }
  return Result;
}

/// What counts V in each iteration, where nothing else in the loop changes it.
static const Expr *countedBy(const Stmt *Loop, const VarDecl *V) {
  if (const auto *For = dyn_cast<ForStmt>(Loop)) {
    if (For->getCond() && !onlyReads(V, For->getCond()))
      return nullptr;
    if (!For->getInc() || onlyReads(V, For->getInc()))
      return onlyChange(For->getBody(), V);
    return onlyReads(V, For->getBody()) ? For->getInc() : nullptr;
  }
  if (const auto *While = dyn_cast<WhileStmt>(Loop))
    return onlyReads(V, While->getCond()) ? onlyChange(While->getBody(), V)
                                          : nullptr;
  if (const auto *Do = dyn_cast<DoStmt>(Loop))
    return onlyReads(V, Do->getCond()) ? onlyChange(Do->getBody(), V) : nullptr;
  const auto *Range = dyn_cast<CXXForRangeStmt>(Loop);
  return Range ? onlyChange(Range->getBody(), V) : nullptr;
}

static const Stmt *countedBody(const Stmt *Loop) {
  const auto *For = dyn_cast<ForStmt>(Loop);
  return For ? For->getBody() : Loop;
}

/// i < n, n >= i: as long as it holds, V has further to go up.
static bool goesUpTo(const Expr *Condition, const VarDecl *V) {
  const auto *Both = dyn_cast_or_null<BinaryOperator>(
      Condition ? ast::strip(Condition) : nullptr);
  if (!Both)
    return false;
  if (Both->getOpcode() == BO_LAnd)
    return goesUpTo(Both->getLHS(), V) || goesUpTo(Both->getRHS(), V);
  const bool IsLess = Both->getOpcode() == BO_LT || Both->getOpcode() == BO_LE;
  const bool IsMore = Both->getOpcode() == BO_GT || Both->getOpcode() == BO_GE;
  return (IsLess || IsMore) &&
         named(IsLess ? Both->getLHS() : Both->getRHS()) == V;
}

/// for (..; end <= size; end += hop): nobody knows by how much, but it is the
/// same each time, and with nothing or less the loop would not end.
bool LoopGrowth::goesUp(const Expr *Counts, const VarDecl *V, const Frame *F,
                        const Loop &L) {
  const auto *For = dyn_cast_or_null<ForStmt>(Entry.loopStatement(L));
  const auto *Add =
      dyn_cast_or_null<CompoundAssignOperator>(ast::strip(Counts));
  return For && Add && Add->getOpcode() == BO_AddAssign &&
         named(Add->getLHS()) == V && goesUpTo(For->getCond(), V) &&
         Add->getRHS()->getType()->isIntegerType() &&
         Same.isInvariant(Add->getRHS(), F, L);
}

std::optional<Growth> LoopGrowth::ofVariable(const VarDecl *V, const Frame *F,
                                             const Loop &L) {
  const Stmt *Statement = Entry.loopStatement(L);
  const Frame *Owner = Supergraph::owner(F, V);
  // Of a function that the loop calls, each activation has its own.
  if (!Statement || !Owner || V->hasGlobalStorage() ||
      Owner != Entry.segment(L.Header).In || V->getType()->isReferenceType() ||
      countedBody(Statement)->getSourceRange().fullyContains(
          V->getSourceRange()))
    return std::nullopt;
  const Expr *Counts = countedBy(Statement, V);
  const Number Step = Counts ? stepOf(Entry, Owner, Counts, V) : std::nullopt;
  if (Counts && !Step && goesUp(Counts, V, Owner, L))
    return Growth{true, std::nullopt, std::nullopt};
  if (!Step || *Step <= 0)
    return std::nullopt;
  const auto Trips = mostTrips(Entry, L);
  const Number First =
      V->getInit() ? knownNumber(Entry, V->getInit(), Owner) : std::nullopt;
  return Growth{true, Step,
                sum(First, product(Trips ? Number(*Trips) : Number(), Step))};
}

/// x = torch::cat({x, y}): the call, where it runs in each iteration of L and
/// nothing else there is assigned to x. Null otherwise.
const CallExpr *LoopGrowth::growingCat(const ValueDecl *D, const Loop &L) {
  const CallExpr *Result = nullptr;
  for (const CallAt &At : Calls) {
    const auto *Assign = dyn_cast<CXXOperatorCallExpr>(At.Call);
    if (!L.contains(At.Point) || !Assign || !Assign->isAssignmentOp() ||
        named(Assign->getArg(0)) != D)
      continue;
    const auto *Cat = dyn_cast<CallExpr>(ast::stripCopies(Assign->getArg(1)));
    const torch::Operation *Op = Cat ? torch::classify(Cat).Op : nullptr;
    if (Result || Assign->getOperator() != OO_Equal || !Op ||
        !torch::isConcatenation(*Op) ||
        !isUnconditional(Entry, Assign, At.In, L) ||
        !ast::anyStmt(
            Cat->getArg(0),
            [&](const Stmt *S) {
              const auto *List = dyn_cast<InitListExpr>(S);
              return List && llvm::any_of(List->inits(), [&](const Expr *E) {
                       return named(E) == D;
                     });
            },
            ast::Lambdas::Skip))
      return nullptr;
    Result = Cat;
  }
  return Result;
}

/// x.size(d), where each iteration adds to that dimension of x.
std::optional<Growth> LoopGrowth::ofShape(const CallExpr *Call, const Frame *F,
                                          const Loop &L) {
  const Expr *Object = ast::objectOf(Call);
  const ValueDecl *D = Object ? named(Object) : nullptr;
  if (!D || !torch::saysShape(Call->getDirectCallee()))
    return std::nullopt;
  const CallExpr *Cat = growingCat(D, L);
  if (!Cat)
    return std::nullopt;
  const auto Asked = ast::argumentsOf(Call), Given = ast::argumentsOf(Cat);
  if (Asked.size() != 1 || Given.size() != 2 ||
      !Asked[0]->getType()->isIntegerType() ||
      !Given[1]->getType()->isIntegerType())
    return std::nullopt;
  const Number Dimension = knownNumber(Entry, Asked[0], F);
  if (!Dimension || Dimension != knownNumber(Entry, Given[1], F))
    return std::nullopt;
  return Growth{true, std::nullopt, std::nullopt};
}

std::optional<Growth> LoopGrowth::ofArithmetic(const BinaryOperator *E,
                                               const Frame *F, const Loop &L,
                                               unsigned Depth) {
  const auto Left = of(E->getLHS(), F, L, Depth + 1);
  const auto Right = Left ? of(E->getRHS(), F, L, Depth + 1) : std::nullopt;
  if (!Left || !Right)
    return std::nullopt;
  switch (E->getOpcode()) {
  case BO_Add:
    return Growth{Left->Grows || Right->Grows, sum(Left->Step, Right->Step),
                  sum(Left->Most, Right->Most)};
  case BO_Sub:
    // What is taken away is taken to be no less than nothing.
    return Right->Grows ? std::nullopt : Left;
  case BO_Mul:
    return multiply(*Left, *Right);
  default:
    return std::nullopt;
  }
}

std::optional<Growth> LoopGrowth::of(const Expr *E, const Frame *F,
                                     const Loop &L, unsigned Depth) {
  // Bounds the way through variables and callers.
  if (!E || Depth > 12)
    return std::nullopt;
  E = ast::strip(E);
  if (E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  if (Same.isInvariant(E, F, L))
    return Growth{false, 0, mostNumber(Entry, E, F)};
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      if (auto Result = ofVariable(V, F, L))
        return Result;
  const Expr *Resolved = resolveNumber(E, F);
  if (Resolved != E)
    return of(Resolved, F, L, Depth + 1);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E))
    return ofArithmetic(Binary, F, L, Depth);
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? ofShape(Call, F, L) : std::nullopt;
}

} // namespace torchtidy::model
