// Where the scenarios, their sources and torch-tidy are, and which sizes they
// are measured with.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_INPUTS_H
#define TORCHTIDY_CONFIRM_SCENARIOS_INPUTS_H

#include <filesystem>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

/// The folder of torch-tidy's sources: \p Given, or else that around the
/// current folder, or that of the build that this program is of. Throws
/// UserError where there is none.
std::filesystem::path findSource(const std::string &Given);

/// torch-tidy: \p Given, or else that beside this program, or on PATH. Throws
/// UserError where there is none.
std::filesystem::path findAnalyzer(const std::string &Given);

/// "small", "large" or whole numbers, with commas between; sorted, each once.
/// Throws UserError.
std::vector<int> parseSizes(const std::string &Text);

/// Of what the programs and the measures are made of.
std::string fingerprintOf(const std::filesystem::path &Source,
                          const std::filesystem::path &Scenarios);

/// Of a file in bytes; 0 where there is none.
uintmax_t sizeOf(const std::filesystem::path &File);

} // namespace torchtidy::confirm::scenarios

#endif
