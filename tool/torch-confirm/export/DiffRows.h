// Rows of two reports that are about the same line.
#ifndef TORCHTIDY_CONFIRM_PROFILE_DIFFROWS_H
#define TORCHTIDY_CONFIRM_PROFILE_DIFFROWS_H

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace torchtidy::confirm {

/// Something with a "line" in a report.
struct DiffRow {
  const nlohmann::json *Value = nullptr;
  std::string Operation;
};
/// Without a value: it is in the other one alone.
using DiffPair = std::pair<DiffRow, DiffRow>;

unsigned lineNumberOf(const DiffRow &Of);

/// With the operation that a row is about, or that of the site with most of it.
std::vector<DiffRow> rowsOf(const nlohmann::json &Report,
                            const nlohmann::json &Values);

/// By file, function and operation; all of both are in the result.
std::vector<DiffPair> matched(const std::vector<DiffRow> &Before,
                              const std::vector<DiffRow> &After);

} // namespace torchtidy::confirm

#endif
