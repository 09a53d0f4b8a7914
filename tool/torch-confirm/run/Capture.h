// Runs a helper program and keeps what it prints.
#ifndef TORCHTIDY_CONFIRM_RUN_CAPTURE_H
#define TORCHTIDY_CONFIRM_RUN_CAPTURE_H

#include <string>
#include <utility>
#include <vector>

namespace torchtidy::confirm {

struct Captured {
  /// As a shell has it; 127 where it could not be started.
  int Code = 0;
  std::string Output, Errors;
};

/// The input is the content of a file ("/dev/null": none). Settings are added
/// to the environment.
Captured
capture(const std::vector<std::string> &Command,
        const std::string &Input = "/dev/null",
        const std::vector<std::pair<std::string, std::string>> &Settings = {});

/// A folder in the temporary folder that goes with the object.
class TemporaryFolder {
public:
  /// Throws UserError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return Path; }

private:
  std::string Path;
};

} // namespace torchtidy::confirm

#endif
