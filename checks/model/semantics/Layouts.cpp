#include "model/semantics/Layouts.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Shapes.h"
#include "torch/Types.h"
#include "torch/Views.h"

using namespace clang;

namespace torchtidy::model::layouts {

static void rearrange(Machine &M, const OperationCall &Call) {
  // Asked before, and always: a look-up may add to the state, which must not
  // depend on who listens.
  const PlaceSet Source = M.identity(Call.Operands.front());
  M.emit<RearrangeEvent>(Call.Call, [&](RearrangeEvent &E) {
    E.Source = Source;
    E.Input = Call.Values.front();
  });
}

/// What no operand stretches: the same known rank, no size of one.
static bool areAlike(const Shape &A, const Shape &B) {
  if (!A.rank() || A.rank() != B.rank())
    return false;
  for (unsigned I = 0; I < *A.rank(); ++I)
    if (A.first()[I] == 1 || B.first()[I] == 1)
      return false;
  return true;
}

/// x of x.slice(1, 0, n): some positions of a dimension lie in the order of
/// what they are a part of.
static const Expr *wholeOf(const Expr *E) {
  for (unsigned Hop = 0; Hop < 8; ++Hop) {
    const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
    const Expr *Object =
        Call && torch::rangeOf(Call) ? ast::objectOf(Call) : nullptr;
    if (!Object)
      break;
    E = Object;
  }
  return E;
}

static void mix(Machine &M, const OperationCall &Call) {
  // Asked always, as in rearrange().
  llvm::SmallVector<Value, 4> Wholes;
  for (auto [Operand, V] : llvm::zip_equal(Call.Operands, Call.Values)) {
    const Expr *Whole = wholeOf(Operand);
    Wholes.push_back(Whole == Operand ? V : M.operandValue(Whole));
  }
  for (unsigned I = 0; I < Call.Operands.size(); ++I) {
    if (!torch::isTensor(Call.Operands[I]->getType()) ||
        Wholes[I].InLayout.get() != Layout::Strided)
      continue;
    bool MeetsOrdered = false;
    for (unsigned Other = 0; Other < Call.Operands.size(); ++Other)
      MeetsOrdered |=
          Wholes[Other].InLayout.get() == Layout::Contiguous &&
          areAlike(Call.Values[I].InShape, Call.Values[Other].InShape);
    if (!MeetsOrdered)
      continue;
    const PlaceSet Source = M.identity(wholeOf(Call.Operands[I]));
    M.emit<MixEvent>(Call.Call, [&](MixEvent &E) {
      E.Operand = Call.Operands[I];
      E.Source = Source;
      E.OfOperand = Wholes[I];
    });
  }
}

void tell(Machine &M, const OperationCall &Call) {
  if (Call.Operands.empty())
    return;
  const torch::Operation &Op = *Call.Op;
  if (torch::repeats(Op) || torch::makesContiguous(Op))
    rearrange(M, Call);
  else if (torch::broadcasts(Op) || torch::broadcastsInto(Op))
    mix(M, Call);
}

} // namespace torchtidy::model::layouts
