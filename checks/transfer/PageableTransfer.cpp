#include "transfer/PageableTransfer.h"
#include "queries/DeviceUse.h"
#include "queries/Transfers.h"

using namespace clang;

namespace torchtidy::model {

static bool isPageable(const TransferEvent &Transfer) {
  return Transfer.IsNonBlocking && mayLeaveCpu(Transfer) &&
         Transfer.Result.OnDevice.get() != Device::Other &&
         Transfer.Input.isOnCpu() &&
         Transfer.Input.Host == hostmemory::Pageable;
}

std::vector<PageableTransfer> pageableTransfers(Program &Program) {
  std::vector<PageableTransfer> Result;
  if (!mayUseDevice(Program))
    return Result;
  for (const Execution *Entry : Program.executionsBesideTests())
    for (const TransferEvent &Transfer : Entry->events<TransferEvent>())
      if (isPageable(Transfer))
        Result.push_back({Entry, &Transfer});
  return Result;
}

} // namespace torchtidy::model
