// The forms in which results are given: a table for people, JSON for programs.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_OUTPUT_H
#define TORCHTIDY_CONFIRM_SCENARIOS_OUTPUT_H

#include "scenarios/Compare.h"
#include <filesystem>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
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
/// One check in the JSON file.
nlohmann::ordered_json toJson(const CheckResult &Result);
bool holds(const nlohmann::ordered_json &Check);

/// \param LeftOut checks for which there was no time.
void printSummary(std::ostream &Stream,
                  const std::vector<nlohmann::ordered_json> &All,
                  const std::vector<std::string> &LeftOut);

/// Throws UserError where the file cannot be written.
void writeJson(const std::filesystem::path &File, const Setting &How,
               const std::vector<nlohmann::ordered_json> &All,
               const std::vector<std::string> &LeftOut);

/// Of the first CUDA device, as its driver has it; empty without one.
std::string deviceName();

/// Of this machine; LibTorch and the device are the caller's.
Setting describeMachine();

} // namespace torchtidy::confirm::scenarios

#endif
