#include "Marks.h"

#include "Sites.h"
#include "Stacks.h"

#include <cstdio>
#include <cstring>

#define TORCH_CONFIRM_PROBE
#include "../torch_confirm.h"

namespace torchtidy::confirm::probe {

std::atomic<uint32_t> OpenMarks;

namespace {

/// A loop that runs. Slots are taken and given back; peaks are written by all
/// threads.
struct Running {
  std::atomic<uint32_t> Site;
  int64_t CpuAtBegin, CudaAtBegin;
};
constexpr uint32_t MaxRunning = 32;
Running Slots[MaxRunning];
/// Slots from here on were never used.
std::atomic<uint32_t> SlotsUsed;
SpinLock SlotLock;

int64_t now(const trace::Gauge &Counter) {
  return Counter.load(std::memory_order_relaxed);
}

constexpr uint32_t MaxOwn = sizeof(Self.Marks) / sizeof(*Self.Marks);

TextOffset nameOf(const char *Loop) {
  char Name[256];
  snprintf(Name, sizeof(Name), "mark:%s", Loop ? Loop : "");
  return keepText(Name);
}

/// The slot of the innermost mark of that name that this thread has begun, as
/// its place in Self.Marks; MaxOwn where there is none.
uint32_t placeOf(const char *Loop) {
  char Name[256];
  snprintf(Name, sizeof(Name), "mark:%s", Loop ? Loop : "");
  for (uint32_t I = Self.MarkCount; I-- > 0;) {
    const uint32_t Site = Slots[Self.Marks[I]].Site.load();
    if (Site && std::strcmp(textAt(siteAt(Site).Operation), Name) == 0)
      return I;
  }
  return MaxOwn;
}

void begin(uint32_t Site) {
  if (Self.MarkCount == MaxOwn)
    return;
  Locked Lock(SlotLock);
  for (uint32_t I = 0; I < MaxRunning; ++I) {
    if (Slots[I].Site.load(std::memory_order_relaxed))
      continue;
    Slots[I].CpuAtBegin = now(Trace->LiveCpuBytes);
    Slots[I].CudaAtBegin = now(Trace->LiveCudaBytes);
    Slots[I].Site.store(Site, std::memory_order_release);
    if (I >= SlotsUsed.load(std::memory_order_relaxed))
      SlotsUsed.store(I + 1, std::memory_order_release);
    Self.Marks[Self.MarkCount++] = I;
    OpenMarks.fetch_add(1);
    return;
  }
}

trace::Value *valueAt(uint32_t I) {
  return reinterpret_cast<trace::Value *>(reinterpret_cast<char *>(Trace) +
                                          trace::ValuesAt) +
         I;
}

trace::Value *valueOf(uint32_t Site, TextOffset Name) {
  static SpinLock ValueLock;
  Locked Lock(ValueLock);
  for (uint32_t I = 0; I < trace::MaxValues; ++I) {
    trace::Value *Each = valueAt(I);
    if (Each->State.load() == 2) {
      if (Each->Site == Site && Each->Name == Name)
        return Each;
      continue;
    }
    Each->Site = Site;
    Each->Name = Name;
    Each->Stride = 1;
    Each->State.store(2);
    Trace->ValueCount.store(I + 1);
    return Each;
  }
  return nullptr;
}

void keep(trace::Value &Into, double Number) {
  while (Into.Lock.exchange(1, std::memory_order_acquire)) {
  }
  if (Into.Number == 0)
    Into.First = Into.Least = Into.Most = Number;
  Into.Last = Number;
  Into.Sum += Number;
  Into.Least = Number < Into.Least ? Number : Into.Least;
  Into.Most = Number > Into.Most ? Number : Into.Most;
  if (Into.SampleCount == trace::MaxSamples) {
    Into.SampleCount /= 2;
    for (uint32_t I = 0; I < Into.SampleCount; ++I)
      Into.Samples[I] = Into.Samples[2 * I];
    Into.Stride *= 2;
  }
  if (Into.Number % Into.Stride == 0)
    Into.Samples[Into.SampleCount++] = Number;
  ++Into.Number;
  Into.Lock.store(0, std::memory_order_release);
}

} // namespace

void noticePeaksOfMarks() {
  const int64_t Cpu = now(Trace->LiveCpuBytes),
                Cuda = now(Trace->LiveCudaBytes);
  const uint32_t Used = SlotsUsed.load(std::memory_order_acquire);
  for (uint32_t I = 0; I < Used; ++I) {
    const uint32_t At = Slots[I].Site.load(std::memory_order_acquire);
    if (!At)
      continue;
    const int64_t MoreCpu = Cpu - Slots[I].CpuAtBegin,
                  MoreCuda = Cuda - Slots[I].CudaAtBegin;
    trace::Site &Site = siteAt(At);
    raise(Site.PeakCpuBytes, MoreCpu);
    raise(Site.PeakCudaBytes, MoreCuda);
    raise(Site.PeakBytes, MoreCpu + MoreCuda);
  }
}

static __attribute__((noinline)) void beginLoop(const char *Loop) {
  if (!isRecording())
    return;
  begin(siteHere(trace::SiteKind::Mark, nameOf(Loop)));
  // Keeps this frame, the one below the user's, on the stack.
  asm volatile("");
}

static void endIteration(const char *Loop) {
  if (!isRecording())
    return;
  const uint32_t Place = placeOf(Loop);
  if (Place < MaxOwn)
    hit(Slots[Self.Marks[Place]].Site.load());
}

static void endLoop(const char *Loop) {
  if (!isRecording())
    return;
  const uint32_t Place = placeOf(Loop);
  if (Place == MaxOwn)
    return;
  // Those inside it were left by a break or a return.
  while (Self.MarkCount > Place) {
    Slots[Self.Marks[--Self.MarkCount]].Site.store(0);
    OpenMarks.fetch_sub(1);
  }
}

static void keepValue(const char *Name, double Number) {
  if (!isRecording() || !Name)
    return;
  uint32_t Site = 0;
  if (Self.MarkCount)
    Site = Slots[Self.Marks[Self.MarkCount - 1]].Site.load();
  if (!Site)
    Site = siteOf(trace::SiteKind::Mark, nameOf(""), nullptr, 0);
  if (trace::Value *Value = Site ? valueOf(Site, keepText(Name)) : nullptr)
    keep(*Value, Number);
}

extern "C" TORCH_CONFIRM_HOOK const torch_confirm_functions
    torch_confirm_functions;
extern "C" const struct torch_confirm_functions torch_confirm_functions = {
    beginLoop, endIteration, endLoop, keepValue};

} // namespace torchtidy::confirm::probe
