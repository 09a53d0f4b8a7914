// How a stack is captured: unwinding costs 2 to 6 microseconds with libgcc and
// 0.2 to 0.5 with libunwind's unw_backtrace. But a loop comes back to the same
// line with the same stack: same stack pointer, and the same return addresses
// in the same places. So after a stack was unwound once, the places of its
// return addresses are remembered, and from then on these words are merely
// compared.
//
// What is compared are all frames from the probe's up to the outermost one that
// matters. The place of each return address follows from the stack pointer and
// the code of the frames below it (but where a function moves its stack pointer
// by a variable amount), so equal words at these places are the same stack.
// From time to time a stack is unwound although it was recognised, and
// differences are counted in the trace (StackCheckFailures).

#include "Stacks.h"

#include "Modules.h"
#include "Sites.h"

#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

namespace torchtidy::confirm::probe {

using trace::MaxFrames;

namespace {

/// Frames of all code that are unwound at most.
constexpr uint32_t MaxDepth = 192;

struct Frame {
  uintptr_t Address;
  /// Where on the stack the address lies; 0 when that is not known.
  uintptr_t Place;
};

struct Stack {
  Frame Frames[MaxDepth];
  uint32_t Count;
  uintptr_t User[MaxFrames];
  uint32_t UserCount;
  /// All places are known.
  bool HasPlaces;
  uintptr_t Above;
};

/// A stack that was seen before. Places are relative to the stack pointer.
struct Entry {
  Entry *Next;
  uintptr_t StackPointer;
  TextOffset Operation;
  trace::SiteKind Kind;
  uint32_t Site;
  uint32_t Count;
  /// The first word is the innermost frame of the user's.
  bool HasUser;
  struct Word {
    uintptr_t Address;
    uint32_t Place;
    uint32_t Unused;
  };
  // Those of the user's frames come first: they tell lines apart.
  Word Words[1];
};

constexpr size_t ArenaSize = 1 << 20;
constexpr uint32_t BucketCount = 512;
/// A recognised stack is unwound nevertheless, once in so many times.
constexpr uint32_t CheckEvery = 2048;

enum class Method { Memo, LibUnwind, Unwind };
Method Chosen;
using BacktraceFunction = int (*)(void **, int);
BacktraceFunction LibUnwindBacktrace;

pthread_key_t AtThreadEnd;
SpinLock FreeLock;
StackMemo *FreeMemos;

} // namespace

struct StackMemo {
  StackMemo *NextFree;
  uintptr_t StackLow, StackHigh;
  /// While above 0: too many stacks are new, so nothing is remembered.
  uint32_t Pause;
  uint32_t Hits, Misses, UntilCheck;
  size_t Used;
  Entry *Buckets[BucketCount];
  alignas(16) char Arena[ArenaSize];
};

namespace {

void forget(StackMemo &Memo) {
  std::memset(Memo.Buckets, 0, sizeof(Memo.Buckets));
  Memo.Used = 0;
  Memo.Hits = Memo.Misses = 0;
}

void findBounds(StackMemo &Memo) {
  Memo.StackLow = Memo.StackHigh = 0;
  pthread_attr_t Attributes;
  if (pthread_getattr_np(pthread_self(), &Attributes) != 0)
    return;
  void *Low = nullptr;
  size_t Size = 0;
  if (pthread_attr_getstack(&Attributes, &Low, &Size) == 0) {
    Memo.StackLow = reinterpret_cast<uintptr_t>(Low);
    Memo.StackHigh = Memo.StackLow + Size;
  }
  pthread_attr_destroy(&Attributes);
}

StackMemo *memo() {
  if (Self.Memo)
    return Self.Memo;
  if (Self.IsDead)
    return nullptr;
  StackMemo *Memo;
  {
    Locked Lock(FreeLock);
    Memo = FreeMemos;
    if (Memo)
      FreeMemos = Memo->NextFree;
  }
  if (!Memo)
    Memo = static_cast<StackMemo *>(reserve(sizeof(StackMemo)));
  if (!Memo)
    return nullptr;
  forget(*Memo);
  Memo->Pause = 0;
  Memo->UntilCheck = CheckEvery;
  findBounds(*Memo);
  Self.Memo = Memo;
  pthread_setspecific(AtThreadEnd, Memo);
  return Memo;
}

void threadEnds(void *) {
  dropMemo();
  Self.IsDead = true;
}

void takeUserFrame(Stack &To, uintptr_t Address) {
  // A return address may be the first byte behind the function.
  if (To.UserCount < MaxFrames && isUserCode(Address - 1))
    To.User[To.UserCount++] = Address;
}

_Unwind_Reason_Code takeFrame(_Unwind_Context *Context, void *Into) {
  Stack &To = *static_cast<Stack *>(Into);
  const uintptr_t Address = _Unwind_GetIP(Context);
  if (Address == 0)
    return _URC_END_OF_STACK;
  const uintptr_t Below = _Unwind_GetCFA(Context);
  // Frames of the probe below the one that asks.
  if (Below <= To.Above)
    return _URC_NO_REASON;
  uintptr_t Place = 0;
#ifdef __x86_64__
  // The return address is the last word that the caller pushed.
  Place = Below - sizeof(uintptr_t);
  if (*reinterpret_cast<const uintptr_t *>(Place) != Address)
    Place = 0;
#endif
  To.HasPlaces &= Place != 0;
  To.Frames[To.Count++] = {Address, Place};
  takeUserFrame(To, Address);
  return To.Count == MaxDepth || To.UserCount == MaxFrames ? _URC_END_OF_STACK
                                                           : _URC_NO_REASON;
}

void unwind(Stack &To, uintptr_t Above) {
  To.Count = To.UserCount = 0;
  To.HasPlaces = true;
  To.Above = Above;
  bump(Trace->StackWalks);
  _Unwind_Backtrace(takeFrame, &To);
}

void unwindQuickly(Stack &To) {
  To.Count = To.UserCount = 0;
  To.HasPlaces = false;
  void *Addresses[MaxDepth];
  bump(Trace->StackWalks);
  const int Count = LibUnwindBacktrace(Addresses, MaxDepth);
  for (int I = 0; I < Count; ++I)
    takeUserFrame(To, reinterpret_cast<uintptr_t>(Addresses[I]));
}

/// Where the innermost frame of the user's is returned to from.
uintptr_t placeOfUser(const Stack &Seen) {
  if (!Seen.UserCount || !Seen.HasPlaces)
    return 0;
  for (uint32_t I = 0; I < Seen.Count; ++I)
    if (Seen.Frames[I].Address == Seen.User[0])
      return Seen.Frames[I].Place;
  return 0;
}

bool isSame(const Entry &Known, uintptr_t StackPointer) {
  const Entry::Word *Words = Known.Words;
  for (uint32_t I = 0; I < Known.Count; ++I)
    if (*reinterpret_cast<const uintptr_t *>(StackPointer + Words[I].Place) !=
        Words[I].Address)
      return false;
  return true;
}

uint32_t bucketOf(uintptr_t StackPointer, TextOffset Operation) {
  uint64_t Hash = (StackPointer >> 3) * 0x9E3779B97F4A7C15ull;
  Hash = (Hash ^ Operation) * 0xff51afd7ed558ccdull;
  return Hash >> 40 & (BucketCount - 1);
}

void remember(StackMemo &Memo, const Stack &Seen, uintptr_t StackPointer,
              trace::SiteKind Kind, TextOffset Operation, uint32_t Site) {
  if (!Seen.HasPlaces || Seen.Count == 0)
    return;
  const size_t Size =
      (sizeof(Entry) + Seen.Count * sizeof(Entry::Word) + 15) / 16 * 16;
  if (Memo.Used + Size > ArenaSize) {
    // As many stacks as fit were seen. If few of them came back, unwinding is
    // better than remembering.
    const bool IsUseless = Memo.Hits < Memo.Misses;
    forget(Memo);
    if (IsUseless && LibUnwindBacktrace) {
      Memo.Pause = 1 << 16;
      return;
    }
  }
  Entry &New = *reinterpret_cast<Entry *>(Memo.Arena + Memo.Used);
  New.StackPointer = StackPointer;
  New.Operation = Operation;
  New.Kind = Kind;
  New.Site = Site;
  New.Count = 0;
  New.HasUser = Seen.UserCount != 0;
  for (int Pass = 0; Pass < 2; ++Pass) {
    uint32_t User = 0;
    for (uint32_t I = 0; I < Seen.Count; ++I) {
      const Frame &From = Seen.Frames[I];
      const bool IsUser =
          User < Seen.UserCount && Seen.User[User] == From.Address;
      User += IsUser;
      if (IsUser != (Pass == 0))
        continue;
      if (From.Place < StackPointer ||
          From.Place + sizeof(uintptr_t) > Memo.StackHigh)
        return;
      New.Words[New.Count++] = {
          From.Address, static_cast<uint32_t>(From.Place - StackPointer), 0};
    }
  }
  Memo.Used += Size;
  Entry *&Bucket = Memo.Buckets[bucketOf(StackPointer, Operation)];
  New.Next = Bucket;
  Bucket = &New;
}

} // namespace

const char *prepareStacks() {
  pthread_key_create(&AtThreadEnd, threadEnds);
  const char *Wish = getenv("TORCH_CONFIRM_UNWIND");
  const bool WantsUnwind = Wish && std::strcmp(Wish, "unwind") == 0;
  if (!WantsUnwind && !(Wish && std::strcmp(Wish, "memo") == 0))
    if (void *Library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL))
      LibUnwindBacktrace =
          reinterpret_cast<BacktraceFunction>(dlsym(Library, "unw_backtrace"));
  if (WantsUnwind)
    Chosen = Method::Unwind;
  else if (LibUnwindBacktrace && Wish && std::strcmp(Wish, "libunwind") == 0)
    Chosen = Method::LibUnwind;
  else
    Chosen = Method::Memo;
  return Chosen == Method::Memo        ? "memo"
         : Chosen == Method::LibUnwind ? "libunwind"
                                       : "unwind";
}

void dropMemo() {
  StackMemo *Memo = Self.Memo;
  if (!Memo)
    return;
  Self.Memo = nullptr;
  Locked Lock(FreeLock);
  Memo->NextFree = FreeMemos;
  FreeMemos = Memo;
}

bool isOnStack(uintptr_t Address) {
  const StackMemo *Memo = Self.Memo;
  return Memo && Address >= Memo->StackLow && Address < Memo->StackHigh;
}

__attribute__((noinline)) uint32_t siteHere(trace::SiteKind Kind,
                                            TextOffset Operation) {
  Busy Guard;
  const uintptr_t StackPointer = stackPointer();
  StackMemo *Memo = Chosen == Method::Memo ? memo() : nullptr;
  bool CanRemember =
      Memo && StackPointer >= Memo->StackLow && StackPointer < Memo->StackHigh;
  if (CanRemember && Memo->Pause) {
    --Memo->Pause;
    CanRemember = false;
  }
  Entry *Known = nullptr;
  if (CanRemember) {
    Known = Memo->Buckets[bucketOf(StackPointer, Operation)];
    while (Known && !(Known->StackPointer == StackPointer &&
                      Known->Operation == Operation && Known->Kind == Kind &&
                      isSame(*Known, StackPointer)))
      Known = Known->Next;
    if (Known && --Memo->UntilCheck) {
      ++Memo->Hits;
      Self.UserPlace =
          Known->HasUser ? StackPointer + Known->Words[0].Place : 0;
      return Known->Site;
    }
  }

  Stack Seen;
  if (LibUnwindBacktrace && !CanRemember && Chosen != Method::Unwind)
    unwindQuickly(Seen);
  else
    unwind(Seen, StackPointer);
  Self.UserPlace = placeOfUser(Seen);
  const uint32_t Site = siteOf(Kind, Operation, Seen.User, Seen.UserCount);
  if (Known) {
    Memo->UntilCheck = CheckEvery;
    bump(Trace->StackChecks);
    if (Known->Site != Site)
      bump(Trace->StackCheckFailures);
    Known->Site = Site;
  } else if (CanRemember) {
    ++Memo->Misses;
    remember(*Memo, Seen, StackPointer, Kind, Operation, Site);
  }
  return Site;
}

} // namespace torchtidy::confirm::probe
