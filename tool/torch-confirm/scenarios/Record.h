// Runs programs under the probe.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_RECORD_H
#define TORCHTIDY_CONFIRM_SCENARIOS_RECORD_H

#include "recording/Recording.h"
#include "support/Capture.h"
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::confirm::scenarios {

struct Recorded {
  /// Only of a run that succeeded.
  Recording What;
  Captured Run;
};

class Recorder {
public:
  /// Probe: the library to preload. Work: a folder for what it writes.
  Recorder(std::string Probe, std::filesystem::path Work)
      : Probe(std::move(Probe)), Work(std::move(Work)) {}

  /// Throws UserError where the probe has left nothing that can be read.
  Recorded record(const std::vector<std::string> &Command, unsigned Seconds,
                  const std::vector<std::pair<std::string, std::string>>
                      &Environment = {}) const;

private:
  std::string Probe;
  std::filesystem::path Work;
};

} // namespace torchtidy::confirm::scenarios

#endif
