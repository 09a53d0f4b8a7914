// What a scenario states about itself: which measures of wrong.cpp and
// fixed.cpp have to differ and by how much, and which lines of wrong.cpp are
// the mistake.
//
// Statements are comment lines at the head of wrong.cpp:
//
//   // MEASURE <loop> <measure> [factor=F] [more=M]
//   [grows=constant|linear|quadratic]
//   // MEASURE process <name> same
//   // MEASURE process <name> differs [wrong=W] [fixed=F]
//   // MEASURE <loop> <measure> report
//   // MEASURE process exceptions at=BAD [type=T] [message="..."]
//   // MEASURE process sanitizer-reports [kind=K] [use=MARK] [freed=MARK] ...
//
// "process" instead of a loop: of the whole process, or a result that the
// program prints. device=cpu or device=cuda limits a statement to that device.
// A mark is a comment in capital letters at the end of a line: "// BAD". See
// docs/scenarios.md.
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
  unsigned Level = 0;
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

/// Where an exception or a report has to be.
struct Attribution {
  /// AnyStack; of a report also "use", "freed", "allocated".
  std::string Stack;
  /// Each of these lines has one, and each one has a frame at one of them.
  std::set<unsigned> Lines;
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
  /// It changes it, by so much at least; 0: by more than rounding does.
  std::optional<double> Differs;
  /// What the programs come to.
  std::optional<double> WrongIs, FixedIs;
  /// wrong has exceptions or reports there, and nowhere else; fixed has none.
  std::vector<Attribution> At;
  /// Of exceptions: only those of this type, whose message holds that. Of
  /// reports: of this kind.
  std::string Type, Words;
  /// The analyzer has a fix, after which the number is that of fixed.cpp.
  bool IsFixed = true;
  /// "cpu" or "cuda"; empty: on both.
  std::string Device;

  /// Else the number is only reported.
  bool isAsserted() const {
    return Same || Factor || More || Growth || isOfValue() || !At.empty();
  }
  /// It asserts what the program itself reports, which has to be the same in
  /// each run then.
  bool isOfValue() const { return Differs || WrongIs || FixedIs; }
  /// The two are told apart by it.
  bool isEvidence() const {
    return Factor || More || Differs || (WrongIs && FixedIs) || !At.empty();
  }
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
