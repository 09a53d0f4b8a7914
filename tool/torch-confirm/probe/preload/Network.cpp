// The tensors of the network, as they are told by torch/Network.cpp.

#include "Allocations.h"
#include "Sites.h"
#include "Timeline.h"

namespace torchtidy::confirm::probe {
namespace {

std::atomic<uint32_t> IsTold;
/// Of the rows that are being written.
uint32_t Told;
bool HasStarted;

trace::NetworkTensor *rows() {
  return reinterpret_cast<trace::NetworkTensor *>(
      reinterpret_cast<char *>(Trace) + trace::NetworkAt);
}

} // namespace

bool networkBegins() {
  if (!hasTimeline() || IsTold.exchange(1, std::memory_order_acquire))
    return false;
  Told = 0;
  HasStarted = false;
  return true;
}

void networkStarts() {
  HasStarted = true;
  Trace->NetworkSize.store(0);
}

void networkTensor(const char *Name, const char *Type, const char *Device,
                   const char *Shape, int64_t Bytes, const void *Memory,
                   uint32_t Flags, int64_t StateBytes) {
  if (Told == trace::MaxNetwork)
    return;
  trace::NetworkTensor &To = rows()[Told++];
  To.Name = keepText(Name);
  To.Type = keepText(Type);
  To.Device = keepText(Device);
  To.Shape = keepText(Shape);
  To.Bytes = Bytes;
  To.StateBytes = StateBytes;
  To.Memory = reinterpret_cast<uint64_t>(Memory);
  To.Site = siteOfBlock(Memory);
  To.IsBuffer = (Flags & IsBuffer) != 0;
  To.NeedsGradient = (Flags & NeedsGradient) != 0;
  To.HasGradient = (Flags & HasGradient) != 0;
}

void networkEnds() {
  if (HasStarted)
    Trace->NetworkSize.store(Told);
  IsTold.store(0, std::memory_order_release);
}

void networkStepped(const void *Memory, bool HasGradient, int64_t StateBytes) {
  if (!hasTimeline() || IsTold.exchange(1, std::memory_order_acquire))
    return;
  // An optimizer has them mostly in the order of the network.
  static uint32_t Next;
  const uint32_t Size = Trace->NetworkSize.load(std::memory_order_relaxed);
  for (uint32_t I = 0; I < Size; ++I) {
    trace::NetworkTensor &Row = rows()[(Next + I) % Size];
    if (Row.IsBuffer || Row.Memory != reinterpret_cast<uint64_t>(Memory))
      continue;
    Row.HasGradient |= HasGradient;
    Row.StateBytes = StateBytes;
    Next = (Next + I + 1) % Size;
    break;
  }
  IsTold.store(0, std::memory_order_release);
}

} // namespace torchtidy::confirm::probe
