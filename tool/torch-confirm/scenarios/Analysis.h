// What the analyzer says of a scenario, and what of that is committed beside it
// for machines without the analyzer:
//
//   made/findings.json  {"wrong.cpp": [{"line": 22, "check": ..., "message":
//   ...}],
//                        "fixed.cpp": []}
//   made/fixit.cpp      wrong.cpp with the fixes of its check applied
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_ANALYSIS_H
#define TORCHTIDY_CONFIRM_SCENARIOS_ANALYSIS_H

#include "scenarios/Manifest.h"
#include <filesystem>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

struct Finding {
  unsigned Line = 0;
  std::string Check, Message;
};

struct Analysis {
  std::vector<Finding> Wrong, Fixed;
  /// Empty where there are no fixes.
  std::string Fixit;
};

class Analyzer {
public:
  /// Flags: one word a line, what the sources need to be parsed.
  Analyzer(std::filesystem::path Program,
           const std::filesystem::path &FlagsFile, std::vector<Row> Registry);

  /// Work: a folder for the copy that is fixed.
  Analysis analyze(const std::filesystem::path &Scenario,
                   const std::string &Check,
                   const std::filesystem::path &Work) const;

private:
  std::vector<std::string> command(const std::string &Checks) const;

  std::filesystem::path Program;
  std::vector<std::string> Flags;
  std::vector<Row> Registry;
};

/// Throws UserError where they are missing or cannot be read.
Analysis readCommitted(const std::filesystem::path &Scenario);
/// Says what it wrote.
void writeCommitted(const std::filesystem::path &Scenario, const Analysis &A);
/// What of the committed is not what the analyzer says now.
std::vector<std::string> staleParts(const std::filesystem::path &Scenario,
                                    const Analysis &A);

/// Where the findings are not the marked lines.
std::vector<std::string> unexpected(const Analysis &A, const std::string &Check,
                                    const Manifest &M);

} // namespace torchtidy::confirm::scenarios

#endif
