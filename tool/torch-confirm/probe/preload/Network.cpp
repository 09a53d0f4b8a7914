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
                   uint32_t Flags) {
  if (Told == trace::MaxNetwork)
    return;
  trace::NetworkTensor &To = reinterpret_cast<trace::NetworkTensor *>(
      reinterpret_cast<char *>(Trace) + trace::NetworkAt)[Told++];
  To.Name = keepText(Name);
  To.Type = keepText(Type);
  To.Device = keepText(Device);
  To.Shape = keepText(Shape);
  To.Bytes = Bytes;
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

} // namespace torchtidy::confirm::probe
