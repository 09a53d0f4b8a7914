// Exceptions of LibTorch's: those that leave an operation are counted there
// (its end is reported while the stack is unwound), those that LibTorch catches
// itself are not. One that is thrown outside of any operation is counted where
// it is thrown.

#include "Exceptions.h"

#include "../../trace/OutOfMemory.h"
#include "Hooks.h"
#include "Sites.h"
#include "Stacks.h"
#include "Timeline.h"

#include <cstring>

namespace torchtidy::confirm::probe {
namespace {

std::atomic<void *> NextThrow;
using Throw = void(void *, void *, void (*)(void *));

/// Messages may have numbers in them, and differ each time.
constexpr uint32_t MostOfSite = 4;
constexpr uint32_t MessageSize = 256;

SpinLock RowLock;

const char *nameOf(const void *TypeInfo) {
  // Behind the pointer to its functions; the mangled name.
  const char *Name = static_cast<const char *const *>(TypeInfo)[1];
  return *Name == '*' ? Name + 1 : Name;
}

bool isOfLibTorch(const void *TypeInfo) {
  const char *Name = nameOf(TypeInfo);
  if (std::strncmp(Name, "N3c10", 5) != 0 &&
      std::strncmp(Name, "N5torch", 7) != 0 &&
      std::strncmp(Name, "N2at", 4) != 0)
    return false;
  return std::strstr(Name, "Error") || std::strstr(Name, "Exception");
}

constexpr char BadAlloc[] = "St9bad_alloc";

/// Null where there is no room. IsOfMemory: then the one of the site that was
/// thrown the longest ago makes room, since the last one is to be told.
trace::Thrown *rowOf(uint32_t Site, TextOffset Type, TextOffset Message,
                     bool IsOfMemory) {
  auto *Rows = reinterpret_cast<trace::Thrown *>(
      reinterpret_cast<char *>(Trace) + trace::ThrownAt);
  Locked Lock(RowLock);
  uint32_t OfSite = 0;
  trace::Thrown *Oldest = nullptr;
  for (uint32_t I = 0; I < trace::MaxThrown; ++I) {
    trace::Thrown &Each = Rows[I];
    if (Each.State.load(std::memory_order_relaxed) == 2) {
      if (Each.Site != Site)
        continue;
      if (Each.Type == Type && Each.Message == Message)
        return &Each;
      if (!Oldest || Each.LastAt < Oldest->LastAt)
        Oldest = &Each;
      if (++OfSite < MostOfSite)
        continue;
      if (!IsOfMemory)
        return nullptr;
      Oldest->Type = Type;
      Oldest->Message = Message;
      return Oldest;
    }
    Each.Site = Site;
    Each.Type = Type;
    Each.Message = Message;
    Each.State.store(2, std::memory_order_release);
    return &Each;
  }
  return nullptr;
}

trace::Thrown *rowOf(uint32_t Site, void *Object, const void *TypeInfo) {
  char Message[MessageSize] = "";
  if (Torch) {
    // What it says may be put together by operations.
    Busy Own;
    Torch->messageOf(Object, TypeInfo, Message, sizeof(Message));
    if (std::strstr(Message, "modified by an inplace operation"))
      Torch->modifiedThrown(Message, Self.Node, Site);
  }
  const char *Type = nameOf(TypeInfo);
  const bool IsOfMemory = hasTimeline() && trace::isOutOfMemory(Type, Message);
  if (IsOfMemory)
    lookAtFailure();
  trace::Thrown *Row =
      rowOf(Site, keepText(Type), keepText(Message), IsOfMemory);
  if (Row && hasTimeline())
    Row->LastAt.store(timeNow(), std::memory_order_relaxed);
  return Row;
}

void isThrown(void *Object, const void *TypeInfo) {
  uint32_t Site = Self.Site;
  const bool IsInOperation = Self.Depth > 0;
  if (!IsInOperation) {
    Site = siteHere(trace::SiteKind::Throw, keepText("throw"));
    hit(Site);
  } else if (Self.IsThrowing) {
    return;
  } else {
    Self.IsThrowing = true;
    Self.ThrowSite = Site;
    Self.ThrowRow = nullptr;
  }
  bump(Trace->Exceptions);
  if (!Site)
    return;
  bump(siteAt(Site).Exceptions);
  if (trace::Thrown *Row = rowOf(Site, Object, TypeInfo)) {
    bump(Row->Number);
    if (IsInOperation)
      Self.ThrowRow = Row;
  }
}

} // namespace

void savedWasWritten(uint32_t Site) { bump(siteAt(Site).SavedWrites); }

void leafWasWritten(uint32_t Site) { bump(siteAt(Site).StaleLeaves); }

void resetExceptionLocks() { RowLock.reset(); }

extern "C" [[noreturn]] TORCH_CONFIRM_HOOK void
__cxa_throw(void *Object, void *TypeInfo, void (*Destroy)(void *));

extern "C" void __cxa_throw(void *Object, void *TypeInfo,
                            void (*Destroy)(void *)) {
  // Starting late is nothing to do in the middle of this.
  // What leaves an operation is LibTorch's, of whatever type: some builds throw
  // std::runtime_error.
  if (Current.load(std::memory_order_acquire) == Phase::On && !Self.Busy &&
      (Self.Depth || isOfLibTorch(TypeInfo) ||
       (hasTimeline() && std::strcmp(nameOf(TypeInfo), BadAlloc) == 0)))
    isThrown(Object, TypeInfo);
  next<Throw>(NextThrow, "__cxa_throw")(Object, TypeInfo, Destroy);
  __builtin_unreachable();
}

} // namespace torchtidy::confirm::probe
