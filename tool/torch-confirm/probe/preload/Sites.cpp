#include "Sites.h"

#include "File.h"

#include <cstring>

#include <dlfcn.h>
#include <malloc.h>

namespace torchtidy::confirm::probe {
namespace {

using trace::MaxFrames;
using trace::MaxSamples;
using trace::MaxSeries;
using trace::MaxSites;

// Twice the number of sites, so that searches are short. 0 is free.
constexpr uint32_t IndexSize = 2 * MaxSites;
std::atomic<uint32_t> *Index;
SpinLock SiteLock;

constexpr uint32_t TextIndexSize = 1 << 15;
std::atomic<TextOffset> *TextIndex;
SpinLock TextLock;

SpinLock SeriesLock;

uint64_t mix(uint64_t Hash, uint64_t Value) {
  Hash = (Hash ^ Value) * 0x9E3779B97F4A7C15ull;
  return Hash ^ Hash >> 29;
}

TextOffset append(const char *Text, size_t Size) {
  const uint32_t Used = Trace->TextUsed.load(std::memory_order_relaxed);
  if (Used + Size + 1 > trace::TextSize)
    return 0;
  char *Section = reinterpret_cast<char *>(Trace) + trace::TextAt;
  std::memcpy(Section + Used, Text, Size);
  Section[Used + Size] = 0;
  Trace->TextUsed.store(static_cast<uint32_t>(Used + Size + 1),
                        std::memory_order_relaxed);
  return Used;
}

bool isSame(const trace::Site &Site, trace::SiteKind Kind, TextOffset Operation,
            const uintptr_t *Frames, uint32_t FrameCount) {
  return Site.Kind == Kind && Site.Operation == Operation &&
         Site.FrameCount == FrameCount &&
         std::memcmp(Site.Frames, Frames, FrameCount * sizeof(*Frames)) == 0;
}

/// As many frames as the table has room for.
uint32_t roomFor(uint32_t FrameCount) {
  const uint32_t Used = Trace->SiteCount.load(std::memory_order_relaxed);
  if (Used < MaxSites / 2)
    return FrameCount;
  const uint32_t Most = Used < MaxSites / 4 * 3   ? 8
                        : Used < MaxSites / 8 * 7 ? 3
                                                  : 0;
  return FrameCount < Most ? FrameCount : Most;
}

uint64_t hashOf(trace::SiteKind Kind, TextOffset Operation,
                const uintptr_t *Frames, uint32_t FrameCount) {
  uint64_t Hash = mix(static_cast<uint64_t>(Kind) + 1, Operation);
  for (uint32_t I = 0; I < FrameCount; ++I)
    Hash = mix(Hash, Frames[I]);
  return Hash;
}

/// The site, or 0 and where it would go.
uint32_t find(uint64_t Hash, trace::SiteKind Kind, TextOffset Operation,
              const uintptr_t *Frames, uint32_t FrameCount, uint32_t &Slot) {
  for (Slot = Hash & (IndexSize - 1);; Slot = (Slot + 1) & (IndexSize - 1)) {
    const uint32_t Site = Index[Slot].load(std::memory_order_acquire);
    if (!Site || isSame(siteAt(Site), Kind, Operation, Frames, FrameCount))
      return Site;
  }
}

trace::Series &seriesAt(uint32_t Series) {
  return reinterpret_cast<trace::Series *>(reinterpret_cast<char *>(Trace) +
                                           trace::SeriesAt)[Series];
}

uint32_t newSeries() {
  Locked Lock(SeriesLock);
  const uint32_t Next = Trace->SeriesCount.load(std::memory_order_relaxed);
  if (Next >= MaxSeries || !reserveSeries(Next))
    return trace::None;
  Trace->SeriesCount.store(Next + 1, std::memory_order_relaxed);
  seriesAt(Next).Stride = 1;
  return Next;
}

void keep(trace::Series &Series, const trace::Sample &Sample) {
  if ((Sample.Hit - 1) & (Series.Stride - 1))
    return;
  uint32_t Size = Series.Size.load(std::memory_order_relaxed);
  if (Size == MaxSamples) {
    Series.Size.store(0, std::memory_order_release);
    for (uint32_t I = 0; I < MaxSamples / 2; ++I)
      Series.Samples[I] = Series.Samples[2 * I];
    Series.Stride *= 2;
    Size = MaxSamples / 2;
    if ((Sample.Hit - 1) & (Series.Stride - 1)) {
      Series.Size.store(Size, std::memory_order_release);
      return;
    }
  }
  Series.Samples[Size] = Sample;
  Series.Size.store(Size + 1, std::memory_order_release);
}

/// Since the start of this process's trace.
std::atomic<uint64_t> AskHeapAt;
std::atomic<uint32_t> IsAskingHeap;

/// mallinfo() walks through what is free, which becomes long where much was
/// freed: it is asked as often as it takes a fiftieth of the time at most, and
/// the answer holds in between.
int64_t heapBytes(uint64_t Now) {
  if (!Trace->SamplesHeap)
    return -1;
  constexpr uint64_t ShareOfTime = 50;
  static std::atomic<int64_t> Known{-1};
  if (Now < AskHeapAt.load(std::memory_order_relaxed) ||
      IsAskingHeap.exchange(1, std::memory_order_acquire))
    return Known.load(std::memory_order_relaxed);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 Info = mallinfo2();
#else
  const struct mallinfo Info = mallinfo();
#endif
  const int64_t Bytes =
      static_cast<int64_t>(Info.uordblks) + static_cast<int64_t>(Info.hblkhd);
  const uint64_t End = nanoseconds() - startNanoseconds();
  Known.store(Bytes, std::memory_order_relaxed);
  AskHeapAt.store(End + (End - Now) * ShareOfTime, std::memory_order_relaxed);
  IsAskingHeap.store(0, std::memory_order_release);
  return Bytes;
}

template <typename T> T now(const std::atomic<T> &Counter) {
  return Counter.load(std::memory_order_relaxed);
}

} // namespace

bool prepareSites() {
  Index =
      static_cast<std::atomic<uint32_t> *>(reserve(IndexSize * sizeof(*Index)));
  TextIndex = static_cast<std::atomic<TextOffset> *>(
      reserve(TextIndexSize * sizeof(*TextIndex)));
  return Index && TextIndex;
}

void resetSiteLocks() {
  SiteLock.reset();
  TextLock.reset();
  SeriesLock.reset();
  // The clock of the child's trace begins anew.
  AskHeapAt.store(0);
  IsAskingHeap.store(0);
}

void sealSites() {
  Locked Lock(SeriesLock);
  sealTrace();
}

TextOffset appendText(const char *Text) {
  Locked Lock(TextLock);
  return append(Text, std::strlen(Text));
}

TextOffset keepText(const char *Text) {
  const size_t Size = std::strlen(Text);
  uint64_t Hash = Size;
  for (size_t I = 0; I < Size; ++I)
    Hash = mix(Hash, static_cast<unsigned char>(Text[I]));
  Locked Lock(TextLock);
  for (uint32_t Tries = 0; Tries < 256; ++Tries) {
    std::atomic<TextOffset> &Slot =
        TextIndex[(Hash + Tries) & (TextIndexSize - 1)];
    const TextOffset Known = Slot.load(std::memory_order_relaxed);
    if (Known && std::strcmp(textAt(Known), Text) == 0)
      return Known;
    if (!Known) {
      const TextOffset New = append(Text, Size);
      Slot.store(New, std::memory_order_relaxed);
      return New;
    }
  }
  return 0;
}

uint32_t siteOf(trace::SiteKind Kind, TextOffset Operation,
                const uintptr_t *Frames, uint32_t FrameCount) {
  if (FrameCount > MaxFrames)
    FrameCount = MaxFrames;
  uint32_t Slot;
  uint64_t Hash = hashOf(Kind, Operation, Frames, FrameCount);
  if (uint32_t Known = find(Hash, Kind, Operation, Frames, FrameCount, Slot))
    return Known;

  const uint32_t Kept = roomFor(FrameCount);
  if (Kept != FrameCount)
    Hash = hashOf(Kind, Operation, Frames, Kept);
  Locked Lock(SiteLock);
  if (uint32_t Known = find(Hash, Kind, Operation, Frames, Kept, Slot))
    return Known;
  // Site 0 is none.
  const uint32_t New = Trace->SiteCount.load(std::memory_order_relaxed) + 1;
  if (New >= MaxSites)
    return 0;
  Trace->SiteCount.store(New, std::memory_order_relaxed);
  trace::Site &Site = siteAt(New);
  Site.State.store(1, std::memory_order_relaxed);
  Site.Kind = Kind;
  Site.Operation = Operation;
  Site.FrameCount = Kept;
  Site.IsShortened = Kept != FrameCount;
  Site.Series.store(trace::None, std::memory_order_relaxed);
  std::memcpy(Site.Frames, Frames, Kept * sizeof(*Frames));
  Site.State.store(2, std::memory_order_release);
  Index[Slot].store(New, std::memory_order_release);
  return New;
}

uint64_t hit(uint32_t At) {
  if (!At) {
    bump(Trace->Unattributed);
    return 0;
  }
  trace::Site &Site = siteAt(At);
  const uint64_t Hit = Site.Hits.fetch_add(1, std::memory_order_relaxed) + 1;
  const int64_t Own = now(Site.LiveBytes) + now(Site.CudaLiveBytes);
  if (Hit == 2)
    Site.OwnAtSecond.store(Own, std::memory_order_relaxed);
  raise(Site.MostOwnAtHit, Own);
  if (Site.SampleLock.exchange(1, std::memory_order_acquire))
    return 0;
  const uint32_t Next = now(Site.LastIndex) + 1;
  trace::Sample &Sample = Site.Last[Next & 1];
  Sample.Hit = Hit;
  const uint64_t Time = nanoseconds() - startNanoseconds();
  Sample.Nanoseconds = Time;
  Sample.CpuBytes = now(Trace->LiveCpuBytes);
  Sample.CudaBytes = now(Trace->LiveCudaBytes);
  Sample.Nodes = now(Trace->NodesAlive);
  Sample.HeapBytes = heapBytes(Sample.Nanoseconds);
  Sample.Allocations = now(Trace->Allocations);
  Sample.AllocatedBytes = now(Trace->AllocatedBytes);
  Sample.Copies = now(Trace->Copies);
  Sample.CopiedBytes = now(Trace->CopiedBytes);
  Sample.NodesMade = now(Trace->NodesMade);
  Sample.Synchronisations = now(Trace->Synchronisations);
  Site.LastIndex.store(Next, std::memory_order_release);
  Trace->LastHit.store(Sample.Nanoseconds, std::memory_order_relaxed);

  const int64_t Live = Sample.CpuBytes + Sample.CudaBytes;
  if (Next == 1 || Live < now(Site.LeastLive))
    Site.LeastLive.store(Live, std::memory_order_relaxed);
  if (Next == 1 || Live > now(Site.MostLive))
    Site.MostLive.store(Live, std::memory_order_relaxed);
  if (Next == 1) {
    Site.First = Sample;
  } else {
    uint32_t Series = now(Site.Series);
    if (Series == trace::None && Next == 2) {
      Series = newSeries();
      if (Series != trace::None) {
        keep(seriesAt(Series), Site.First);
        Site.Series.store(Series, std::memory_order_release);
      }
    }
    if (Series != trace::None)
      keep(seriesAt(Series), Sample);
  }
  Site.SampleLock.store(0, std::memory_order_release);
  return Time;
}

} // namespace torchtidy::confirm::probe
