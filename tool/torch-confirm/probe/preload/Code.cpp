#include "Code.h"

#include <atomic>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

/// The process that holds the lock. Not State.h's lock: in the child of a fork
/// that happened meanwhile nobody would give it back.
std::atomic<uint32_t> Holder;

class PagesLock {
public:
  PagesLock() : Own(static_cast<uint32_t>(syscall(SYS_getpid))) {
    for (;;) {
      uint32_t Seen = 0;
      if (Holder.compare_exchange_strong(Seen, Own))
        return;
      // Of the process before the fork.
      if (Seen != Own && Holder.compare_exchange_strong(Seen, Own))
        return;
      syscall(SYS_sched_yield);
    }
  }
  ~PagesLock() { Holder.store(0); }
  PagesLock(const PagesLock &) = delete;
  PagesLock &operator=(const PagesLock &) = delete;

private:
  uint32_t Own;
};

bool writeByKernel(uintptr_t At, uint8_t Byte) {
  const long File =
      syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (File < 0)
    return false;
  const bool Done = syscall(SYS_pwrite64, File, &Byte, 1UL, At) == 1;
  syscall(SYS_close, File);
  return Done;
}

/// The memory's rights as they are for code: nobody makes it otherwise.
bool writeInPlace(uintptr_t At, uint8_t Byte) {
  const PagesLock Lock;
  const auto Size = static_cast<uintptr_t>(getpagesize());
  void *Page = reinterpret_cast<void *>(At / Size * Size);
  if (mprotect(Page, Size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    return false;
  *reinterpret_cast<volatile uint8_t *>(At) = Byte;
  mprotect(Page, Size, PROT_READ | PROT_EXEC);
  return true;
}

} // namespace

bool writeCode(uintptr_t At, uint8_t Byte) {
  return writeByKernel(At, Byte) || writeInPlace(At, Byte);
}

} // namespace torchtidy::confirm::probe
