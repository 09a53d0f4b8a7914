// The forms in which results are given: a table for people, JSON for programs.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_OUTPUT_H
#define TORCHTIDY_CONFIRM_SCENARIOS_OUTPUT_H

#include "scenarios/Compare.h"
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

/// What came of one check.
struct CheckResult {
  std::string Check, Evidence;
  /// "3 findings as marked"; empty where the analyzer was not asked.
  std::string Analysis;
  /// All that is wrong, the measures aside.
  std::vector<std::string> Problems;
  /// By device.
  std::map<std::string, Outcome> Outcomes;

  bool holds() const;
};

/// Where and with what it was measured.
struct Setting {
  std::string LibTorch, CudaDevice, CudaDriver, Processor;
  std::string Version, Date;
  std::vector<int> Sizes;
  int Repeat = 0;
};

void printResult(std::ostream &Stream, const CheckResult &Result);
void printSummary(std::ostream &Stream, const std::vector<CheckResult> &All);

/// Throws UserError where the file cannot be written.
void writeJson(const std::filesystem::path &File, const Setting &How,
               const std::vector<CheckResult> &All);

/// Of this machine; LibTorch and the device are the caller's.
Setting describeMachine();

} // namespace torchtidy::confirm::scenarios

#endif
