#include "queries/loops/TripCount.h"
#include "ast/Expressions.h"
#include "model/syntax/Reads.h"
#include "queries/memory/Numbers.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <algorithm>

using namespace clang;

namespace torchtidy::model {

static const VarDecl *variableOf(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(ast::strip(E));
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

std::optional<int64_t> stepOf(const Execution &Entry, const Frame *In,
                              const Expr *Counts, const VarDecl *V) {
  const Expr *E = ast::strip(Counts);
  if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E);
      Unary && Unary->isIncrementDecrementOp() &&
      variableOf(Unary->getSubExpr()) == V)
    return Unary->isIncrementOp() ? 1 : -1;
  const auto *Add = dyn_cast_or_null<CompoundAssignOperator>(E);
  if (!Add || variableOf(Add->getLHS()) != V ||
      (Add->getOpcode() != BO_AddAssign && Add->getOpcode() != BO_SubAssign))
    return std::nullopt;
  const auto By = knownNumber(Entry, Add->getRHS(), In);
  return By && Add->getOpcode() == BO_SubAssign ? std::optional(-*By) : By;
}

namespace {

class CountedLoop {
public:
  CountedLoop(const Execution &Entry, const Frame *In, const ForStmt *For)
      : Entry(Entry), In(In), For(For) {}

  std::optional<uint64_t> trips() const { return within(For->getCond()); }

private:
  std::optional<uint64_t> within(const Expr *Condition) const {
    const auto *Binary = dyn_cast_or_null<BinaryOperator>(
        Condition ? ast::strip(Condition) : nullptr);
    if (!Binary)
      return std::nullopt;
    // Both hold as long as it runs.
    if (Binary->getOpcode() == BO_LAnd) {
      const auto Left = within(Binary->getLHS());
      const auto Right = within(Binary->getRHS());
      return Left && Right ? std::min(*Left, *Right) : Left ? Left : Right;
    }
    if (!Binary->isRelationalOp() && Binary->getOpcode() != BO_NE)
      return std::nullopt;
    if (const auto Trips = counted(variableOf(Binary->getLHS()),
                                   Binary->getRHS(), Binary->getOpcode()))
      return Trips;
    return counted(
        variableOf(Binary->getRHS()), Binary->getLHS(),
        Binary->getOpcode() == BO_NE
            ? BO_NE
            : BinaryOperator::reverseComparisonOp(Binary->getOpcode()));
  }

  /// From its first value, V goes on as long as it compares so with Limit.
  std::optional<uint64_t> counted(const VarDecl *V, const Expr *Limit,
                                  BinaryOperatorKind Compares) const {
    if (!V || !V->getType()->isIntegerType() || !onlyReads(V, For->getBody()))
      return std::nullopt;
    const std::optional<int64_t> Step = stepOf(Entry, In, For->getInc(), V),
                                 First = firstOf(V);
    const bool IsUp = Step && *Step > 0;
    const std::optional<int64_t> Last =
        IsUp ? mostNumber(Entry, Limit, In) : knownNumber(Entry, Limit, In);
    if (!Step || *Step == 0 || !First || !Last)
      return std::nullopt;
    const bool Fits =
        Compares == BO_NE || (IsUp ? Compares == BO_LT || Compares == BO_LE
                                   : Compares == BO_GT || Compares == BO_GE);
    if (!Fits)
      return std::nullopt;
    const bool IsInclusive = Compares == BO_LE || Compares == BO_GE;
    const int64_t Way = (IsUp ? *Last - *First : *First - *Last) + IsInclusive;
    const int64_t Size = std::abs(*Step);
    return Way <= 0 ? 0 : uint64_t((Way + Size - 1) / Size);
  }

  std::optional<int64_t> firstOf(const VarDecl *V) const {
    const Stmt *Init = For->getInit();
    if (const auto *Declaration = dyn_cast_or_null<DeclStmt>(Init))
      return llvm::is_contained(Declaration->decls(), V)
                 ? knownNumber(Entry, V->getInit(), In)
                 : std::nullopt;
    const auto *Assign = dyn_cast_or_null<BinaryOperator>(Init);
    return Assign && Assign->getOpcode() == BO_Assign &&
                   variableOf(Assign->getLHS()) == V
               ? knownNumber(Entry, Assign->getRHS(), In)
               : std::nullopt;
  }

  const Execution &Entry;
  const Frame *In;
  const ForStmt *For;
};

} // namespace

/// Of int a[4], std::array<int, 4>, {1, 2, 3, 4}.
static std::optional<uint64_t> elementsOf(const Execution &Entry,
                                          const Expr *Range) {
  if (!Range)
    return std::nullopt;
  const QualType Type = Range->getType().getNonReferenceType();
  if (const auto *Array = Entry.code().context().getAsConstantArrayType(Type))
    return Array->getSize().getLimitedValue();
  const Expr *Written = ast::strip(Range);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(Written))
    Written = ast::strip(List->getSubExpr());
  if (const auto *List = dyn_cast<InitListExpr>(Written))
    return List->getNumInits();
  const CXXRecordDecl *Record = torch::recordOf(Type);
  const auto *Class = dyn_cast_or_null<ClassTemplateSpecializationDecl>(Record);
  if (!Class || !torch::isArray(Record) ||
      Class->getTemplateArgs().size() < 2 ||
      Class->getTemplateArgs()[1].getKind() != TemplateArgument::Integral)
    return std::nullopt;
  return Class->getTemplateArgs()[1].getAsIntegral().getLimitedValue();
}

/// A container of the standard library whose elements are no numbers.
static bool holdsObjects(QualType Type) {
  const CXXRecordDecl *Record = torch::recordOf(Type);
  const auto *Class = dyn_cast_or_null<ClassTemplateSpecializationDecl>(Record);
  return Class && torch::isStd(Class) && Class->getTemplateArgs().size() &&
         Class->getTemplateArgs()[0].getKind() == TemplateArgument::Type &&
         !Class->getTemplateArgs()[0].getAsType()->isArithmeticType();
}

/// names.size(), names.size() - 1, names.end(), or a variable that keeps that.
static bool saysExtent(const Expr *E, const Frame *In) {
  const Expr *Written = ast::strip(resolveNumber(E, In));
  if (const auto *Binary = dyn_cast_or_null<BinaryOperator>(Written);
      Binary && Binary->isAdditiveOp())
    return saysExtent(Binary->getLHS(), In);
  const auto *Call = dyn_cast_or_null<CXXMemberCallExpr>(Written);
  const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
  if (!Method || !holdsObjects(Call->getImplicitObjectArgument()->getType()))
    return false;
  return torch::pointsIntoContainer(Method) ||
         (torch::meaning(Method) == torch::StdMeaning::Nothing &&
          Method->getReturnType()->isIntegerType());
}

bool runsForObjects(const Execution &Entry, const flow::Loop &L) {
  const Stmt *Statement = Entry.loopStatement(L);
  const Frame *In = Entry.segment(L.Header).In;
  if (mostTrips(Entry, L))
    return false;
  if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Statement)) {
    const Expr *Of = Range->getRangeInit();
    return Of && holdsObjects(Of->getType());
  }
  const auto *For = dyn_cast_or_null<ForStmt>(Statement);
  const Expr *Condition = For ? For->getCond() : nullptr;
  if (!Condition)
    return false;
  Condition = ast::strip(Condition);
  if (const auto *Binary = dyn_cast<BinaryOperator>(Condition))
    return Binary->isComparisonOp() && (saysExtent(Binary->getRHS(), In) ||
                                        saysExtent(Binary->getLHS(), In));
  const auto *Compared = dyn_cast<CXXOperatorCallExpr>(Condition);
  return Compared && Compared->getNumArgs() == 2 &&
         saysExtent(Compared->getArg(1), In);
}

std::optional<uint64_t> mostTrips(const Execution &Entry, const flow::Loop &L) {
  const Stmt *Statement = Entry.loopStatement(L);
  const Frame *In = Entry.segment(L.Header).In;
  if (const auto *Range = dyn_cast_or_null<CXXForRangeStmt>(Statement))
    return elementsOf(Entry, Range->getRangeInit());
  const auto *For = dyn_cast_or_null<ForStmt>(Statement);
  return For ? CountedLoop(Entry, In, For).trips() : std::nullopt;
}

} // namespace torchtidy::model
