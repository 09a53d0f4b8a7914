#include "model/domains/device/Copies.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Options.h"
#include "torch/Reading.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "torch/Waiting.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Wait;

namespace torchtidy::model::device {

/// What the copy that Call starts writes; none where it starts none.
static AllocationSet written(Machine &M, const OperationCall &Call,
                             const Value &Result) {
  if (torch::isTransfer(*Call.Op))
    return Result.isOnCpu() && !Call.self().isOnCpu()
               ? AllocationSet{M.names().allocation(M.frame(), Call.Call)}
               : AllocationSet();
  if (!torch::copiesInto(*Call.Op) || Call.Values.size() < 2)
    return {};
  const Value &To = Call.Values[0], &From = Call.Values[1];
  const bool IsPinned = To.isOnCpu() && To.Host == hostmemory::Pinned;
  return IsPinned && !From.isOnCpu() && To.Memory.size() == 1 ? To.Memory
                                                              : AllocationSet();
}

void startCopy(Machine &M, const OperationCall &Call, const Value &Result) {
  if (ast::boolAt(torch::nonBlockingArgument(Call.Call), false) != true)
    return;
  UnwaitedCopies &Copies = M.state().Copies;
  for (AllocationId Memory : written(M, Call, Result)) {
    insert(Copies.Started, Memory);
    llvm::erase(Copies.Finished, Memory);
  }
}

/// Of V, what the device may be writing whichever way control came.
static AllocationSet unfinished(Machine &M, const Value &V) {
  const UnwaitedCopies &Copies = M.state().Copies;
  AllocationSet Result;
  for (AllocationId Memory : V.Memory)
    if (llvm::is_contained(Copies.Started, Memory) &&
        !llvm::is_contained(Copies.Finished, Memory))
      Result.push_back(Memory);
  return Result;
}

/// The operands of which the host reads the data.
static llvm::SmallVector<const Expr *, 4>
readOnHost(Machine &M, const CallExpr *Call, const torch::Call &Kind) {
  llvm::SmallVector<const Expr *, 4> Result;
  const Expr *Object = ast::objectOf(Call);
  torch::DataReads Reads = torch::dataReads(Call, Kind);
  if (Kind.Kind == Api::Operation) {
    const torch::Operation &Op = *Kind.Op;
    // What goes to the device goes there in order. contiguous() and its like
    // return a tensor that is in order as it is.
    if (Op.View == torch::Tri::Maybe || Op.has(torch::operation::ChangesDevice))
      return Result;
    if (torch::copiesInto(Op)) {
      Reads.OfArguments = Object && M.operandValue(Object).isOnCpu();
      Reads.OfObject = false;
    }
  }
  if (Object && Reads.OfObject && torch::mayHoldTensor(Object->getType()))
    Result.push_back(Object);
  for (const Expr *Argument : ast::argumentsOf(Call))
    if (Reads.OfArguments && !isa<CXXDefaultArgExpr>(Argument) &&
        torch::mayHoldTensor(Argument->getType()))
      Result.push_back(Argument);
  return Result;
}

static void tellReads(Machine &M, const CallExpr *Call,
                      const torch::Call &Kind) {
  AllocationSet Memory;
  for (const Expr *Operand : readOnHost(M, Call, Kind))
    insert(Memory, unfinished(M, M.operandValue(Operand)));
  if (Memory.empty())
    return;
  M.emit<ReadUnwaitedEvent>(Call, [&](ReadUnwaitedEvent &E) {
    E.Memory = Memory;
    E.IsPointer = Kind.Kind == Api::Library && ast::objectOf(Call);
  });
}

/// When it returns, the device may have done what it was told before.
static bool mayWait(Machine &M, const CallExpr *Call, const torch::Call &Kind,
                    bool IsSeen) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  // What TORCH_CHECK expands to asks __builtin_expect().
  if (Kind.Kind == Api::Foreign)
    return !IsSeen && !(Callee && Callee->getBuiltinID());
  if (Kind.Kind == Api::Std)
    return torch::waitsForThread(Callee);
  if (torch::asksWhetherDone(Callee))
    return true;
  const Wait For = torch::waitOf(Call);
  if (For == Wait::None || For == Wait::Device)
    return For == Wait::Device;
  // The copies are in the stream that it waits for.
  auto MayBeElsewhere = [&](const Expr *E) {
    return !isa<CXXDefaultArgExpr>(E) && torch::mayHoldTensor(E->getType()) &&
           !M.operandValue(E).isOnCpu();
  };
  const Expr *Object = ast::objectOf(Call);
  return (Object && MayBeElsewhere(Object)) ||
         llvm::any_of(ast::argumentsOf(Call), MayBeElsewhere) ||
         !torch::isLibTorch(Callee);
}

void meetCopies(Machine &M, const CallExpr *Call, const torch::Call &Kind,
                bool IsSeen) {
  UnwaitedCopies &Copies = M.state().Copies;
  if (Copies.Started.empty())
    return;
  // Unseen code may wait first.
  if (M.isRecording() && !IsSeen && Kind.Kind != Api::Foreign)
    tellReads(M, Call, Kind);
  if (mayWait(M, Call, Kind, IsSeen))
    insert(Copies.Finished, Copies.Started);
}

} // namespace torchtidy::model::device
