#include "model/semantics/Operations.h"
#include "model/domains/Transfers.h"
#include "model/domains/device/Copies.h"
#include "model/domains/extent/Transfer.h"
#include "model/domains/history/Transfer.h"
#include "model/domains/loans/Transfer.h"
#include "model/domains/saved/Transfer.h"
#include "model/semantics/Autocast.h"
#include "model/semantics/Autograd.h"
#include "model/semantics/Detaching.h"
#include "model/semantics/Devices.h"
#include "model/semantics/Layouts.h"
#include "model/semantics/Losses.h"
#include "model/semantics/Optimizers.h"
#include "torch/Arithmetic.h"
#include "torch/Members.h"
#include "torch/Shapes.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model::operations {

void writeInPlace(Machine &M, const Expr *Site, const Expr *Target,
                  const Value &Written, bool Accumulates, const Expr *Operand) {
  const Denotation D = M.denoteOperand(Target);
  // A write through a view is a write to its base.
  const PlaceSet Bases = D.Objects.empty() ? D.Own.ViewOf : D.Objects;
  if (Bases.empty())
    return;
  Value Stored = Written;
  // What would be recorded of a write into a leaf throws, and keeps nothing.
  const bool Throws =
      Written.mayHaveHistory() && llvm::all_of(Bases, [&](PlaceId P) {
        return M.load(P).History & history::Leaf;
      });
  if (!Throws)
    M.emitStore(Site, Bases, Stored,
                Accumulates ? StoreKind::Accumulate : StoreKind::InPlace,
                Operand);
  // The whole tensor is rewritten only when it is written as a whole.
  const bool IsWhole = !D.Objects.empty() && Bases.size() == 1;
  for (PlaceId P : Bases) {
    Value New = M.load(P);
    // A leaf is written under a guard, and is the same leaf afterwards.
    const bool Replaces = IsWhole && !M.places().isSummary(P);
    const bool IsLeaf = New.History == history::Leaf;
    write(M, Stored, IsWhole, New);
    if (Replaces || IsLeaf)
      M.state().Places[P] = std::move(New);
    else
      M.storeWeak(P, New);
  }
}

static OperationCall operands(Machine &M, const CallSite &Site) {
  OperationCall Result;
  Result.Call = Site.Call;
  Result.Op = Site.Kind.Op;
  if (Site.Object)
    Result.Operands.push_back(Site.Object);
  for (const Expr *Argument : Site.Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      Result.Operands.push_back(Argument);
  for (const Expr *Operand : Result.Operands)
    Result.Values.push_back(M.operandValue(Operand));
  return Result;
}

static Denotation detachInPlace(Machine &M, const OperationCall &Call) {
  const Expr *Target = Call.Operands.front();
  // A leaf needs no gradient from then on: parameters that are frozen so.
  autograd::detachLeaves(M, M.identity(Target));
  const PlaceSet Detached = M.denoteOperand(Target).Objects;
  M.emitRelease(Call.Call, Detached, StoreKind::InPlace);
  for (PlaceId P : Detached) {
    Value V = M.load(P);
    V.detach();
    V.forgetNeeds();
    M.store(P, V);
  }
  detachThroughReference(M, Target, nullptr, Detached);
  Denotation Result = M.denoteOperand(Target);
  // x.clone().detach_(): a temporary has no place that would say so.
  if (Result.Objects.empty()) {
    Result.Own.detach();
    Result.Own.forgetNeeds();
  }
  return Result;
}

/// add_, zero_, copy_ and their like, which return what they have written.
static Denotation writeSelf(Machine &M, const OperationCall &Call,
                            Value Written) {
  const Operation &Op = *Call.Op;
  const Expr *Target = Call.Operands.front();
  const PlaceSet Places = M.identity(Target);
  if (M.isGradient(Places)) {
    if (torch::replacesContent(Op))
      autograd::emitCleared(M, Call.Call, Places);
    return M.denoteOperand(Target);
  }
  if (torch::changesNoData(Op)) {
    if (Call.Operands.size() > 1) {
      devices::replaceData(M, Target);
      extent::replaceStorage(M, Target);
    }
    return M.denoteOperand(Target);
  }
  if (torch::replacesStorage(Op))
    for (PlaceId P : M.denoteOperand(Target).Objects)
      loans::endMemory(M, P, EndKind::Reallocation, Call.Call);
  if (!torch::changesHistoryOnly(Op)) {
    M.emitWrite(Call.Call, Target, Written);
    if (!torch::replacesStorage(Op))
      saved::overwrite(M, Call.Call, Target);
    // What may be recorded may throw.
    if (!(Written.History & history::Graph))
      optimizers::stepByHand(M, Call.Call, Target,
                             llvm::ArrayRef(Call.Operands).drop_front());
  }
  if (torch::isDetachInPlace(Op))
    return detachInPlace(M, Call);
  if (torch::replacesContent(Op) && Call.Operands.size() <= 1)
    Written.History = recorded(M, {Call.Values.front().History});
  writeInPlace(M, Call.Call, Target, Written, torch::isAccumulating(Op),
               Call.Operands.size() > 1 ? Call.Operands[1] : nullptr);
  saved::keepWritten(M, Call);
  if (torch::replacesStorage(Op))
    extent::replaceStorage(M, Target);
  Denotation Result = M.denoteOperand(Target);
  // torch::ones({1, 1}).fill_(token): a temporary has no place to be written.
  if (Result.Objects.empty() && Result.Own.ViewOf.empty())
    write(M, Written, /*IsWhole=*/true, Result.Own);
  return Result;
}

/// A new tensor, which is none of the operands and shares no memory with them.
static bool makesTensor(const Operation &Op) {
  return Op.View == torch::Tri::No && Op.Writes == op::NoArgument &&
         Op.Returns == op::Tensor && !torch::mayReturnItself(Op) &&
         !torch::isTransfer(Op);
}

/// relu(x), x * 2, x.clone(): as large as x.
static bool keepsSize(const OperationCall &Call) {
  return torch::isPointwise(*Call.Op) ||
         torch::isClone(Call.Call->getDirectCallee()) ||
         (torch::isElementwise(*Call.Op) && Call.Operands.size() > 1 &&
          !torch::isTensor(Call.Operands[1]->getType()));
}

static void tellLink(Machine &M, const OperationCall &Call, size_t Operand,
                     const Value &Result) {
  M.emit<ChainEvent>(Call.Call, [&](ChainEvent &E) {
    E.Operand = Call.Operands[Operand];
    E.OfOperand = Call.Values[Operand];
    E.Result = Result;
  });
}

/// The operation that makes an operand where it stands; null where none does.
static const Operation *makerOf(const OperationCall &Call, size_t Operand) {
  const auto *Made = dyn_cast<CallExpr>(ast::strip(Call.Operands[Operand]));
  return Made && torch::isTensor(Made->getType()) ? torch::classify(Made).Op
                                                  : nullptr;
}

/// Operations that go on with what was just made, and sums of a product.
static void tellChain(Machine &M, const OperationCall &Call,
                      const Value &Result) {
  if (!M.isRecording() || Call.Operands.empty())
    return;
  if (makesTensor(*Call.Op) && keepsSize(Call)) {
    const Operation *Before = makerOf(Call, 0);
    if (Before && makesTensor(*Before))
      tellLink(M, Call, 0, Result);
  } else if ((torch::isSum(*Call.Op) || torch::isAccumulating(*Call.Op)) &&
             llvm::count_if(Call.Operands, [](const Expr *Each) {
               return torch::isTensor(Each->getType());
             }) == 2) {
    for (size_t I = 0; I < Call.Operands.size(); ++I)
      if (const Operation *Before = makerOf(Call, I);
          Before && torch::isScaling(*Before))
        tellLink(M, Call, I, Result);
  }
}

static Denotation writeOut(Machine &M, const CallSite &Site, Value Written) {
  const Expr *Target = torch::writesLastArgument(*Site.Kind.Op)
                           ? Site.Arguments.back()
                           : Site.Arguments.front();
  Written.History = history::None; // out= refuses to be recorded
  M.emitWrite(Site.Call, Target);
  saved::overwrite(M, Site.Call, Target);
  for (PlaceId P : M.denote(Target).Objects)
    M.storeWeak(P, Written);
  return M.denote(Target);
}

/// Of max(dim), topk and their like the second result holds indices.
static Denotation valuesAndIndices(Machine &M, const CallExpr *Call,
                                   const Value &Values) {
  const PlaceId Pair = M.madeBy(Call);
  M.erase(Pair);
  M.store(M.places().index(Pair, 0), Values);
  Value Indices = Value::withHistory(history::None);
  addDecision(M, Indices, Values);
  // They were computed from the same copies to the host.
  Indices.joinCopies(Values);
  Indices.setDevice(Values);
  M.store(M.places().index(Pair, 1), Indices);
  Denotation Result;
  Result.Objects = {Pair};
  return Result;
}

Denotation call(Machine &M, const CallSite &Site) {
  const Operation &Op = *Site.Kind.Op;
  const OperationCall Call = operands(M, Site);
  Value Computed = resultOf(M, Call);
  devices::meet(M, Op, Site.Call, Call.Operands);
  autocast::emitCasts(M, Site.Call, torch::keptCasts(Op), Call.Operands);
  autocast::emitUses(M, Site.Call, Op, Call.Operands);
  device::startCopy(M, Call, Computed);
  saved::keep(M, Call, Computed);
  layouts::tell(M, Call);
  losses::tell(M, Call.Call, Op, Call.Operands);
  tellChain(M, Call, Computed);
  if (Op.Writes == op::Self && !Call.Operands.empty())
    return writeSelf(M, Call, std::move(Computed));
  if (Op.Writes == op::Out && !Site.Arguments.empty())
    return writeOut(M, Site, std::move(Computed));
  Denotation Result;
  if (Op.Returns == op::Scalar || Op.Returns == op::Nothing) {
    Result.Own.DecidedBy = std::move(Computed.DecidedBy);
    return Result;
  }
  if (torch::returnsIndices(Op) &&
      torch::kindOf(Site.Call->getType()) == TypeKind::Aggregate)
    return valuesAndIndices(M, Site.Call, Computed);
  Result.Own = std::move(Computed);
  return Result;
}

} // namespace torchtidy::model::operations
