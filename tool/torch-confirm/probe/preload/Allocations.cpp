// Memory of tensors. LibTorch's CPU allocator tells ProfiledCPUMemoryReporter
// of each block, whether profiling is on or not, and the CUDA allocator calls
// reportMemoryUsageToProfiler (both S: c10/core/CPUAllocator.cpp,
// c10/cuda/CUDACachingAllocator.cpp). That profiling is on is never pretended:
// LibTorch would then keep a table of its own that dies before the program's
// static tensors do.

#include "Allocations.h"

#include "Handed.h"
#include "Hooks.h"
#include "KeyTable.h"
#include "Marks.h"
#include "Sites.h"
#include "Stacks.h"
#include "Timeline.h"

#include <dlfcn.h>

namespace torchtidy::confirm::probe {

/// c10::Device: a type and an index, of a byte each, passed by value.
struct Device {
  int8_t Type, Index;
};

namespace {

constexpr int8_t CudaType = 1;

// Of a block, in Row::Extra: whether it is on a device, what has happened to it
// since (each is counted once), and the number of the thread's operation that
// took it.
constexpr uint32_t OnDevice = 1, IsWritten = 2, AreElementsAsked = 4,
                   IsHeldByView = 8, BlockFlags = 15;
uint32_t numberOfOperation() { return Self.Operations << 4; }

KeyTable Blocks;

/// What operations that join tensors have made last, and what others have made
/// before that, and is still there: of each site one.
struct Watched {
  std::atomic<uintptr_t> Block;
  std::atomic<uint32_t> Site;
  std::atomic<bool> IsOld;
};
constexpr uint32_t WatchedCount = 16;
Watched WatchedBlocks[WatchedCount];
std::atomic<uint32_t> NextWatched, WatchedNow;
SpinLock WatchLock;

void watch(uintptr_t Block, uint32_t Site, bool IsOld) {
  Locked Lock(WatchLock);
  Watched *To = nullptr;
  for (Watched &Each : WatchedBlocks)
    if (Each.Site.load(std::memory_order_relaxed) == Site)
      To = &Each;
  if (!To)
    To = &WatchedBlocks[NextWatched.fetch_add(1) % WatchedCount];
  if (!To->Block.exchange(Block))
    WatchedNow.fetch_add(1);
  To->Site.store(Site);
  To->IsOld.store(IsOld);
}

void unwatch(uintptr_t Block) {
  if (!WatchedNow.load(std::memory_order_relaxed))
    return;
  for (Watched &Each : WatchedBlocks) {
    uintptr_t Expected = Block;
    if (Each.Block.compare_exchange_strong(Expected, 0))
      WatchedNow.fetch_sub(1);
  }
}

uint32_t siteOfAllocation() {
  if (Self.Depth)
    return Self.Site;
  static std::atomic<TextOffset> Name;
  TextOffset Text = Name.load(std::memory_order_relaxed);
  if (!Text)
    Name.store(Text = keepText("allocate"), std::memory_order_relaxed);
  const uint32_t Site = siteHere(trace::SiteKind::Allocation, Text);
  hit(Site);
  return Site;
}

void takes(uintptr_t Block, int64_t Size, bool IsCuda) {
  const uint32_t At = siteOfAllocation();
  Blocks.put({Block, Size, At, numberOfOperation() | (IsCuda ? OnDevice : 0)});
  bump(Trace->Allocations);
  bump(Trace->AllocatedBytes, static_cast<uint64_t>(Size));
  if (IsCuda)
    raise(Trace->PeakCudaBytes, add(Trace->LiveCudaBytes, Size));
  else
    raise(Trace->PeakCpuBytes, add(Trace->LiveCpuBytes, Size));
  noticePeaks();
  if (!At)
    return;
  trace::Site &Site = siteAt(At);
  Site.LastTaken.store(numberOfOperation(), std::memory_order_relaxed);
  if (Self.IsJoining && Self.Depth) {
    watch(Block, At, /*IsOld=*/false);
  } else if (Self.IsFactory && Self.Depth) {
    const uint64_t Before = Site.LastBlock.exchange(Block);
    KeyTable::Row Row;
    // Its memory may have gone to somebody else.
    if (Before && Before != Block && Blocks.look(Before, Row) && Row.Site == At)
      watch(Before, At, /*IsOld=*/true);
  }
  bump(IsCuda ? Site.CudaAllocations : Site.Allocations);
  bump(IsCuda ? Site.CudaAllocatedBytes : Site.AllocatedBytes,
       static_cast<uint64_t>(Size));
  if (IsCuda)
    raise(Site.MostOwnCudaBytes, add(Site.CudaLiveBytes, Size));
  else
    raise(Site.MostOwnBytes, add(Site.LiveBytes, Size));
  if (hasTimeline())
    lookAtPeaks();
}

void gives(uintptr_t Block) {
  unwatch(Block);
  forgetGradient(Block);
  if (Self.Elements == Block)
    Self.Elements = 0;
  KeyTable::Row Row;
  if (!Blocks.take(Block, Row)) {
    bump(Trace->UnknownFrees);
    return;
  }
  const bool IsCuda = Row.Extra & OnDevice;
  add(IsCuda ? Trace->LiveCudaBytes : Trace->LiveCpuBytes, -Row.Size);
  if (!Row.Site)
    return;
  trace::Site &Site = siteAt(Row.Site);
  add(IsCuda ? Site.CudaLiveBytes : Site.LiveBytes, -Row.Size);
  if (Self.Releasing)
    bump(siteAt(Self.Releasing).BytesKept, static_cast<uint64_t>(Row.Size));
  if (!Self.Depth && Row.Site == Self.LastSite &&
      (Row.Extra | BlockFlags) == (numberOfOperation() | BlockFlags))
    bump(Site.DiedAtOnce);
  const uint32_t Behind = Self.Depth ? Self.Site : Self.LastSite;
  uint32_t First = Site.FreedBehind.load(std::memory_order_relaxed);
  if (!First && Site.FreedBehind.compare_exchange_strong(First, Behind))
    First = Behind;
  bump(First == Behind ? Site.FreedThere : Site.FreedElsewhere);
  if (Self.Depth || !Self.LastSite)
    return;
  for (uintptr_t &Each : Self.Operands)
    if (Each == Block) {
      bump(siteAt(Self.LastSite).OperandsFreed);
      Self.Operands[0] = Self.Operands[1] = 0;
    }
}

/// Bytes inherited across a fork and freed before this process began to record.
int64_t ForgottenCpu, ForgottenCuda;

void freed(uintptr_t Block) {
  // Also inside the probe's own operations: their memory is in no table, and
  // they may free the program's.
  if (Current.load(std::memory_order_acquire) == Phase::On) {
    gives(Block);
    return;
  }
  KeyTable::Row Row;
  if (Current.load(std::memory_order_relaxed) == Phase::Waiting &&
      Blocks.take(Block, Row))
    (Row.Extra & OnDevice ? ForgottenCuda : ForgottenCpu) += Row.Size;
}

/// The driver knows the name without any header of CUDA's.
void nameDevice(int Index) {
  using Get = int (*)(int *, int);
  using GetName = int (*)(char *, int, int);
  void *Driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!Driver)
    return;
  auto DeviceGet = reinterpret_cast<Get>(dlsym(Driver, "cuDeviceGet"));
  auto DeviceName = reinterpret_cast<GetName>(dlsym(Driver, "cuDeviceGetName"));
  char Name[128] = "";
  int Handle = 0;
  if (DeviceGet && DeviceName && DeviceGet(&Handle, Index) == 0 &&
      DeviceName(Name, sizeof(Name) - 1, Handle) == 0)
    Trace->CudaDevice.store(keepText(Name));
}

void cudaReported(void *Block, int64_t Size, int64_t Reserved, Device On) {
  if (On.Type != CudaType)
    return;
  if (Size < 0) {
    freed(reinterpret_cast<uintptr_t>(Block));
    return;
  }
  if (!isRecording())
    return;
  isAvailable(trace::Quantity::CudaMemory);
  static std::atomic<bool> IsNamed;
  if (!IsNamed.exchange(true, std::memory_order_relaxed))
    nameDevice(On.Index);
  raise(Trace->PeakCudaReserved, Reserved);
  if (Size > 0)
    takes(reinterpret_cast<uintptr_t>(Block), Size, true);
}

std::atomic<void *> NextNew, NextDelete, NextReport, NextOldReport;

using New = void(void *, void *, size_t);
using Delete = void(void *, void *);
using Report = void(void *, int64_t, uint64_t, uint64_t, Device);

} // namespace

/// Somebody has a tensor over all of a block when the site that took it has
/// gone on to others. To look at some of the operations is enough.
static void isGivenWhole(const Operand &Given) {
  KeyTable::Row Row;
  if (!Given.IsWhole ||
      !Blocks.look(reinterpret_cast<uintptr_t>(Given.Memory), Row) || !Row.Site)
    return;
  trace::Site &Site = siteAt(Row.Site);
  if (Site.LastTaken.load(std::memory_order_relaxed) !=
      (Row.Extra & ~BlockFlags))
    bump(Site.WholeLater);
}

bool operandsAre(Operand First, Operand Second) {
  Self.Operands[0] = reinterpret_cast<uintptr_t>(First.Memory);
  Self.Operands[1] = reinterpret_cast<uintptr_t>(Second.Memory);
  if (Self.Operations % trace::WholeStride == 0) {
    isGivenWhole(First);
    isGivenWhole(Second);
  }
  return WatchedNow.load(std::memory_order_relaxed) || areGradientsHanded();
}

void wasGiven(uint32_t Site, const void *Memory) {
  const auto Block = reinterpret_cast<uintptr_t>(Memory);
  if (!Self.IsIdle)
    readsGradient(Block);
  for (Watched &Each : WatchedBlocks) {
    const uint32_t MadeAt = Each.Site.load(std::memory_order_relaxed);
    uintptr_t Expected = Block;
    // Used once, it need not be watched any longer.
    if (Block && MadeAt != Site &&
        Each.Block.compare_exchange_strong(Expected, 0)) {
      WatchedNow.fetch_sub(1);
      trace::Site &Maker = siteAt(MadeAt);
      bump(Each.IsOld.load(std::memory_order_relaxed) ? Maker.UsedLater
                                                      : Maker.ResultsUsed);
    }
  }
}

uint32_t siteOfBlock(const void *Memory) {
  KeyTable::Row Row;
  return Memory && Blocks.look(reinterpret_cast<uintptr_t>(Memory), Row)
             ? Row.Site
             : 0;
}

/// Something happens to a block for the first time. \returns the site that took
/// it; 0 where it has happened before, or the block is not known.
static uint32_t happensTo(const void *Memory, uint32_t What) {
  uint32_t Result = 0;
  if (Memory)
    Blocks.update(reinterpret_cast<uintptr_t>(Memory), [&](KeyTable::Row &Row) {
      if (!(Row.Extra & What))
        Result = Row.Site;
      Row.Extra |= What;
    });
  return Result;
}

void writes(uint32_t Site, const void *Memory, bool IsPart) {
  if (IsPart)
    bump(siteAt(Site).PartsWritten);
  if (const uint32_t By = happensTo(Memory, IsWritten))
    bump(siteAt(By).WritesInto);
}

void views(const void *Memory) {
  if (const uint32_t By = happensTo(Memory, IsHeldByView))
    bump(siteAt(By).HeldByView);
}

void asksForElements(const void *Memory) {
  const auto Block = reinterpret_cast<uintptr_t>(Memory);
  // A loop over elements may ask for each of them.
  if (Self.Elements == Block)
    return;
  Self.Elements = Block;
  if (const uint32_t By = happensTo(Memory, AreElementsAsked))
    bump(siteAt(By).ElementsAsked);
}

void givenHalf(uint32_t Site, const void *Memory) {
  const uint32_t By = siteOfBlock(Memory);
  bump(By && siteAt(By).HitsUnderAutocast.load(std::memory_order_relaxed)
           ? siteAt(Site).HalvesOfAutocast
           : siteAt(Site).OtherHalves);
}

void isWrittenThrough(const void *Handle, const void *Memory) {
  struct Written {
    std::atomic<uintptr_t> Block, Handle;
    std::atomic<uint32_t> Made;
  };
  constexpr uint32_t Count = 1024;
  // A list's elements lie within that many bytes.
  constexpr uintptr_t Nearby = 1 << 15;
  static Written Last[Count];
  const auto Block = reinterpret_cast<uintptr_t>(Memory);
  const auto By = reinterpret_cast<uintptr_t>(Handle);
  KeyTable::Row Row;
  if (!Block || !Blocks.look(Block, Row) || !Row.Site)
    return;
  Written &Here = Last[(Block >> 4 ^ Block >> 14) % Count];
  const uintptr_t Before = Here.Handle.exchange(By, std::memory_order_relaxed);
  // When it was taken tells it from another one at that place before.
  const uint32_t Made = Row.Extra & ~BlockFlags;
  const bool IsSame =
      Here.Block.exchange(Block, std::memory_order_relaxed) == Block &&
      Here.Made.exchange(Made, std::memory_order_relaxed) == Made;
  Here.Made.store(Made, std::memory_order_relaxed);
  const uintptr_t Distance = Before < By ? By - Before : Before - By;
  if (IsSame && Distance && Distance <= Nearby &&
      Distance % sizeof(void *) == 0)
    bump(siteAt(Row.Site).SharedWrites);
}

void lockAllocations() {
  Blocks.lock();
  WatchLock.lock();
}
void unlockAllocations() {
  WatchLock.unlock();
  Blocks.unlock();
}

void forgetFreed(int64_t &Cpu, int64_t &Cuda) {
  Cpu -= ForgottenCpu;
  Cuda -= ForgottenCuda;
  ForgottenCpu = ForgottenCuda = 0;
}

#define NEW "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm"
#define DELETE "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv"
// Of totals as size_t; until 1.13 they were int64_t.
#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define OLD_REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE"

TORCH_CONFIRM_HOOK void hookNew(void *Reporter, void *Block,
                                size_t Size) asm(NEW);
void hookNew(void *Reporter, void *Block, size_t Size) {
  if (Block && Size && isRecording())
    takes(reinterpret_cast<uintptr_t>(Block), static_cast<int64_t>(Size),
          false);
  next<New>(NextNew, NEW)(Reporter, Block, Size);
}

TORCH_CONFIRM_HOOK void hookDelete(void *Reporter, void *Block) asm(DELETE);
void hookDelete(void *Reporter, void *Block) {
  if (Block)
    freed(reinterpret_cast<uintptr_t>(Block));
  next<Delete>(NextDelete, DELETE)(Reporter, Block);
}

TORCH_CONFIRM_HOOK void hookReport(void *Block, int64_t Size,
                                   uint64_t Allocated, uint64_t Reserved,
                                   Device On) asm(REPORT);
void hookReport(void *Block, int64_t Size, uint64_t Allocated,
                uint64_t Reserved, Device On) {
  cudaReported(Block, Size, static_cast<int64_t>(Reserved), On);
  next<Report>(NextReport, REPORT)(Block, Size, Allocated, Reserved, On);
}

TORCH_CONFIRM_HOOK void hookOldReport(void *Block, int64_t Size,
                                      uint64_t Allocated, uint64_t Reserved,
                                      Device On) asm(OLD_REPORT);
void hookOldReport(void *Block, int64_t Size, uint64_t Allocated,
                   uint64_t Reserved, Device On) {
  cudaReported(Block, Size, static_cast<int64_t>(Reserved), On);
  next<Report>(NextOldReport, OLD_REPORT)(Block, Size, Allocated, Reserved, On);
}

Binding cpuMemoryBinding() {
  const Binding ByNew = bindingOf("libc10.so", NEW);
  return ByNew == Binding::Hooked ? bindingOf("libc10.so", DELETE) : ByNew;
}

Binding cudaMemoryBinding() {
  const Binding ByReport = bindingOf("libc10_cuda.so", REPORT);
  return ByReport == Binding::NotBySymbol
             ? bindingOf("libc10_cuda.so", OLD_REPORT)
             : ByReport;
}

} // namespace torchtidy::confirm::probe
