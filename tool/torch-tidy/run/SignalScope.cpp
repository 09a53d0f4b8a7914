#include "run/SignalScope.h"

namespace torchtidy::tool {
namespace {

volatile std::sig_atomic_t Caught = 0;
void onSignal(int Number) { Caught = Number; }

} // namespace

SignalScope::SignalScope() {
  Caught = 0;
  struct sigaction Action = {};
  Action.sa_handler = onSignal;
  sigemptyset(&Action.sa_mask);
  sigset_t Blocked;
  sigemptyset(&Blocked);
  for (size_t I = 0; I < Old.size(); ++I) {
    sigaction(EndingSignals[I], &Action, &Old[I]);
    sigaddset(&Blocked, EndingSignals[I]);
  }
  sigprocmask(SIG_BLOCK, &Blocked, &OldMask);
}

void SignalScope::restore() {
  // What is pending is still let in here. A job that the same Ctrl-C has
  // ended may be seen before the signal is: under the handler of before, the
  // signal would then end the program before it has told what it found.
  sigprocmask(SIG_SETMASK, &OldMask, nullptr);
  for (size_t I = 0; I < Old.size(); ++I)
    sigaction(EndingSignals[I], &Old[I], nullptr);
}

int SignalScope::caught() { return Caught; }
void SignalScope::note(int Signal) { Caught = Signal; }

} // namespace torchtidy::tool
