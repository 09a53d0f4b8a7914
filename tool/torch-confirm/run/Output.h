// What two runs have printed, beside each other.
#ifndef TORCHTIDY_CONFIRM_RUN_OUTPUT_H
#define TORCHTIDY_CONFIRM_RUN_OUTPUT_H

#include <cstddef>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace torchtidy::confirm {

struct DifferentLine {
  /// From 1.
  size_t Number = 0;
  /// Without the rest of long ones; empty where one output has ended.
  std::string Before, After;
};

struct OutputDifference {
  size_t LinesBefore = 0, LinesAfter = 0;
  /// Lines that were ignored in both.
  size_t Ignored = 0;
  /// How many lines differ, line by line.
  size_t Count = 0;
  /// The first of them.
  std::vector<DifferentLine> First;

  bool isSame() const { return Count == 0; }
};

/// Lines that are not compared: those that hold times, say.
class IgnoredLines {
public:
  IgnoredLines() = default;
  /// Those in which an ECMAScript regular expression is found; none where it is
  /// empty. Throws UserError where it is none. Option: its name.
  IgnoredLines(const std::string &Option, const std::string &Expression);

  /// Only the beginning of very long lines is looked at.
  bool has(const std::string &Line) const;

private:
  std::optional<std::regex> Which;
};

/// Of two files, compared byte by byte. Skip: numbers of lines that do not
/// count; and neither do those that are ignored in both. Throws UserError where
/// one cannot be read.
OutputDifference compareOutputs(const std::string &Before,
                                const std::string &After,
                                const IgnoredLines &Ignored = {},
                                const std::set<size_t> &Skip = {});

/// Numbers of all lines that differ between two files.
std::set<size_t> differentLines(const std::string &Before,
                                const std::string &After,
                                const IgnoredLines &Ignored = {});

/// "3 and 5"; "3, 5, 8 and 12 others"
std::string lineNumbers(const OutputDifference &What);

} // namespace torchtidy::confirm

#endif
