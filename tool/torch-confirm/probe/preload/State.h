// What all parts of the preloaded half share.
//
// Hooks may be called before anything here is constructed and after everything
// is destroyed (tensors of static storage), so: all state is zero-initialised
// plain data, nothing is ever destroyed, and nothing is allocated by malloc
// (the program's heap stays as it is without the probe).
#ifndef TORCHTIDY_CONFIRM_PROBE_STATE_H
#define TORCHTIDY_CONFIRM_PROBE_STATE_H

#include "../../trace/Trace.h"
#include "../Bridge.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#define TORCH_CONFIRM_HOOK __attribute__((visibility("default")))
// Not thread_local, which asks at each use whether it has been constructed.
#define TORCH_CONFIRM_TLS __attribute__((tls_model("initial-exec"))) __thread

// A process without the C++ library has none of its exceptions, and is not to
// load it for the probe.
asm(".weak __gxx_personality_v0");

namespace torchtidy::confirm::probe {

using trace::TextOffset;

// There are processes with LD_PRELOAD that never load libstdc++, so even
// std::mutex is not used here; and locks are held for some nanoseconds only.
class SpinLock {
public:
  void lock();
  void unlock() { Held.store(0, std::memory_order_release); }
  /// After a fork: the thread that held it is not in this process.
  void reset() { Held.store(0, std::memory_order_relaxed); }

private:
  std::atomic<uint32_t> Held;
};

class Locked {
public:
  explicit Locked(SpinLock &Lock) : Lock(Lock) { Lock.lock(); }
  ~Locked() { Lock.unlock(); }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  SpinLock &Lock;
};

/// Zeroed memory that is never given back, or null.
void *reserve(size_t Bytes);

struct StackMemo;

/// A thread's state. Site 0 is "none".
struct Thread {
  /// How many operations are open; a backward and a step count as one.
  uint32_t Depth;
  /// Of the outermost one.
  uint32_t Site;
  /// When it began, with a timeline; 0 where that is of no interest.
  uint64_t BeganAt;
  /// Of the last outermost operation, also when it has ended.
  uint32_t LastSite;
  /// How many outermost ones it has begun.
  uint32_t Operations;
  /// Of the outermost one all is told by itself: what it calls neither waits
  /// for a device nor runs the user's code.
  bool IsWhole;
  /// The outermost one joins tensors.
  bool IsJoining;
  /// Or makes a tensor from sizes.
  bool IsFactory;
  /// It makes nothing of the numbers that it is given.
  bool IsIdle;
  /// The memory of its first two tensors; 0 where that has gone.
  uintptr_t Operands[2];
  /// Whether it has run a backward.
  bool HasBackward;
  /// The user's code has asked for grad mode to be on where it was on.
  bool AsksForGrad;
  /// The node that a backward runs on it.
  const void *Node;
  /// Memory whose elements were asked for last.
  uintptr_t Elements;
  /// The stack pointer where the outermost one began: what begins at a higher
  /// address cannot be inside it, so that one was left without notice.
  uintptr_t Top;
  /// Where on the stack the return address into the innermost frame of the
  /// user's lies, as siteHere() found it last; 0 when that is not known.
  uintptr_t UserPlace;
  /// The operation that has begun last, at any depth, reads no elements.
  bool IsView;
  /// In the deletion of a graph: the backward that has run it last, where the
  /// next graph is there already.
  uint32_t Releasing;
  /// Looking for free() itself.
  bool IsFindingFree;
  /// The depth of a synchronising operation: what it calls is part of it.
  uint32_t SyncDepth;
  /// In a copy between devices: its runtime calls are part of it.
  uint32_t InCopy;
  /// In the probe's own work: operations and allocations are not the program's.
  uint32_t Busy;
  /// An exception of LibTorch's was thrown in an operation that has not ended
  /// yet, and was counted there. If nothing catches it the program ends without
  /// any of its stack being unwound, so it cannot be counted later.
  bool IsThrowing;
  uint32_t ThrowSite;
  /// Its row among what was thrown; null where it has none.
  trace::Thrown *ThrowRow;
  /// Its thread-local state is gone.
  bool IsDead;
  /// The innermost mark that it began; None where there is none.
  uint32_t Marks[8], MarkCount;
  StackMemo *Memo;
};
extern TORCH_CONFIRM_TLS Thread Self;

class Busy {
public:
  Busy() { ++Self.Busy; }
  ~Busy() { --Self.Busy; }
};

/// Something that is not an operation, but whose operations belong to it.
class Within {
public:
  /// \param Site 0 lets operations inside be outermost ones.
  explicit Within(uint32_t Site);
  ~Within();
  Within(const Within &) = delete;
  Within &operator=(const Within &) = delete;

private:
  uint32_t Depth, Site, SyncDepth;
  bool IsWhole;
  uintptr_t Top;
  uint64_t BeganAt;
  int Exceptions;
};

/// What runs meanwhile belongs to what is open, and nobody needs to be told of
/// its operations: see Thread::IsWhole.
class Whole {
public:
  Whole() : Was(Self.IsWhole) { Self.IsWhole = true; }
  ~Whole() { Self.IsWhole = Was; }
  Whole(const Whole &) = delete;
  Whole &operator=(const Whole &) = delete;

private:
  bool Was;
};

/// An operation ends. What was thrown in it and does not leave it, LibTorch has
/// caught itself: that was no exception of the program's.
/// \param Before how many exceptions were on their way when it began.
void settleException(int Before);

/// The trace, while Active.
extern trace::Header *Trace;
extern const TorchSide *Torch;

enum class Phase : uint32_t {
  /// This process records nothing.
  Off,
  /// As soon as LibTorch is seen to work.
  Waiting,
  On,
};
extern std::atomic<Phase> Current;

/// Starts where that is due. Cheap.
bool startLate();

/// Whether to record what happens on this thread now.
inline bool isRecording() {
  if (__builtin_expect(Current.load(std::memory_order_acquire) != Phase::On, 0))
    return startLate() && !Self.Busy;
  return !Self.Busy;
}

/// Where a stack frame of the caller is.
__attribute__((always_inline)) inline uintptr_t stackPointer() {
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
}

uint64_t nanoseconds();
/// std::uncaught_exceptions(), without linking the library for it.
int uncaughtExceptions();

/// A quantity of a library that was loaded after the start turns out to be
/// measured.
inline void isAvailable(trace::Quantity Of) {
  trace::Capability &To = Trace->Capabilities[static_cast<uint32_t>(Of)];
  if (To.Available.load(std::memory_order_relaxed))
    return;
  To.Reason.store(0);
  To.Available.store(1);
}

inline void bump(trace::Count &Counter, uint64_t By = 1) {
  Counter.fetch_add(By, std::memory_order_relaxed);
}
inline int64_t add(trace::Gauge &Counter, int64_t By) {
  return Counter.fetch_add(By, std::memory_order_relaxed) + By;
}
inline void raise(trace::Gauge &Most, int64_t To) {
  int64_t Seen = Most.load(std::memory_order_relaxed);
  while (To > Seen &&
         !Most.compare_exchange_weak(Seen, To, std::memory_order_relaxed)) {
  }
}

} // namespace torchtidy::confirm::probe

#endif
