#include "Traps.h"

#include "../../trace/Lines.h"
#include "Hooks.h"
#include "Lines.h"

#include <cerrno>
#include <cstdlib>

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace torchtidy::confirm::probe {
namespace {

enum class Taking : uint32_t {
  /// Nobody has asked yet.
  Unknown,
  No,
  /// SIGTRAP is not blocked any more: threads that begin now may meet
  /// breakpoints later.
  Soon,
  Yes,
};
std::atomic<Taking> State;

/// The program's own action: the one that is valid, and one to write the next.
struct sigaction Actions[2];
std::atomic<uint32_t> Valid;
/// Signals whose handlers block SIGTRAP, as the program has it.
std::atomic<uint64_t> BlockedIn;
/// The thread has SIGTRAP blocked, as the program has it.
TORCH_CONFIRM_TLS bool IsBlocked;

using Action = int(int, const struct sigaction *, struct sigaction *);
using Mask = int(int, const sigset_t *, sigset_t *);
using Handler = void (*)(int);
std::atomic<void *> NextAction, NextThreadMask, NextMask;

bool takes() {
  const Taking Now = State.load(std::memory_order_acquire);
  if (Now != Taking::Unknown)
    return Now != Taking::No;
  const char *Wish = getenv(trace::LinesVariable);
  Taking Before = Taking::Unknown;
  State.compare_exchange_strong(Before,
                                Wish && *Wish ? Taking::Soon : Taking::No);
  return State.load() != Taking::No;
}

bool isHandled(const struct sigaction &What) {
  return (What.sa_flags & SA_SIGINFO) ||
         (What.sa_handler != SIG_DFL && What.sa_handler != SIG_IGN);
}

#if defined(__x86_64__)
struct sigaction ownAction() { return Actions[Valid.load()]; }
#endif

void setOwnAction(const struct sigaction &To) {
  const uint32_t Next = 1 - Valid.load();
  Actions[Next] = To;
  Valid.store(Next);
}

int install(const struct sigaction &What, struct sigaction *Before) {
  return next<Action>(NextAction, "sigaction")(SIGTRAP, &What, Before);
}

#if defined(__x86_64__)
/// SIGTRAP is the program's own from here on; this one is sent once more, and
/// comes when the handler returns.
void giveUp(const struct sigaction &Own, siginfo_t &Info, ucontext_t &Context) {
  State.store(Taking::No);
  // What ends the program now needs no breakpoints taken away, and all is known
  // of the lines that it did not come to.
  if (IsBlocked || isHandled(Own))
    leaveLines();
  install(Own, nullptr);
  if (IsBlocked)
    sigaddset(&Context.uc_sigmask, SIGTRAP);
  syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), syscall(SYS_gettid),
          SIGTRAP, &Info);
}

/// A SIGTRAP of the program's.
void passOn(siginfo_t &Info, ucontext_t &Context) {
  struct sigaction Own = ownAction();
  const bool IsSent = Info.si_code <= 0;
  if (IsSent && IsBlocked)
    return giveUp(Own, Info, Context);
  if (!isHandled(Own)) {
    if (IsSent && Own.sa_handler == SIG_IGN)
      return;
    // An instruction raised it: that cannot be ignored.
    Own.sa_handler = SIG_DFL;
    return giveUp(Own, Info, Context);
  }
  if (Own.sa_flags & static_cast<int>(SA_RESETHAND)) {
    struct sigaction Default = {};
    setOwnAction(Default);
  }
  // As the kernel would have it, but for SIGTRAP itself: flagged lines may be
  // in the handler.
  sigset_t Set = Context.uc_sigmask;
  for (int I = 1; I < NSIG; ++I)
    if (sigismember(&Own.sa_mask, I) == 1)
      sigaddset(&Set, I);
  sigdelset(&Set, SIGTRAP);
  next<Mask>(NextThreadMask, "pthread_sigmask")(SIG_SETMASK, &Set, nullptr);
  if (Own.sa_flags & SA_SIGINFO)
    Own.sa_sigaction(SIGTRAP, &Info, &Context);
  else
    Own.sa_handler(SIGTRAP);
  sigdelset(&Context.uc_sigmask, SIGTRAP);
}

void onTrap(int, siginfo_t *Info, void *Machine) {
  const int Error = errno;
  auto &Context = *static_cast<ucontext_t *>(Machine);
  greg_t &Counter = Context.uc_mcontext.gregs[REG_RIP];
  uintptr_t Next = 0;
  // By an instruction: it is the one before.
  if (Info->si_code > 0)
    Next = lineTrap(static_cast<uintptr_t>(Counter) - 1);
  errno = Error;
  if (Next)
    Counter = static_cast<greg_t>(Next);
  else
    passOn(*Info, Context);
}
#endif

/// Ours, in the place of the program's. It runs on the stack on which the
/// program's would.
bool installOwn(const struct sigaction &Instead, struct sigaction *Before) {
#if defined(__x86_64__)
  struct sigaction Own = {};
  Own.sa_sigaction = onTrap;
  Own.sa_flags =
      SA_SIGINFO | SA_RESTART |
      (isHandled(Instead) ? Instead.sa_flags & SA_ONSTACK : SA_ONSTACK);
  sigfillset(&Own.sa_mask);
  return install(Own, Before) == 0;
#else
  (void)Instead;
  (void)Before;
  return false;
#endif
}

/// The program's action of SIGTRAP, which the kernel does not see.
void exchange(const struct sigaction *New, struct sigaction *Old) {
  const struct sigaction Before = Actions[Valid.load()];
  if (New) {
    setOwnAction(*New);
    installOwn(*New, nullptr);
  }
  if (Old)
    *Old = Before;
}

Handler exchangeHandler(Handler New, int Flags) {
  struct sigaction To = {}, Before = {};
  To.sa_handler = New;
  To.sa_flags = Flags;
  exchange(&To, &Before);
  return Before.sa_handler;
}

int exchangeMask(Mask *Next, int How, const sigset_t *Set, sigset_t *Old) {
  if (!takes())
    return Next(How, Set, Old);
  const bool Was = IsBlocked;
  bool Has = false;
  sigset_t Without;
  if (Set) {
    Without = *Set;
    Has = sigismember(Set, SIGTRAP) == 1;
    if (How != SIG_UNBLOCK)
      sigdelset(&Without, SIGTRAP);
  }
  const int Result = Next(How, Set ? &Without : nullptr, Old);
  if (Result != 0)
    return Result;
  if (Set && How == SIG_SETMASK)
    IsBlocked = Has;
  else if (Set && Has)
    IsBlocked = How == SIG_BLOCK;
  if (Old && Was)
    sigaddset(Old, SIGTRAP);
  return Result;
}

} // namespace

bool takeTraps() {
  if (!takes())
    return false;
  // What handlers call later is looked up now.
  auto *Change = next<Mask>(NextThreadMask, "pthread_sigmask");
  next<Mask>(NextMask, "sigprocmask");
  struct sigaction Before = {};
  if (!Change || !next<Action>(NextAction, "sigaction") ||
      !installOwn(Before, &Before))
    return false;
  setOwnAction(Before);
  installOwn(Before, nullptr);
  State.store(Taking::Yes, std::memory_order_release);
  // As it was started.
  sigset_t Trap, Blocked;
  sigemptyset(&Trap);
  sigaddset(&Trap, SIGTRAP);
  if (Change(SIG_UNBLOCK, &Trap, &Blocked) == 0 &&
      sigismember(&Blocked, SIGTRAP) == 1)
    IsBlocked = true;
  return true;
}

void giveTrapsBack() {
  if (State.exchange(Taking::No) == Taking::Yes)
    install(Actions[Valid.load()], nullptr);
  if (!IsBlocked)
    return;
  sigset_t Trap;
  sigemptyset(&Trap);
  sigaddset(&Trap, SIGTRAP);
  next<Mask>(NextThreadMask, "pthread_sigmask")(SIG_BLOCK, &Trap, nullptr);
}

extern "C" {

TORCH_CONFIRM_HOOK int sigaction(int Signal, const struct sigaction *New,
                                 struct sigaction *Old) noexcept {
  auto *Next = next<Action>(NextAction, "sigaction");
  if (!takes())
    return Next(Signal, New, Old);
  if (Signal == SIGTRAP && State.load() == Taking::Yes) {
    exchange(New, Old);
    return 0;
  }
  if (Signal < 1 || Signal > 64)
    return Next(Signal, New, Old);
  // A flagged line may be in a handler.
  const uint64_t Bit = uint64_t(1) << (Signal - 1);
  const bool Was = BlockedIn.load() & Bit;
  struct sigaction Without;
  if (New) {
    Without = *New;
    sigdelset(&Without.sa_mask, SIGTRAP);
  }
  const int Result = Next(Signal, New ? &Without : nullptr, Old);
  if (Result != 0)
    return Result;
  if (New) {
    if (sigismember(&New->sa_mask, SIGTRAP) == 1)
      BlockedIn.fetch_or(Bit);
    else
      BlockedIn.fetch_and(~Bit);
  }
  if (Old && Was)
    sigaddset(&Old->sa_mask, SIGTRAP);
  return Result;
}

TORCH_CONFIRM_HOOK Handler signal(int Signal, Handler New) noexcept {
  static std::atomic<void *> Known;
  if (Signal == SIGTRAP && takes() && State.load() == Taking::Yes)
    return exchangeHandler(New, SA_RESTART);
  return next<Handler(int, Handler)>(Known, "signal")(Signal, New);
}

TORCH_CONFIRM_HOOK Handler __sysv_signal(int Signal, Handler New) noexcept {
  static std::atomic<void *> Known;
  if (Signal == SIGTRAP && takes() && State.load() == Taking::Yes)
    return exchangeHandler(New, static_cast<int>(SA_RESETHAND | SA_NODEFER));
  return next<Handler(int, Handler)>(Known, "__sysv_signal")(Signal, New);
}

TORCH_CONFIRM_HOOK int pthread_sigmask(int How, const sigset_t *Set,
                                       sigset_t *Old) noexcept {
  return exchangeMask(next<Mask>(NextThreadMask, "pthread_sigmask"), How, Set,
                      Old);
}

TORCH_CONFIRM_HOOK int sigprocmask(int How, const sigset_t *Set,
                                   sigset_t *Old) noexcept {
  return exchangeMask(next<Mask>(NextMask, "sigprocmask"), How, Set, Old);
}
}

} // namespace torchtidy::confirm::probe
