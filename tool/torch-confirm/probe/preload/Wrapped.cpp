// Tensors that are laid over memory of the program's, by from_blob(): whether
// the memory goes before the tensor, and whether the tensor is used then.
//
// Memory of malloc's is seen when it is freed, for the probe stands in front of
// free() and realloc(); while there is no such tensor these only pass the call
// on. Memory on the stack has gone when the innermost frame of the user's that
// calls an operation lies above it.

#include "Wrapped.h"

#include "Allocations.h"
#include "Sites.h"
#include "Stacks.h"

#include <cerrno>

#include <dlfcn.h>
#include <malloc.h>

namespace torchtidy::confirm::probe {
namespace {

enum class State : uint32_t { Free, OnHeap, OnStack, Gone };

struct Row {
  std::atomic<State> Is;
  uint32_t Site;
  const void *Storage;
  uintptr_t Begin;
  uint64_t Bytes, Elements, ElementSize;
  /// Of one on the stack: whose.
  const Thread *On;
  /// The thread's operation that has used it last: what it calls is no other
  /// use.
  uint32_t LastUse;
};

SpinLock RowLock;
Row Rows[WrapSlots];
/// So many have ever been used; and the one that was taken from another last.
uint32_t UsedRows, NextRow;
/// Rows whose storage an operation must not be given.
std::atomic<uint32_t> WatchedCount;
/// Rows in which that may be; more are not watched.
constexpr uint32_t MostWatched = 64;
uint32_t Watched[MostWatched];

/// How many rows on the heap begin on a page, by its number: most blocks that
/// are freed are none of these.
constexpr uint32_t PageCount = 4096;
constexpr uint32_t PageBits = 12;
std::atomic<uint32_t> Pages[PageCount];

std::atomic<uint32_t> &pageOf(uintptr_t Address) {
  return Pages[(Address >> PageBits) % PageCount];
}

void unwatch(uint32_t Slot) {
  uint32_t Count = WatchedCount.load(std::memory_order_relaxed);
  for (uint32_t I = 0; I < Count; ++I)
    if (Watched[I] == Slot) {
      Watched[I] = Watched[--Count];
      break;
    }
  WatchedCount.store(Count, std::memory_order_relaxed);
}

void drop(uint32_t Slot) {
  Row &Of = Rows[Slot];
  const State Was = Of.Is.load(std::memory_order_relaxed);
  if (Was == State::OnHeap) {
    pageOf(Of.Begin).fetch_sub(1, std::memory_order_relaxed);
    WrapsOnHeap.fetch_sub(1, std::memory_order_relaxed);
  } else if (Was != State::Free) {
    unwatch(Slot);
  }
  Of.Is.store(State::Free, std::memory_order_relaxed);
}

bool watch(uint32_t Slot) {
  uint32_t Count = WatchedCount.load(std::memory_order_relaxed);
  for (uint32_t I = 0; I < Count;)
    if (Torch->isWrapAlive(Watched[I], Rows[Watched[I]].Begin)) {
      ++I;
    } else {
      drop(Watched[I]);
      Count = WatchedCount.load(std::memory_order_relaxed);
    }
  if (Count == MostWatched)
    return false;
  Watched[Count] = Slot;
  WatchedCount.store(Count + 1, std::memory_order_relaxed);
  return true;
}

/// A row for a new tensor: that of a dead one at the same place, a free one, or
/// the next that is not watched.
uint32_t takeRow(uintptr_t Begin) {
  uint32_t Slot = UsedRows;
  for (uint32_t I = 0; I < UsedRows; ++I) {
    const State Is = Rows[I].Is.load(std::memory_order_relaxed);
    const bool IsDeadHere = Is == State::OnHeap && Rows[I].Begin == Begin &&
                            !Torch->isWrapAlive(I, Begin);
    if (Is == State::Free || IsDeadHere)
      Slot = I;
    if (IsDeadHere)
      break;
  }
  if (Slot == WrapSlots) {
    // There are more rows than are watched.
    do
      Slot = NextRow = (NextRow + 1) % WrapSlots;
    while (Rows[Slot].Is.load(std::memory_order_relaxed) != State::OnHeap);
  } else if (Slot == UsedRows) {
    ++UsedRows;
  }
  drop(Slot);
  return Slot;
}

/// The block has room for as many elements of a half, a quarter or an eighth of
/// the size, and for few bytes more (malloc rounds up): the elements are not
/// what they are read as.
bool isTooWide(const Row &Of, uint64_t Room) {
  constexpr uint64_t FewestElements = 8, Rounding = 32;
  if (Of.Bytes <= Room || Of.Elements < FewestElements)
    return false;
  for (uint64_t Share = 2; Share <= 8; Share *= 2)
    if (Of.ElementSize % Share == 0) {
      const uint64_t Meant = Of.Elements * (Of.ElementSize / Share);
      if (Room >= Meant && Room - Meant < Rounding)
        return true;
    }
  return false;
}

void isFreed(uint32_t Slot, uintptr_t End, uint32_t &FreedAt) {
  Row &Of = Rows[Slot];
  trace::Site &Site = siteAt(Of.Site);
  if (isTooWide(Of, End - Of.Begin))
    bump(Site.WrapsBeyond);
  const bool IsAlive = Torch->isWrapAlive(Slot, Of.Begin);
  drop(Slot);
  if (!IsAlive) {
    bump(Site.WrapsOutlived);
    return;
  }
  bump(Site.WrapsGone);
  uint32_t None = 0;
  if (!FreedAt)
    FreedAt = siteHere(trace::SiteKind::Free, keepText("free"));
  Site.GoneAt.compare_exchange_strong(None, FreedAt);
  if (watch(Slot))
    Of.Is.store(State::Gone, std::memory_order_relaxed);
}

/// The thread has left the frame that the memory was in.
bool isLeft(const Row &Of) {
  return Of.On == &Self && Self.UserPlace && Of.Begin < Self.UserPlace;
}

void uses(const void *Storage, uint32_t By) {
  Busy Own;
  Locked Lock(RowLock);
  const uint32_t Count = WatchedCount.load(std::memory_order_relaxed);
  for (uint32_t I = 0; I < Count; ++I) {
    Row &Of = Rows[Watched[I]];
    if (Of.Storage != Storage || !Torch->isWrapAlive(Watched[I], Of.Begin))
      continue;
    trace::Site &Site = siteAt(Of.Site);
    if (Of.Is.load(std::memory_order_relaxed) == State::OnStack) {
      if (!isLeft(Of))
        return;
      bump(Site.WrapsGone);
      Of.Is.store(State::Gone, std::memory_order_relaxed);
    }
    if (Self.Depth && Of.LastUse == Self.Operations)
      return;
    Of.LastUse = Self.Operations;
    bump(Site.UsesOfGone);
    uint32_t None = 0;
    Site.UsedAt.compare_exchange_strong(None, By);
    return;
  }
}

} // namespace

std::atomic<uint32_t> WrapsOnHeap;

void isWrapped(const void *Tensor) {
  const uint32_t Site = siteHere(trace::SiteKind::Wrap, keepText("from_blob"));
  const uintptr_t UserPlace = Self.UserPlace;
  hit(Site);
  if (!Site)
    return;
  Busy Own;
  const auto Begin = reinterpret_cast<uintptr_t>(Torch->memoryOfTensor(Tensor));
  Locked Lock(RowLock);
  const uint32_t Slot = takeRow(Begin);
  WrappedFacts Facts;
  if (!Torch->wrapped(Tensor, Slot, &Facts))
    return;
  Row &Of = Rows[Slot];
  Of.Site = Site;
  Of.Storage = Facts.Storage;
  Of.Begin = Facts.Begin;
  Of.Bytes = Facts.Bytes;
  Of.Elements = Facts.Elements;
  Of.ElementSize = Facts.ElementSize;
  Of.On = &Self;
  Of.LastUse = 0;
  if (isOnStack(Facts.Begin)) {
    // Below the user's frames it is memory of LibTorch's.
    if (!UserPlace || Facts.Begin < UserPlace)
      return;
    bump(siteAt(Site).WrapsOnStack);
    if (watch(Slot))
      Of.Is.store(State::OnStack, std::memory_order_relaxed);
    return;
  }
  Of.Is.store(State::OnHeap, std::memory_order_relaxed);
  pageOf(Of.Begin).fetch_add(1, std::memory_order_relaxed);
  WrapsOnHeap.fetch_add(1, std::memory_order_relaxed);
}

__attribute__((noinline)) void blockFreed(void *Block, size_t Size) {
  if (Current.load(std::memory_order_acquire) != Phase::On || Self.Busy ||
      !Torch)
    return;
  const auto Begin = reinterpret_cast<uintptr_t>(Block);
  const uintptr_t First = Begin >> PageBits, Last = (Begin + Size) >> PageBits;
  bool IsAny = Last - First >= PageCount;
  for (uintptr_t Page = First; Page <= Last && !IsAny; ++Page)
    IsAny = Pages[Page % PageCount].load(std::memory_order_relaxed) != 0;
  if (!IsAny)
    return;
  const int Error = errno;
  Busy Own;
  Locked Lock(RowLock);
  uint32_t FreedAt = 0;
  for (uint32_t Slot = 0; Slot < UsedRows; ++Slot)
    if (Rows[Slot].Is.load(std::memory_order_relaxed) == State::OnHeap &&
        Rows[Slot].Begin - Begin < Size)
      isFreed(Slot, Begin + Size, FreedAt);
  errno = Error;
}

void elementsAsked(const void *Tensor) {
  if (Self.Depth || !Torch || !isRecording())
    return;
  asksForElements(Torch->memoryOfTensor(Tensor));
  if (!WatchedCount.load(std::memory_order_relaxed))
    return;
  const void *Storage = Torch->storageOf(Tensor);
  const uint32_t Count = WatchedCount.load(std::memory_order_relaxed);
  for (uint32_t I = 0; I < Count; ++I)
    if (Rows[Watched[I]].Storage == Storage) {
      const uint32_t Site =
          siteHere(trace::SiteKind::Elements, keepText("data_ptr"));
      hit(Site);
      uses(Storage, Site);
      return;
    }
}

bool isWatchingWraps() {
  return WatchedCount.load(std::memory_order_relaxed) != 0;
}

bool isWatchingStorages() {
  return isWatchingWraps() && !Self.IsView && isRecording();
}

void usesStorage(const void *Storage) {
  if (Self.Depth)
    uses(Storage, Self.Site);
}

/// Only where it is malloc's own, and operator new takes it from there.
size_t bytesOfBlock(const void *Block) {
  static std::atomic<int> IsPlain;
  if (!IsPlain.load(std::memory_order_relaxed)) {
    Dl_info New{}, Throw{};
    const bool IsFromLibrary =
        dladdr(dlsym(RTLD_DEFAULT, "_Znwm"), &New) &&
        dladdr(dlsym(RTLD_DEFAULT, "__cxa_begin_catch"), &Throw) &&
        New.dli_fbase == Throw.dli_fbase;
    IsPlain.store(IsFromLibrary ? 1 : -1, std::memory_order_relaxed);
  }
  return IsPlain.load(std::memory_order_relaxed) > 0
             ? malloc_usable_size(const_cast<void *>(Block))
             : 0;
}

void lockWrapped() { RowLock.lock(); }
void unlockWrapped() { RowLock.unlock(); }

} // namespace torchtidy::confirm::probe
