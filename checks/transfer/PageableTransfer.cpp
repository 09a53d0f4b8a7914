#include "transfer/PageableTransfer.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"
#include "queries/loops/Once.h"
#include "queries/memory/Sizes.h"
#include "torch/Devices.h"
#include "torch/Scalars.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// Of so few bytes CUDA takes a copy of its own, and returns at once ("memory
/// copies from host to device of a memory block of 64 KB or less": CUDA C++
/// Programming Guide, asynchronous concurrent execution).
static constexpr uint64_t StagedBytes = uint64_t(64) * 1024;

static bool isPageable(const TransferEvent &Transfer) {
  return Transfer.IsNonBlocking && mayLeaveCpu(Transfer) &&
         Transfer.Result.OnDevice.get() != Device::Other &&
         Transfer.Input.isOnCpu() &&
         Transfer.Input.Host == hostmemory::Pageable;
}

static bool isStaged(const Execution &Entry, const Value &V) {
  const unsigned Known = torch::scalarSize(V.Scalar.get().value_or(""));
  constexpr unsigned Widest = 8;
  return isKnownBelow(Entry, V, StagedBytes / (Known ? Known : Widest) + 1);
}

/// Tensors of ordinary memory may be pinned then.
static bool pinsWhatItHas(Program &Program) {
  bool Found = false;
  auto Look = [&](const Stmt *S) {
    Found = Found || ast::anyStmt(
                         S,
                         [](const Stmt *Part) {
                           const auto *Call = dyn_cast<CallExpr>(Part);
                           return Call && torch::pinsGivenMemory(
                                              Call->getDirectCallee());
                         },
                         ast::Lambdas::Enter);
  };
  forEachBody(Program.code().functions(), Look,
              [&](const CXXCtorInitializer &Init) { Look(Init.getInit()); });
  return Found;
}

static void addTo(std::vector<PageableTransfer> &Result, const Execution &Entry,
                  const TransferEvent &Transfer) {
  const auto Loops = Entry.loopsAround(Transfer.Point);
  const flow::Loop *Around = Loops.empty() ? nullptr : Loops.back();
  for (PageableTransfer &Known : Result)
    if (Known.Entry == &Entry && Known.Around == Around &&
        Known.Transfer->In == Transfer.In) {
      Known.Others.push_back(&Transfer);
      return;
    }
  Result.push_back({&Entry, &Transfer, Around, {}});
}

std::vector<PageableTransfer> pageableTransfers(Program &Program) {
  std::vector<PageableTransfer> Result;
  if (!mayUseDevice(Program) || pinsWhatItHas(Program))
    return Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>())
      if (isPageable(Transfer) && !happensOnce(*Entry, Transfer) &&
          !isStaged(*Entry, Transfer.Input))
        addTo(Result, *Entry, Transfer);
  return Result;
}

} // namespace torchtidy::model
