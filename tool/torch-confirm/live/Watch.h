// Shows a program until it ends, or who looks has seen enough.
#ifndef TORCHTIDY_CONFIRM_LIVE_WATCH_H
#define TORCHTIDY_CONFIRM_LIVE_WATCH_H

#include "live/View.h"
#include <functional>

namespace torchtidy::confirm {

struct WatchSettings {
  /// Between two looks.
  double Seconds = 1;
  /// Where it is shown: drawn anew on a terminal, else a line for each look.
  int File = 1;
  bool Color = false;
  /// Whether the key q ends it.
  bool ReadsKeys = true;
  /// What the program has printed, its last lines.
  std::function<std::vector<std::string>()> Output = {};
  /// A signal that was meant for this process; the default is to end.
  /// \returns whether it goes on.
  std::function<bool(int Signal)> OnSignal = {};
};

/// \param Look the next look; nothing while there is none.
/// \param IsAlive whether the program still runs.
/// \returns the signal by which it was asked to end; 0 where the program has
/// ended, or by the key.
int watch(const std::function<std::optional<LiveLook>()> &Look,
          const std::function<bool()> &IsAlive, const WatchSettings &How);

/// One look, as lines.
std::string lookText(LiveLook Look, const WatchSettings &How);

} // namespace torchtidy::confirm

#endif
