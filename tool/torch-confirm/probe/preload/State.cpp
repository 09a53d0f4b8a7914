#include "State.h"

#include "Sites.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

namespace torchtidy::confirm::probe {

TORCH_CONFIRM_TLS Thread Self;
trace::Header *Trace;
const TorchSide *Torch;
std::atomic<Phase> Current;

void SpinLock::lock() {
  for (unsigned Tries = 0; Held.exchange(1, std::memory_order_acquire);)
    if (++Tries % 64 == 0)
      sched_yield();
}

void *reserve(size_t Bytes) {
  void *Memory = mmap(nullptr, Bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return Memory == MAP_FAILED ? nullptr : Memory;
}

uint64_t nanoseconds() {
  timespec Time;
  clock_gettime(CLOCK_MONOTONIC, &Time);
  return static_cast<uint64_t>(Time.tv_sec) * 1000000000u +
         static_cast<uint64_t>(Time.tv_nsec);
}

int uncaughtExceptions() {
  using Function = int (*)();
  static std::atomic<Function> Known;
  Function Ask = Known.load(std::memory_order_relaxed);
  if (!Ask) {
    Ask = reinterpret_cast<Function>(
        dlsym(RTLD_DEFAULT, "_ZSt19uncaught_exceptionsv"));
    if (!Ask)
      return 0;
    Known.store(Ask, std::memory_order_relaxed);
  }
  return Ask();
}

Within::Within(uint32_t Inside)
    : Depth(Self.Depth), Site(Self.Site), SyncDepth(Self.SyncDepth),
      IsWhole(Self.IsWhole), Top(Self.Top), BeganAt(Self.BeganAt),
      Exceptions(uncaughtExceptions()) {
  Self.Depth = Inside ? 1 : 0;
  Self.Site = Inside;
  Self.BeganAt = 0;
  Self.SyncDepth = 0;
  Self.IsWhole = false;
  Self.Top = stackPointer();
}

Within::~Within() {
  if (Self.IsThrowing)
    settleException(Exceptions);
  Self.Depth = Depth;
  Self.Site = Site;
  Self.SyncDepth = SyncDepth;
  Self.IsWhole = IsWhole;
  Self.Top = Top;
  Self.BeganAt = BeganAt;
}

void settleException(int Before) {
  Self.IsThrowing = false;
  if (uncaughtExceptions() > Before)
    return;
  Trace->Exceptions.fetch_sub(1, std::memory_order_relaxed);
  if (Self.ThrowSite)
    siteAt(Self.ThrowSite).Exceptions.fetch_sub(1, std::memory_order_relaxed);
  if (Self.ThrowRow)
    Self.ThrowRow->Number.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace torchtidy::confirm::probe
