// What a scenario states about itself: which measures of wrong.cpp and
// fixed.cpp have to differ and by how much, and which lines of wrong.cpp are
// the mistake.
//
// Statements are comment lines at the head of wrong.cpp:
//
//   // MEASURE <loop> <measure> [factor=F] [more=M]
//   [grows=constant|linear|quadratic]
//   // MEASURE process <name> same
//   // MEASURE <loop> <measure> report
//
// "process" instead of a loop: of the whole process, or a result that the
// program prints. device=cpu or device=cuda limits a statement to that device.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_MANIFEST_H
#define TORCHTIDY_CONFIRM_SCENARIOS_MANIFEST_H

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace torchtidy::confirm::scenarios {

/// A row of checks/Checks.def.
struct Row {
  std::string Check;
  std::string Evidence;
};

/// Throws UserError where the file cannot be read.
std::vector<Row> readRegistry(const std::filesystem::path &Source);

/// One number of a program.
struct Quantity {
  /// Of the program, or "process".
  std::string Loop;
  std::string Measure;

  bool operator<(const Quantity &Other) const {
    return std::tie(Loop, Measure) < std::tie(Other.Loop, Other.Measure);
  }
};

struct Claim {
  Quantity What;
  /// wrong is at least so many times fixed, and more than fixed.
  std::optional<double> Factor;
  /// wrong is at least so much more than fixed.
  std::optional<double> More;
  /// The power of the size with which wrong less fixed grows.
  std::optional<int> Growth;
  /// The mistake does not change this number.
  bool Same = false;
  /// The analyzer has a fix, after which the number is that of fixed.cpp.
  bool IsFixed = true;
  /// "cpu" or "cuda"; empty: on both.
  std::string Device;

  /// Else the number is only reported.
  bool isAsserted() const { return Same || Factor || More || Growth; }
};

struct Manifest {
  std::vector<Claim> Claims;
  /// Lines marked "// BAD".
  std::set<unsigned> Marked;
};

/// Throws UserError with the line of a statement that cannot be read.
Manifest readManifest(const std::filesystem::path &Wrong);

/// Whether one of the claims asserts what the registry names as evidence; else
/// what is missing.
std::optional<std::string> lacksEvidence(const Manifest &M,
                                         const std::string &Evidence);

} // namespace torchtidy::confirm::scenarios

#endif
