// One run of a program under the probe.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_RECORD_H
#define TORCHTIDY_CONFIRM_SCENARIOS_RECORD_H

#include "recording/Recording.h"
#include "scenarios/Process.h"
#include <filesystem>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

struct Recorded {
  Recording What;
  Finished Run;
};

/// Work: a folder for what the probe writes.
Recorded record(const std::vector<std::string> &Command,
                const std::filesystem::path &Work, unsigned Seconds);

} // namespace torchtidy::confirm::scenarios

#endif
