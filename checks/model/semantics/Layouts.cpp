#include "model/semantics/Layouts.h"
#include "model/machine/Machine.h"
#include "torch/Shapes.h"
#include "torch/Types.h"

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

static void mix(Machine &M, const OperationCall &Call) {
  for (unsigned I = 0; I < Call.Operands.size(); ++I) {
    const Value &V = Call.Values[I];
    if (!torch::isTensor(Call.Operands[I]->getType()) ||
        V.InLayout.get() != Layout::Strided)
      continue;
    const bool MeetsOrdered =
        llvm::any_of(Call.Values, [&](const Value &Other) {
          return Other.InLayout.get() == Layout::Contiguous &&
                 areAlike(V.InShape, Other.InShape);
        });
    if (!MeetsOrdered)
      continue;
    const PlaceSet Source = M.identity(Call.Operands[I]);
    M.emit<MixEvent>(Call.Call, [&](MixEvent &E) {
      E.Operand = Call.Operands[I];
      E.Source = Source;
      E.OfOperand = V;
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
