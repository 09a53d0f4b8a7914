#include "transfer/AllocateOnDevice.h"
#include "ast/Expressions.h"
#include "queries/devices/DeviceBranches.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/Loops.h"
#include "queries/loops/Once.h"
#include "queries/memory/Sizes.h"
#include "queries/paths/Uses.h"
#include "torch/Api.h"
#include "torch/Factories.h"
#include "torch/Waiting.h"

using namespace clang;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

static const torch::Operation *factoryOf(const CallExpr *Call) {
  const torch::Operation *Op = Call ? torch::classify(Call).Op : nullptr;
  return Op && (Op->has(op::Factory) || Op->has(op::LikeFactory)) &&
                 !torch::isMadeFromData(*Op)
             ? Op
             : nullptr;
}

/// torch::zeros(..).requires_grad_(): what is asked for a gradient there.
static const Expr *withoutWishes(const Expr *E) {
  E = ast::stripCopies(E);
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  return Call && torch::classify(Call).Kind == torch::Api::RequiresGrad
             ? ast::stripCopies(Call->getImplicitObjectArgument())
             : E;
}

/// How many elements it is known to have.
static std::optional<uint64_t> elementsOf(const Execution &Entry,
                                          const HostAllocation &Found) {
  for (const AllocateEvent &Allocate : Entry.events<AllocateEvent>())
    if (Allocate.Site == Found.Factory && Allocate.In == Found.Transfer->In)
      return knownElements(Entry, Allocate);
  return std::nullopt;
}

/// Once in the life of the program, or of an object, or before many passes of a
/// network, or a few bytes. Of nothing at all, empty({0}), there is nothing to
/// copy.
static bool isMadeOnce(const Execution &Entry, const HostAllocation &Found) {
  if (happensOnce(Entry, *Found.Transfer) || isOutweighed(Entry, Found.Around))
    return true;
  const uint64_t Few = Found.Around ? 1 : SmallElements;
  return elementsOf(Entry, Found).value_or(Few) < Few;
}

static bool isLarge(const Execution &Entry, const HostAllocation &Found) {
  return elementsOf(Entry, Found).value_or(0) >= LargeElements;
}

/// What a tensor of a device is asked for on the host.
static bool isAnswer(const WaitEvent &Wait) {
  if (!Wait.Of.mayBeElsewhere())
    return false;
  switch (torch::waitOf(dyn_cast<CallExpr>(Wait.Site))) {
  case torch::Wait::Number:
  case torch::Wait::Text:
  case torch::Wait::Shape:
    return true;
  case torch::Wait::Copy:
    return Wait.Result.isOnCpu();
  default:
    return false;
  }
}

/// A loop beside it, in the function that makes it, waits for the device in its
/// iterations: for a number, a size, or a copy from memory that is not pinned.
/// One wait more for all of these cannot be told from them.
static bool isBesideWaits(const Execution &Entry, const HostAllocation &Found) {
  const TransferEvent &Own = *Found.Transfer;
  const auto IsRepeatedBeside = [&](const Event &E) {
    const auto Around = Entry.loopsAround(E.Point);
    return !Around.empty() && !Around.back()->contains(Own.Point) &&
           E.In->isWithin(Own.In) &&
           (!Found.Around || Found.Around->contains(E.Point));
  };
  return llvm::any_of(Entry.events<WaitEvent>(),
                      [&](const WaitEvent &E) {
                        return IsRepeatedBeside(E) && isAnswer(E);
                      }) ||
         llvm::any_of(
             Entry.events<TransferEvent>(), [&](const TransferEvent &E) {
               return IsRepeatedBeside(E) && !E.IsNonBlocking &&
                      mayLeaveCpu(E) && E.Input.OnDevice.get() == Device::CPU;
             });
}

static std::optional<HostAllocation>
hostAllocationAt(const Execution &Entry, const TransferEvent &Transfer) {
  const auto *Moves = dyn_cast<CXXMemberCallExpr>(Transfer.Site);
  const flow::ControlFlow *Flow = Transfer.In->Flow;
  if (!Moves || !Flow || !mayLeaveCpu(Transfer) ||
      Transfer.Input.OnDevice.get() != Device::CPU)
    return std::nullopt;
  HostAllocation Result;
  Result.Entry = &Entry;
  Result.Transfer = &Transfer;
  Result.Moves = Moves;
  const Expr *Source = withoutWishes(Moves->getImplicitObjectArgument());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Source)) {
    Result.Variable = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Result.Variable || !isNextUse(*Flow, Result.Variable, Moves))
      return std::nullopt;
    Source = withoutWishes(Result.Variable->getInit());
  }
  Result.Factory = dyn_cast<CallExpr>(Source);
  const torch::Operation *Op = factoryOf(Result.Factory);
  if (!Op || torch::saysGenerator(Result.Factory))
    return std::nullopt;
  Result.IsRandom = Op->has(op::Random);
  const auto Around = Entry.loopsAround(Transfer.Point);
  Result.Around = Around.empty() ? nullptr : Around.back();
  if (isMadeOnce(Entry, Result) || isForCpu(Moves, Transfer.In))
    return std::nullopt;
  const bool IsSmall =
      elementsOf(Entry, Result).value_or(SmallElements) < SmallElements;
  Result.IsStrictOnly =
      (!Result.Around && !isCalledRepeatedly(*Transfer.In)) ||
      (!isPartOfTraining(Entry, Transfer) && IsSmall) ||
      (isBesidePasses(Entry, Transfer) && !isLarge(Entry, Result));
  Result.IsMinor =
      IsSmall || (!isLarge(Entry, Result) && isBesideWaits(Entry, Result));
  return Result;
}

std::vector<HostAllocation> hostAllocations(Program &Program) {
  std::vector<HostAllocation> Result;
  if (!mayUseDevice(Program))
    return Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>())
      if (auto Found = hostAllocationAt(*Entry, Transfer))
        Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
