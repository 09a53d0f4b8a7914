#include "model/domains/extent/Transfer.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/domains/shape/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Elements.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "torch/Views.h"

using namespace clang;
using torchtidy::torch::Index;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

namespace {

/// How many times less than its operand a view has at least: one where that
/// cannot be told.
class ViewRatio {
public:
  ViewRatio(Machine &M, const OperationCall &Call)
      : M(M), Call(Call), Of(Call.self().InShape) {}

  int64_t get() {
    if (torch::isIndexing(*Call.Op))
      return ofIndices();
    const bool SaysDimension = Call.Operands.size() > 2;
    const std::optional<int64_t> Dimension =
        SaysDimension ? shape::numberAt(M, argument(0)) : 0;
    if (torch::choosesPosition(*Call.Op))
      return ofPosition(argument(SaysDimension ? 1 : 0), Dimension);
    if (const auto Range = torch::rangeOf(Call.Call))
      return ofRange(*Range, Dimension);
    return 1;
  }

private:
  const Expr *argument(unsigned I) const {
    return I + 1 < Call.Operands.size() ? Call.Operands[I + 1] : nullptr;
  }

  /// Of the dimension; nothing where it is not known.
  std::optional<int64_t> sizeOf(std::optional<int64_t> Dimension) const {
    if (!Dimension || Of.isEmpty() || *Dimension < -int64_t(Sizes::Most) ||
        *Dimension >= int64_t(Sizes::Most))
      return std::nullopt;
    const int32_t Size = *Dimension < 0 ? Of.last()[unsigned(-1 - *Dimension)]
                                        : Of.first()[unsigned(*Dimension)];
    return Size == Sizes::Any ? std::nullopt : std::optional<int64_t>(Size);
  }

  /// The number; of x.size(d) - n, where x is the operand and d the dimension
  /// that it counts in, -n: the same position.
  std::optional<int64_t> numberIn(const Expr *E,
                                  std::optional<int64_t> Dimension) const {
    if (const auto Number = shape::numberAt(M, E))
      return Number;
    const auto *Minus = dyn_cast<BinaryOperator>(ast::stripCopies(E));
    const auto From = Minus && Minus->getOpcode() == BO_Sub
                          ? torch::sizeAt(Minus->getLHS())
                          : std::nullopt;
    const auto Count =
        From ? shape::numberAt(M, Minus->getRHS()) : std::nullopt;
    if (!Count || *Count <= 0 || !Dimension ||
        shape::numberAt(M, From->Dimension) != Dimension)
      return std::nullopt;
    const auto Asked = M.denote(From->Tensor).Objects;
    const auto Operand = M.denote(Call.Operands.front()).Objects;
    return Asked.size() == 1 && Asked == Operand ? std::optional(-*Count)
                                                 : std::nullopt;
  }

  /// What the variable that E names is declared with; E itself for others.
  static const Expr *writtenAs(const Expr *E) {
    E = ast::stripCopies(E);
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    return V && V->getInit() ? ast::stripCopies(V->getInit()) : E;
  }

  /// A number that a tensor has said: where the largest is.
  static bool isChosen(const Expr *Position) {
    return ast::anyStmt(
        writtenAs(Position),
        [](const Stmt *S) {
          const auto *Call = dyn_cast<CallExpr>(S);
          const torch::Operation *Op =
              Call ? torch::classify(Call).Op : nullptr;
          return Op && torch::readsNumber(*Op);
        },
        ast::Lambdas::Skip);
  }

  /// x[x.size(0) / 2]: who asks for the middle has many.
  static bool isOneOfMany(const Expr *Position) {
    const auto *Divides = dyn_cast<BinaryOperator>(writtenAs(Position));
    return isChosen(Position) || (Divides && Divides->getOpcode() == BO_Div &&
                                  torch::sizeAt(Divides->getLHS()));
  }

  int64_t ofPosition(const Expr *Position, std::optional<int64_t> Dimension) {
    // A tensor chooses any number of positions, and copies them.
    if (!Position || torch::isTensor(Position->getType()))
      return 1;
    if (const auto Size = sizeOf(Dimension))
      return std::max<int64_t>(*Size, 1);
    const std::optional<int64_t> Number = numberIn(Position, Dimension);
    if (!Number)
      return isOneOfMany(Position) ? Extent::SmallPart : 1;
    if (*Number >= 0)
      return *Number + 1;
    // The last step of a sequence. The last of the first dimension may be the
    // last of two layers.
    if (*Number == -1 && Dimension && *Dimension > 0)
      return Extent::SmallPart;
    return -*Number;
  }

  int64_t ofRange(const torch::Range &Some, std::optional<int64_t> Dimension) {
    if (Some.HasStep)
      return 1;
    const std::optional<int64_t> First =
        Some.First ? numberIn(Some.First, Dimension) : 0;
    const std::optional<int64_t> Second =
        Some.Second ? numberIn(Some.Second, Dimension) : std::nullopt;
    std::optional<int64_t> Length = Some.IsLength ? Second : std::nullopt;
    if (!Some.IsLength && First && Second && (*First < 0) == (*Second < 0))
      Length = *Second - *First;
    // slice(0, -10): the last ten.
    if (!Some.IsLength && !Some.Second && First && *First < 0)
      Length = -*First;
    if (!Length || *Length <= 0)
      return 1;
    if (const auto Size = sizeOf(Dimension))
      return *Size / *Length;
    // There are several to choose from.
    if (!First && isChosen(Some.First))
      return Extent::SmallPart;
    // There is as much before it.
    return First && *First > 0 ? 1 + *First / *Length : 1;
  }

  int64_t ofIndices() {
    const auto Indices = torch::indicesOf(Call.Call);
    if (!Indices)
      return 0;
    int64_t Result = 1;
    int64_t Dimension = 0;
    for (unsigned I = 0; I < Indices->size(); ++I) {
      const Index &Each = (*Indices)[I];
      switch (Each.Is) {
      case Index::NewDimension:
        continue;
      case Index::Rest:
        // Those behind it are the last ones.
        Dimension = -int64_t(llvm::count_if(
            llvm::drop_begin(*Indices, I + 1), [](const Index &Next) {
              return Next.Is == Index::Position || Next.Is == Index::Several;
            }));
        continue;
      case Index::Position:
        Result *= ofPosition(Each.Number, Dimension);
        break;
      case Index::Several:
        Result *= std::max<int64_t>(ofRange(Each.Of, Dimension), 1);
        break;
      }
      ++Dimension;
      Result = std::min(Result, Extent::SmallPart);
    }
    return Result;
  }

  Machine &M;
  const OperationCall &Call;
  const Shape Of;
};

} // namespace

/// All that the operand has, and nothing of what lies beside it.
static bool keepsAll(const torch::Operation &Op) {
  return torch::keepsOrder(Op) || torch::reordersDimensions(Op);
}

static uint8_t shareOfView(Machine &M, const OperationCall &Call) {
  const uint8_t Before = Call.self().Share;
  if (torch::isAsStrided(*Call.Op))
    return share::Unknown;
  // A part of a small part is one, too.
  if (Before == share::Little || Before == share::Small)
    return Before;
  if (keepsAll(*Call.Op))
    return Before ? Before : uint8_t(share::Unknown);
  if (Call.Op->Returns != op::Tensor ||
      ViewRatio(M, Call).get() < Extent::SmallPart)
    return share::Unknown;
  return share::Small | (Before & share::Little);
}

/// The result has a storage of its own.
static void makeStorage(Machine &M, const CallExpr *Call, Value &Result) {
  const auto Elements = Result.InShape.elements();
  const bool IsLittle = Elements && *Elements < Extent::FewElements;
  Result.Share = IsLittle ? share::Little : share::Whole;
  Result.StorageFrom = {M.names().allocation(M.frame(), Call)};
}

void extent::initial(Machine &M, PlaceId P, Value &Result) {
  if (M.isFromOutside(P))
    Result.Share = share::Unknown;
}

void extent::operation(Machine &M, const OperationCall &Call, Value &Result) {
  const torch::Operation &Op = *Call.Op;
  // What is written keeps its storage.
  if (Op.Writes != op::NoArgument)
    return;
  const bool IsFresh = Call.isFactory() || Op.has(op::Allocates);
  if (Op.View == Tri::No && IsFresh && !torch::isFromBlob(Op))
    return makeStorage(M, Call.Call, Result);
  Result.Share = share::Unknown;
  Result.StorageFrom = Call.self().StorageFrom;
  // Whether an index makes a view, its indices say.
  const bool IsView = Op.View == Tri::Yes ||
                      (torch::isIndexing(Op) && torch::indicesOf(Call.Call));
  if (IsView && !Call.Operands.empty())
    Result.Share = shareOfView(M, Call);
  else if (!torch::isFromBlob(Op))
    insert(Result.StorageFrom, M.names().allocation(M.frame(), Call.Call));
}

void extent::call(Machine &M, const LibraryCall &Call, Value &Result) {
  const Expr *Object = ast::objectOf(Call.Call);
  if (Call.IsForward && Object &&
      torch::computesAnew(torch::moduleClass(Object->getType())))
    return makeStorage(M, Call.Call, Result);
  Result.Share = share::Unknown;
  for (const Value &V : Call.Values)
    insert(Result.StorageFrom, V.StorageFrom);
}

void extent::replaceStorage(Machine &M, const Expr *Target) {
  for (PlaceId P : M.denote(Target).Objects) {
    Value V = M.load(P);
    V.Share = share::Unknown;
    M.storeWeak(P, V);
  }
}

void extent::lost(Value &Tensor) { Tensor.Share |= share::Unknown; }

} // namespace torchtidy::model
