// The program to watch: found, and looked at before it runs, since
// a run that cannot give verdicts costs its user's time.
#ifndef TORCHTIDY_CONFIRM_RUN_TARGET_H
#define TORCHTIDY_CONFIRM_RUN_TARGET_H

#include "findings/Finding.h"
#include <string>
#include <vector>

namespace torchtidy::confirm {

struct Target {
  std::string Program;
  /// The library of LibTorch that it loads; empty where it opens LibTorch
  /// itself and --libtorch says where that is.
  std::string Library;
  /// The folder of LibTorch that holds include/ and lib/.
  std::string LibTorch;
  /// It is built with AddressSanitizer, and runs without the probe.
  bool IsSanitized = false;
  /// As its headers say: "2.11.0".
  std::string Version;
};

/// The file that a shell would run. Throws UserError where there is none, or it
/// cannot be executed.
std::string findProgram(const std::string &Program);

/// Throws UserError with what to do where there is no such program, it cannot
/// be executed, is no ELF program, is statically linked, does not use LibTorch,
/// has no line numbers, or where LibTorch's headers are not there or are those
/// of another version.
Target inspect(const std::string &Program, const std::string &LibTorch);

/// The program, and the shared libraries of the user's that it loads at its
/// start or that lie in a folder with it, where it may open them. Only paths.
std::vector<std::string> userModules(const Target &Which);

/// Throws UserError where the program has none of the files of the findings.
void requireSources(const Target &Which,
                    const std::vector<DiagnosedFinding> &Findings);

/// "libfoo.so => /path/libfoo.so (0x...)" of the loader, by name. A library
/// that was not found has an empty path.
std::vector<std::pair<std::string, std::string>>
parseLoaderList(const std::string &Text);

} // namespace torchtidy::confirm

#endif
