// Tells a signal that was sent to this process from one that was sent to its
// whole group, which the program has got, too.
#ifndef TORCHTIDY_CONFIRM_RUN_WITNESS_H
#define TORCHTIDY_CONFIRM_RUN_WITNESS_H

#include <csignal>
#include <sys/types.h>

namespace torchtidy::confirm {

/// A process of this group that does nothing but note what it is sent. Where
/// none can be made, each signal seems to be sent to this process only.
class Witness {
public:
  /// \param Noted signals, which are blocked in this process.
  explicit Witness(const sigset_t &Noted);
  ~Witness();
  Witness(const Witness &) = delete;
  Witness &operator=(const Witness &) = delete;

  /// Whether it was sent the same; waits a moment for it.
  bool hasSeen(const siginfo_t &Info) const;

private:
  pid_t Process = -1;
  int Notes = -1;
};

} // namespace torchtidy::confirm

#endif
