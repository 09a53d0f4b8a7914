// A program that puts itself into a sandbox (seccomp) may be killed from then
// on for opening a file. What can be done so only before is done then.

#include "Hooks.h"
#include "Sites.h"

#include <cerrno>

namespace torchtidy::confirm::probe {
namespace {

std::atomic<void *> NextControl;
using Control = int(int, unsigned long, unsigned long, unsigned long,
                    unsigned long);

// As in linux/prctl.h. The second one comes before the first, also where that
// is done by another call.
constexpr int SetSeccomp = 22, SetNoNewPrivileges = 38;

} // namespace

// Declared with an ellipsis by sys/prctl.h; all its arguments are of this size.
TORCH_CONFIRM_HOOK int hookControl(int What, unsigned long A, unsigned long B,
                                   unsigned long C,
                                   unsigned long D) asm("prctl");
int hookControl(int What, unsigned long A, unsigned long B, unsigned long C,
                unsigned long D) {
  if ((What == SetSeccomp || What == SetNoNewPrivileges) &&
      Current.load(std::memory_order_acquire) == Phase::On) {
    const int Before = errno;
    sealSites();
    errno = Before;
  }
  return next<Control>(NextControl, "prctl")(What, A, B, C, D);
}

} // namespace torchtidy::confirm::probe
