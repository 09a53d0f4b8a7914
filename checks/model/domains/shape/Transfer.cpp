#include "model/domains/shape/Transfer.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Members.h"
#include "torch/Shapes.h"
#include "torch/Types.h"
#include "torch/Views.h"

using namespace clang;
using torchtidy::torch::ShapeRule;

namespace torchtidy::model {

static Shape orAny(const Shape &Said) {
  return Said.isEmpty() ? Shape::any() : Said;
}

void shape::initial(Machine & /*M*/, PlaceId /*P*/, Value &Result) {
  Result.InShape = Shape::any();
}

/// What is known of a list of tensors says nothing of one of them.
void shape::part(Machine & /*M*/, PlaceId /*P*/, Value &Part) {
  Part.InShape = Shape::any();
}

/// torch::nn::functional: a loss without options is one number.
void shape::call(Machine & /*M*/, const LibraryCall &Call, Value &Result) {
  const torch::Operation *Op =
      torch::functionalOperation(Call.Call->getDirectCallee());
  const bool IsNumber = Op && torch::shapeRule(*Op) == ShapeRule::Number &&
                        Call.Arguments.size() == 2;
  Result.InShape = IsNumber ? Shape::whole(Sizes()) : Shape::any();
}

/// resize_() and unsqueeze_() write a tensor of another shape.
void shape::write(Machine & /*M*/, const Value &Written, bool IsWhole,
                  Value &Target) {
  if (IsWhole)
    Target.InShape.join(Written.InShape);
}

void shape::lost(Value &Tensor) { Tensor.InShape = Shape::any(); }

std::optional<int64_t> shape::numberAt(Machine &M, const Expr *E) {
  Expr::EvalResult Result;
  E = E ? ast::stripCopies(E) : nullptr;
  if (!E || E->isValueDependent() || !E->getType()->isIntegerType() ||
      E->getType()->isBooleanType() || E->getType()->isEnumeralType() ||
      !E->EvaluateAsInt(Result, M.code().context()))
    return std::nullopt;
  return Result.Val.getInt().tryExtValue();
}

namespace {

/// The shape of what one operation returns.
class ResultShape {
public:
  ResultShape(Machine &M, const OperationCall &Call)
      : M(M), Call(Call), Of(orAny(Call.self().InShape)) {}

  Shape get() {
    switch (torch::shapeRule(*Call.Op)) {
    case ShapeRule::Unknown:
      return Shape::any();
    case ShapeRule::Listed:
      return listed();
    case ShapeRule::Expanded:
      return expanded();
    case ShapeRule::Repeated:
      return repeated();
    case ShapeRule::Same:
      return Of;
    case ShapeRule::Broadcast:
      return broadcast();
    case ShapeRule::Unsqueezed:
      return unsqueezed();
    case ShapeRule::Transposed:
      return Of.rank().value_or(0) == 2 ? Shape::whole(Of.first().reversed())
                                        : Shape::any();
    case ShapeRule::Swapped:
      return swapped();
    case ShapeRule::Permuted:
      return permuted();
    case ShapeRule::Reduced:
      return reduced();
    case ShapeRule::Number:
      return number();
    case ShapeRule::Selected:
      return selected();
    case ShapeRule::Resized:
      return resized();
    case ShapeRule::Indexed:
      return indexed();
    case ShapeRule::AtLeastOne:
      return Shape::partial(Sizes().first(1), {});
    case ShapeRule::MatrixProduct:
      return product(2);
    case ShapeRule::BatchedProduct:
      return product(3);
    case ShapeRule::AnyProduct:
      return product(std::nullopt);
    }
    return Shape::any();
  }

private:
  using Numbers = llvm::SmallVector<int64_t, 6>;

  const Expr *argument(unsigned I) const {
    return I + 1 < Call.Operands.size() ? Call.Operands[I + 1] : nullptr;
  }

  /// The constants of a list; -1 for others.
  std::optional<Numbers> numbersOf(const Expr *List) {
    const auto Elements = List ? ast::listed(List) : std::nullopt;
    if (!Elements)
      return std::nullopt;
    Numbers Result;
    for (const Expr *Each : *Elements)
      Result.push_back(shape::numberAt(M, Each).value_or(Sizes::Any));
    return Result;
  }

  /// Of a factory all operands are arguments.
  Shape listed() {
    const Expr *List = argument(0);
    if (Call.Op->has(torch::operation::Factory)) {
      const auto Where = torch::shapeArgument(*Call.Op, Call.Operands);
      if (torch::listsContent(*Call.Op))
        return ofContent();
      if (!Where || torch::isSquare(*Call.Op))
        return Shape::any();
      List = Call.Operands[*Where];
      // arange(n), randperm(n), linspace(a, b, n)
      if (ast::stripCopies(List)->getType()->isArithmeticType())
        return Shape::whole(
            {shape::numberAt(M, ast::stripCopies(List)).value_or(Sizes::Any)});
    }
    if (const Expr *Other = whoseSizes(List))
      return orAny(M.deepValue(Other).InShape);
    const std::optional<Numbers> Sizes = numbersOf(List);
    return Sizes ? Shape::whole(*Sizes) : Shape::any();
  }

  /// zeros(x.sizes()): the tensor that says all sizes; null for other lists.
  static const Expr *whoseSizes(const Expr *List) {
    const auto *Call =
        List ? dyn_cast<CXXMemberCallExpr>(ast::stripCopies(List)) : nullptr;
    const Expr *Object = Call ? Call->getImplicitObjectArgument() : nullptr;
    return Object && torch::isTensor(Object->getType()) &&
                   torch::saysSizes(Call->getMethodDecl())
               ? Object
               : nullptr;
  }

  /// tensor({1, 2}): as many as are listed.
  Shape ofContent() {
    const auto Content = ast::listed(Call.Operands.front());
    if (!Content || !llvm::all_of(*Content, [](const Expr *Each) {
          return ast::stripCopies(Each)->getType()->isArithmeticType();
        }))
      return Shape::any();
    return Shape::whole({int64_t(Content->size())});
  }

  Shape expanded() {
    std::optional<Numbers> All = numbersOf(argument(0));
    if (!All)
      return Shape::any();
    const Sizes Last = Of.last();
    for (unsigned I = 0; I < All->size(); ++I)
      if (int64_t &Size = (*All)[All->size() - 1 - I];
          Size < 0 && Of.rank() && Last[I] > 1)
        Size = Last[I];
    return Shape::whole(*All);
  }

  Shape repeated() {
    std::optional<Numbers> Times = numbersOf(argument(0));
    if (!Times || !torch::repeatsEachDimension(*Call.Op))
      return Shape::any();
    const std::optional<unsigned> Rank = Of.rank();
    const Sizes Last = Of.last();
    for (unsigned I = 0; I < Times->size(); ++I) {
      int64_t &Size = (*Times)[Times->size() - 1 - I];
      if (!Rank)
        Size = Sizes::Any;
      else if (I < *Rank)
        Size = Size < 0 || Last[I] == Sizes::Any ? Sizes::Any : Size * Last[I];
    }
    return Shape::whole(*Times);
  }

  static int32_t together(int32_t A, int32_t B) {
    if (A == B || B == 1)
      return A;
    if (A == 1)
      return B;
    return A == Sizes::Any ? B : A;
  }

  Shape broadcast() {
    Shape Result;
    for (auto [Operand, V] : llvm::zip_equal(Call.Operands, Call.Values)) {
      if (!torch::isTensor(Operand->getType()))
        continue;
      const Shape Next = orAny(V.InShape);
      if (Result.isEmpty()) {
        Result = Next;
        continue;
      }
      if (!Result.rank() || !Next.rank())
        return Shape::any();
      const Sizes A = Result.last(), B = Next.last();
      Sizes Both;
      for (unsigned I = 0; I < std::max(A.count(), B.count()); ++I)
        Both.append(I >= A.count()   ? B[I]
                    : I >= B.count() ? A[I]
                                     : together(A[I], B[I]));
      Result = Shape::whole(Both.reversed());
    }
    return orAny(Result);
  }

  /// All with One put in before the dimension at I.
  static Sizes inserted(const Sizes &All, unsigned I) {
    Sizes One;
    One.append(1);
    return All.first(I).then(One).then(All.from(I));
  }

  Shape unsqueezed() {
    const std::optional<int64_t> Where = shape::numberAt(M, argument(0));
    if (!Where || *Where >= int64_t(Sizes::Most) ||
        -*Where > int64_t(Sizes::Most))
      return Shape::any();
    const Sizes &First = Of.first();
    const unsigned I = *Where < 0 ? unsigned(-1 - *Where) : unsigned(*Where);
    if (Of.rank())
      return *Where < 0 ? Shape::whole(inserted(First.reversed(), I).reversed())
                        : Shape::whole(inserted(First, I));
    // What lies on the other side of the new dimension for certain.
    const unsigned Least = Of.leastRank();
    const unsigned Behind = Least > I ? Least - I : 0;
    const Sizes Last = Of.last();
    if (*Where < 0)
      return Shape::partial(First.first(std::min(Behind, First.count())),
                            inserted(Last, I));
    return Shape::partial(inserted(First, I),
                          Last.first(std::min(Behind, Last.count())));
  }

  /// The dimension that E names, where the rank is known.
  std::optional<unsigned> dimension(const Expr *E) {
    const std::optional<unsigned> Rank = Of.rank();
    const std::optional<int64_t> Named = shape::numberAt(M, E);
    if (!Rank || !Named)
      return std::nullopt;
    const int64_t I = *Named < 0 ? *Named + *Rank : *Named;
    return I >= 0 && I < *Rank ? std::optional<unsigned>(I) : std::nullopt;
  }

  Shape swapped() {
    const auto A = dimension(argument(0)), B = dimension(argument(1));
    if (!A || !B)
      return Shape::any();
    Sizes Result = Of.first();
    Result.set(*A, Of.first()[*B]);
    Result.set(*B, Of.first()[*A]);
    return Shape::whole(Result);
  }

  Shape permuted() {
    const auto Order = argument(0) ? ast::listed(argument(0)) : std::nullopt;
    // It lists all dimensions of the operand.
    if (!Order || Of.rank().value_or(Order->size()) != Order->size())
      return Shape::any();
    Sizes Result;
    for (const Expr *Each : *Order) {
      const std::optional<unsigned> I = dimension(Each);
      Result.append(I ? Of.first()[*I] : Sizes::Any);
    }
    return Shape::whole(Result);
  }

  /// sum(), sum(1), sum({1, 2}, /*keepdim=*/true), std(true).
  Shape reduced() {
    if (torch::returnsIndices(*Call.Op) && Call.Operands.size() > 1)
      return Shape::any();
    const Expr *Named = argument(0);
    if (!Named || ast::stripCopies(Named)->getType()->isBooleanType())
      return Shape::whole(Sizes());
    const auto Listed = ast::listed(Named);
    Numbers Dimensions;
    for (const Expr *Each : Listed ? *Listed : llvm::ArrayRef(Named)) {
      const std::optional<int64_t> I = shape::numberAt(M, Each);
      if (!I || *I >= int64_t(Sizes::Most) || -*I > int64_t(Sizes::Most))
        return Shape::any();
      Dimensions.push_back(*I);
    }
    const std::optional<bool> Keeps =
        ast::boolAt(torch::keepsDimensionsArgument(Call.Call), false);
    if (!Keeps || Dimensions.empty())
      return Shape::any();
    return Of.rank() ? reducedWhole(Dimensions, *Keeps)
           : *Keeps  ? ofOnes(Dimensions)
                     : Shape::any();
  }

  Shape reducedWhole(const Numbers &Dimensions, bool Keeps) {
    const unsigned Rank = *Of.rank();
    Sizes Result;
    for (unsigned I = 0; I < Rank; ++I) {
      const bool IsReduced = llvm::any_of(Dimensions, [&](int64_t D) {
        return (D < 0 ? D + int64_t(Rank) : D) == int64_t(I);
      });
      if (!IsReduced || Keeps)
        Result.append(IsReduced ? 1 : Of.first()[I]);
    }
    return Shape::whole(Result);
  }

  /// These dimensions have a size of one, and of how many is not known.
  Shape ofOnes(const Numbers &Dimensions) {
    const bool FromEnd = Dimensions.front() < 0;
    Sizes Result = FromEnd ? Of.last() : Of.first();
    for (int64_t D : Dimensions) {
      // One that is counted from the other end may be any of them.
      if ((D < 0) != FromEnd)
        return Shape::any();
      const unsigned N = unsigned(D < 0 ? -1 - D : D);
      Result = Result.first(std::max(Result.count(), N + 1));
      Result.set(N, 1);
    }
    return FromEnd ? Shape::partial({}, Result) : Shape::partial(Result, {});
  }

  Shape without(std::optional<unsigned> I) {
    return I ? Shape::whole(Of.first().first(*I).then(Of.first().from(*I + 1)))
             : Shape::any();
  }

  /// What is said beside the two operands may be that nothing is reduced.
  Shape number() {
    for (unsigned I = 2; I < Call.Operands.size(); ++I)
      if (!isa<CXXDefaultArgExpr>(Call.Operands[I]))
        return Shape::any();
    return Shape::whole(Sizes());
  }

  Shape selected() {
    if (Call.Operands.size() > 2)
      return without(dimension(argument(0)));
    // x[i]; a tensor as the index takes any number of elements.
    if (!argument(0) || torch::isTensor(argument(0)->getType()))
      return Shape::any();
    if (Of.rank())
      return without(*Of.rank() ? std::optional<unsigned>(0) : std::nullopt);
    const unsigned Least = std::max(Of.leastRank(), 1u);
    return Shape::partial(
        Of.first().from(1),
        Of.last().first(std::min(Least - 1, Of.last().count())));
  }

  /// narrow(1, 0, 4), slice(1, 0, 4), index_select(1, which).
  Shape resized() {
    if (const auto I = dimension(argument(0))) {
      Sizes Result = Of.first();
      Result.set(*I, Sizes::Any);
      return Shape::whole(Result);
    }
    // Which of the dimensions changes is not known; there are as many.
    if (Of.rank())
      return Shape::whole(Sizes().first(*Of.rank()));
    return Shape::partial(Sizes().first(std::max(Of.leastRank(), 1u)), {});
  }

  /// Dimensions that are not indexed stay behind those that are.
  Shape indexed() {
    const auto Indices = torch::indicesOf(Call.Call);
    if (!Indices || llvm::any_of(*Indices, [](const torch::Index &Each) {
          return Each.Is == torch::Index::Rest;
        }))
      return Shape::any();
    Sizes Result;
    unsigned Taken = 0;
    for (const torch::Index &Each : *Indices) {
      Taken += Each.Is != torch::Index::NewDimension;
      if (Each.Is == torch::Index::NewDimension)
        Result.append(1);
      else if (Each.Is == torch::Index::Several)
        Result.append(Sizes::Any);
    }
    if (!Of.rank())
      return Shape::partial(Result.then(Of.first().from(Taken)), {});
    return *Of.rank() < Taken
               ? Shape::any()
               : Shape::whole(Result.then(Of.first().from(Taken)));
  }

  /// Of two operands with Rank dimensions each. Nothing: as many as they have,
  /// where there are at least two; the other sizes are broadcast.
  Shape product(std::optional<unsigned> Rank) {
    if (Call.Values.size() < 2)
      return Shape::any();
    const Shape With = orAny(Call.Values[1].InShape);
    const Sizes A = Of.last(), B = With.last();
    Sizes Last;
    Last.append(B[0]);
    Last.append(A[1]);
    if (Rank == 3)
      Last.append(A[2] == Sizes::Any ? B[2] : A[2]);
    if (!Rank) {
      if (Of.leastRank() < 2 || With.leastRank() < 2)
        return Shape::any();
      if (!Of.rank() || !With.rank())
        return Shape::partial({}, Last);
      Rank = std::max(*Of.rank(), *With.rank());
    }
    return Shape::whole(Last.first(*Rank).reversed());
  }

  Machine &M;
  const OperationCall &Call;
  const Shape Of;
};

} // namespace

void shape::operation(Machine &M, const OperationCall &Call, Value &Result) {
  Result.InShape = ResultShape(M, Call).get();
}

} // namespace torchtidy::model
