#include "transfer/DeviceRoundTrip.h"
#include "queries/devices/DeviceUse.h"
#include "queries/devices/Transfers.h"

using namespace clang;

namespace torchtidy::model {

static bool isCopyOf(const Value &V, const TransferEvent &Down) {
  return llvm::is_contained(V.HostCopies, Down.Memory);
}

/// From where something may be that is not the CPU, to the CPU.
static bool comesDown(const TransferEvent &Transfer) {
  return Transfer.MovesDevice && Transfer.Result.isOnCpu() &&
         Transfer.Input.saysDevice() && !Transfer.Input.isOnCpu();
}

/// To go through the numbers one by one is the host's work.
static bool isWrittenInside(const Execution &Entry, const WriteEvent &Write,
                            const TransferEvent &Down) {
  return isCopyOf(Write.Before, Down) &&
         Entry.loopsAround(Write.Point).size() >
             Entry.loopsAround(Down.Point).size();
}

/// The host has a use for it.
static bool isNeeded(const Execution &Entry, const TransferEvent &Down) {
  for (const HostReadEvent &Read : Entry.events<HostReadEvent>())
    if (llvm::is_contained(Read.Copies, Down.Memory))
      return true;
  for (const EscapeEvent &Escape : Entry.events<EscapeEvent>())
    if (isCopyOf(Escape.Given, Down))
      return true;
  for (const WriteEvent &Write : Entry.events<WriteEvent>())
    if (isWrittenInside(Entry, Write, Down))
      return true;
  return false;
}

static bool goesUp(const Execution &Entry, const TransferEvent &Down,
                   const TransferEvent &Up) {
  return mayLeaveCpu(Up) && isCopyOf(Up.Input, Down) &&
         Up.Input.SinceCopy == sincecopy::Computed &&
         Entry.comesBefore(Down.Point, Up.Point);
}

/// Both operands of a product come down for it: one round trip.
static RoundTrip *withSameUp(std::vector<RoundTrip> &All,
                             const RoundTrip &Found) {
  for (RoundTrip &Known : All)
    if (Known.Entry == Found.Entry && Known.Up.front() == Found.Up.front())
      return &Known;
  return nullptr;
}

std::vector<RoundTrip> roundTrips(Program &Program) {
  std::vector<RoundTrip> Result;
  if (!mayUseDevice(Program))
    return Result;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const TransferEvent &Down : Entry->events<TransferEvent>()) {
      if (!comesDown(Down))
        continue;
      RoundTrip Found;
      Found.Entry = Entry;
      Found.Down = &Down;
      for (const TransferEvent &Up : Entry->events<TransferEvent>())
        if (goesUp(*Entry, Down, Up))
          Found.Up.push_back(&Up);
      if (Found.Up.empty() || isNeeded(*Entry, Down))
        continue;
      if (RoundTrip *Same = withSameUp(Result, Found))
        Same->DownAsWell.push_back(&Down);
      else
        Result.push_back(std::move(Found));
    }
  return Result;
}

} // namespace torchtidy::model
