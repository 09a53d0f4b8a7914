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
  Result.IsMinor =
      elementsOf(Entry, Result).value_or(SmallElements) < SmallElements;
  Result.IsStrictOnly =
      (!Result.Around && !isCalledRepeatedly(*Transfer.In)) ||
      (!isPartOfTraining(Entry, Transfer) && Result.IsMinor) ||
      (isBesidePasses(Entry, Transfer) && !isLarge(Entry, Result));
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
