// Runs a helper program and keeps what it prints.
#ifndef TORCHTIDY_CONFIRM_SUPPORT_CAPTURE_H
#define TORCHTIDY_CONFIRM_SUPPORT_CAPTURE_H

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::confirm {

struct Captured {
  /// As a shell has it: 128 and the signal where one ended it, 127 where it
  /// could not be started.
  int Code = 0;
  bool TimedOut = false;
  /// Standard output, standard error, and both as they came.
  std::string Output, Errors, All;

  bool succeeded() const { return Code == 0 && !TimedOut; }
};

struct CaptureSettings {
  /// A file; what is in it is the input.
  std::string Input = "/dev/null";
  /// A file for standard output, which is then not kept: for much of it.
  std::string OutputFile = {};
  /// Added to the environment.
  std::vector<std::pair<std::string, std::string>> Environment = {};
  /// To run it in, if not in the current one.
  std::filesystem::path Folder = {};
  /// After which it is ended with all that it has started; 0: never.
  unsigned Seconds = 0;
};

inline CaptureSettings limitedTo(unsigned Seconds) {
  CaptureSettings Result;
  Result.Seconds = Seconds;
  return Result;
}

/// Throws UserError where no process can be made.
Captured capture(const std::vector<std::string> &Command,
                 const CaptureSettings &How = {});

/// A command as it could be typed.
std::string shown(const std::vector<std::string> &Command);

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
