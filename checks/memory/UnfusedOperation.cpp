#include "memory/UnfusedOperation.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "queries/loops/Loops.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Arithmetic.h"
#include "torch/Options.h"
#include "torch/Shapes.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

/// The object and the arguments, as they are written.
static llvm::SmallVector<const Expr *, 4> operandsOf(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Result;
  if (const Expr *Object = ast::objectOf(Call))
    Result.push_back(Object);
  for (const Expr *Argument : ast::argumentsOf(Call))
    if (!isa<CXXDefaultArgExpr>(Argument))
      Result.push_back(Argument);
  return Result;
}

static bool isTensor(const Expr *E) { return torch::isTensor(E->getType()); }

/// A number, not a tensor of one.
static bool isNumber(const Expr *E) {
  return ast::stripCopies(E)->getType()->isArithmeticType();
}

/// A tensor of one number, as it is written: a loss, x.mean(), of which the
/// product is as small.
static bool isSingle(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  if (!Op)
    return false;
  const auto Operands = operandsOf(Call);
  if (torch::isDetach(*Op))
    return isSingle(Operands.front());
  return torch::returnsNumber(*Op) ||
         (torch::reduces(*Op) && Operands.size() == 1);
}

/// What E is, where it is a product, or quotient, that nothing else has: the
/// tensor first. False for others.
static bool readProduct(const Expr *E, UnfusedOperation &Result) {
  const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  if (!Op || !torch::isScaling(*Op))
    return false;
  const auto Operands = operandsOf(Call);
  if (Operands.size() != 2)
    return false;
  if (llvm::all_of(Operands, [](const Expr *Each) {
        return isNumber(Each) || isSingle(Each);
      }))
    return false;
  const bool IsQuotient = torch::isQuotient(*Op);
  Result.Product = Call;
  Result.First = Operands[0];
  Result.Second = Operands[1];
  if (isTensor(Operands[0]) && isTensor(Operands[1])) {
    Result.As = IsQuotient ? Fused::Quotient : Fused::Product;
    return true;
  }
  if (IsQuotient)
    return false;
  if (isTensor(Operands[1]))
    std::swap(Result.First, Result.Second);
  Result.As = Fused::Scaled;
  return isTensor(Result.First) && isNumber(Result.Second);
}

static std::optional<UnfusedOperation> readSum(const CallExpr *Call) {
  const torch::Operation *Op = torch::classify(Call).Op;
  if (!Op || !(torch::isSum(*Op) || torch::isAccumulating(*Op)))
    return std::nullopt;
  const auto Operands = operandsOf(Call);
  if (Operands.size() != 2 || !isTensor(Operands[0]) || !isTensor(Operands[1]))
    return std::nullopt;
  UnfusedOperation Result;
  Result.Sum = Call;
  Result.IsInPlace = torch::isAccumulating(*Op);
  Result.IsSubtracted = torch::isDifference(*Op);
  Result.To = Operands[0];
  if (readProduct(Operands[1], Result))
    return Result;
  Result.To = Operands[1];
  if (!Result.IsInPlace && !Result.IsSubtracted &&
      readProduct(Operands[0], Result))
    return Result;
  return std::nullopt;
}

/// A constant in E was made of integers: torch::tensor({..}, torch::kUInt8).
static bool namesIntegers(const Expr *E) {
  return ast::anyStmt(
      E,
      [](const Stmt *S) {
        const ValueDecl *D = nullptr;
        if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
          D = Ref->getDecl();
        else if (const auto *Member = dyn_cast<MemberExpr>(S))
          D = Member->getMemberDecl();
        const Expr *Init = nullptr;
        if (const auto *V = dyn_cast_or_null<VarDecl>(D))
          Init = V->getInit();
        else if (const auto *Field = dyn_cast_or_null<FieldDecl>(D))
          Init = Field->getInClassInitializer();
        return Init && D->getType().isConstQualified() &&
               ast::anyStmt(
                   Init,
                   [](const Stmt *Part) {
                     const auto *Name = dyn_cast<DeclRefExpr>(Part);
                     return Name && torch::scalarKindOf(Name->getDecl()) ==
                                        torch::ScalarKind::Integral;
                   },
                   ast::Lambdas::Skip);
      },
      ast::Lambdas::Skip);
}

/// add() of integers takes no factor that is none ("argument alpha must not be
/// a floating point number").
static bool isTooWide(const UnfusedOperation &Found) {
  return Found.As == Fused::Scaled && torch::isFloatingNumber(Found.Second) &&
         (namesIntegers(Found.First) || namesIntegers(Found.To));
}

namespace {

/// What is known of the products of an execution.
class Products {
public:
  explicit Products(const Execution &Entry) {
    for (const ChainEvent &Link : Entry.events<ChainEvent>())
      Known[{Link.In, ast::stripCopies(Link.Operand)}] = &Link.OfOperand;
  }

  bool isWorthIt(const UnfusedOperation &Found, const Frame *In) const {
    const Value *Product = Known.lookup({In, Found.Product});
    if (!Product)
      return Found.As == Fused::Scaled;
    const std::optional<uint64_t> Elements = Product->InShape.elements();
    if (Elements && *Elements < FewestForMemory)
      return false;
    // The backward of addcmul() and addcdiv() makes more tensors than those of
    // the two operations.
    return Found.As == Fused::Scaled || Product->History == history::None;
  }

private:
  llvm::DenseMap<std::pair<const Frame *, const Expr *>, const Value *> Known;
};

} // namespace

std::vector<UnfusedOperation> unfusedOperations(Program &Program) {
  std::vector<UnfusedOperation> Result;
  for (const Execution *Entry : Program.executionsThatCost()) {
    const Products Known(*Entry);
    for (const CallAt &Each : callsOf(*Entry)) {
      const auto Around = Entry->loopsAround(Each.Point);
      if (Around.empty())
        continue;
      auto Found = readSum(Each.Call);
      // Beside a network that each iteration runs one operation on what goes
      // through it costs nothing.
      if (!Found || isTooWide(*Found) || !Known.isWorthIt(*Found, Each.In) ||
          runsNetwork(*Entry, *Around.back()) ||
          isPreparation(*Entry, Each.Point) || makesFirstValues(Each.In))
        continue;
      Found->Entry = Entry;
      Found->In = Each.In;
      Found->Around = Around.back();
      Result.push_back(*Found);
    }
  }
  return Result;
}

std::vector<UnfusedLogarithm> unfusedLogarithms(Program &Program) {
  std::vector<UnfusedLogarithm> Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const ScaleUseEvent &Use : Entry->events<ScaleUseEvent>()) {
      const std::optional<torch::Scale> Given = Use.OfOperand.OnScale.get();
      const bool IsLogarithm =
          !Use.Loss && (Given == torch::Scale::Sigmoids ||
                        Given == torch::Scale::Probabilities);
      const bool IsLoss = Use.Loss == torch::ScaledLoss::Binary &&
                          Given == torch::Scale::Sigmoids;
      if (IsLogarithm || IsLoss)
        Result.push_back({Entry, &Use, *Given,
                          Use.OfOperand.ScaledBy.get().value_or(nullptr)});
    }
  return Result;
}

} // namespace torchtidy::model
