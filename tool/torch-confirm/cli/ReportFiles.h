// The files that a report is written to.
#ifndef TORCHTIDY_CONFIRM_CLI_REPORTFILES_H
#define TORCHTIDY_CONFIRM_CLI_REPORTFILES_H

#include "profile/Profile.h"
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace torchtidy::confirm {

class ReportFiles {
public:
  void addOptions(CLI::App &App);
  /// Throws UserError where one of them cannot be written, which is better
  /// known before a long run than after it.
  void check() const;
  /// --json=/dev/stdout
  bool writesToDevice() const;
  /// Says on standard error which one could not be written, and is false then:
  /// it takes none of the others with it.
  bool write(const Recording &Run, const Profile &Of) const;

private:
  /// Those that were asked for.
  std::vector<std::string> all() const;

  std::string Html, Json, Trace, Snapshot, Sarif, Kept;
};

} // namespace torchtidy::confirm

#endif
