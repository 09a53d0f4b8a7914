// Lines of the user's sources, as they stand in a report.
#ifndef TORCHTIDY_CONFIRM_REPORT_SOURCES_H
#define TORCHTIDY_CONFIRM_REPORT_SOURCES_H

#include <map>
#include <string>
#include <vector>

namespace torchtidy::confirm {

/// Each file is read once.
class Sources {
public:
  /// The line without its indentation, shortened to what stands beside the
  /// place on one line; empty where there is no such file or line.
  std::string line(const std::string &File, unsigned Line);

private:
  std::map<std::string, std::vector<std::string>> Files;
};

} // namespace torchtidy::confirm

#endif
