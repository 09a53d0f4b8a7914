// Runs other programs and keeps what they print.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_PROCESS_H
#define TORCHTIDY_CONFIRM_SCENARIOS_PROCESS_H

#include <filesystem>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

struct Finished {
  /// As a shell would have it: 128 and the signal where one ended it.
  int Code = 0;
  bool TimedOut = false;
  /// Standard output, and everything together.
  std::string Output, All;

  bool succeeded() const { return Code == 0 && !TimedOut; }
};

/// Folder: to run it in, if not in the current one. 127 where it cannot be
/// started.
Finished execute(const std::vector<std::string> &Command,
                 unsigned Seconds = 600,
                 const std::filesystem::path &Folder = {});

/// As it could be typed.
std::string shown(const std::vector<std::string> &Command);

} // namespace torchtidy::confirm::scenarios

#endif
