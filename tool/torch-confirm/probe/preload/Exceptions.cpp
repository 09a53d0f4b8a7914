// Exceptions of LibTorch's: those that leave an operation are counted there
// (its end is reported while the stack is unwound), those that LibTorch catches
// itself are not. One that is thrown outside of any operation is counted where
// it is thrown.

#include "Hooks.h"
#include "Sites.h"
#include "Stacks.h"

#include <cstring>

namespace torchtidy::confirm::probe {
namespace {

std::atomic<void *> NextThrow;
using Throw = void(void *, void *, void (*)(void *));

bool isOfLibTorch(const void *TypeInfo) {
  // Behind the pointer to its functions; the mangled name.
  const char *Name = static_cast<const char *const *>(TypeInfo)[1];
  if (*Name == '*')
    ++Name;
  if (std::strncmp(Name, "N3c10", 5) != 0 &&
      std::strncmp(Name, "N5torch", 7) != 0 &&
      std::strncmp(Name, "N2at", 4) != 0)
    return false;
  return std::strstr(Name, "Error") || std::strstr(Name, "Exception");
}

void isThrown() {
  uint32_t Site = Self.Site;
  if (!Self.Depth) {
    Site = siteHere(trace::SiteKind::Throw, keepText("throw"));
    hit(Site);
  } else if (Self.IsThrowing) {
    return;
  } else {
    Self.IsThrowing = true;
    Self.ThrowSite = Site;
  }
  bump(Trace->Exceptions);
  if (Site)
    bump(siteAt(Site).Exceptions);
}

} // namespace

extern "C" [[noreturn]] TORCH_CONFIRM_HOOK void
__cxa_throw(void *Object, void *TypeInfo, void (*Destroy)(void *));

extern "C" void __cxa_throw(void *Object, void *TypeInfo,
                            void (*Destroy)(void *)) {
  // Starting late is nothing to do in the middle of this.
  // What leaves an operation is LibTorch's, of whatever type: some builds throw
  // std::runtime_error.
  if (Current.load(std::memory_order_acquire) == Phase::On && !Self.Busy &&
      (Self.Depth || isOfLibTorch(TypeInfo)))
    isThrown();
  next<Throw>(NextThrow, "__cxa_throw")(Object, TypeInfo, Destroy);
  __builtin_unreachable();
}

} // namespace torchtidy::confirm::probe
