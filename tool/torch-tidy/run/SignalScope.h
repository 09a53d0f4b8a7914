// The signals that end a run before its time.
#ifndef TORCHTIDY_TOOL_RUN_SIGNALSCOPE_H
#define TORCHTIDY_TOOL_RUN_SIGNALSCOPE_H

#include <array>
#include <csignal>
#include <iterator>

namespace torchtidy::tool {

inline constexpr int EndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives, these signals are only noted, and only let in while somebody
/// waits with maskWhileWaiting(): none is missed between a look at caught() and
/// the wait.
class SignalScope {
public:
  SignalScope();
  ~SignalScope() { restore(); }
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  /// Also for a process that was forked from this one.
  void restore();
  const sigset_t &maskWhileWaiting() const { return OldMask; }

  /// The last one that came; 0 where none has.
  static int caught();
  /// As if it had come.
  static void note(int Signal);

private:
  std::array<struct sigaction, std::size(EndingSignals)> Old;
  sigset_t OldMask;
};

} // namespace torchtidy::tool

#endif
