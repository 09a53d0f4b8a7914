// Builds the programs of the scenarios and runs them.
#ifndef TORCHTIDY_CONFIRM_SCENARIOS_PROGRAMS_H
#define TORCHTIDY_CONFIRM_SCENARIOS_PROGRAMS_H

#include "scenarios/Compare.h"
#include "scenarios/Measures.h"
#include "scenarios/Plan.h"
#include "scenarios/Record.h"
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace torchtidy::confirm::scenarios {

/// The median of a series, with its least and its greatest number.
Number summary(std::vector<double> Series);

/// A scenario that cannot be measured; the others go on.
struct Failure {
  std::string Message;
};

struct BuildOptions {
  /// Of torch-tidy; test/scenarios/CMakeLists.txt is there.
  std::filesystem::path Source;
  /// A folder with a folder for each check.
  std::filesystem::path Scenarios;
  std::filesystem::path Build;
  /// Empty: found as CMake finds it.
  std::string LibTorch;
  bool ForCuda = false;
  unsigned Jobs = 0;
  /// Asks LibTorch for deterministic algorithms where numbers are counted; on
  /// CUDA that is done anyway.
  bool IsDeterministic = false;
};

/// Whatever runs when the budget is over is ended, and OutOfTime thrown.
class Programs {
public:
  Programs(BuildOptions Options, const Budget &Time)
      : Options(std::move(Options)), Time(Time) {}

  /// Compilers at once.
  unsigned jobs() const;
  /// Throws UserError where LibTorch or a compiler is missing.
  void configure() const;
  /// The LibTorch that CMake has found.
  std::string libTorchFolder() const;
  bool hasProbe() const { return Probe.has_value(); }
  /// To be called before the first run.
  void setProbe(std::string Library) {
    Probe.emplace(std::move(Library), Options.Build);
  }
  /// All at once, as many as there are processors. What fails is told by
  /// build().
  void buildTogether(const std::vector<std::string> &Checks) const;
  /// Throws Failure with what the compiler says.
  void build(const std::string &Check) const;
  /// The same with AddressSanitizer.
  void buildSanitized(const std::string &Check) const;
  /// Why there is none; empty where there is one.
  std::string lacksSanitizer() const;
  bool hasFixit(const std::string &Check) const;

  /// Runs <check>-<variant> under the probe. Throws Failure.
  Ran run(const std::string &Check, const std::string &Variant,
          const std::string &Device, int Size) const;
  /// Runs what is built with AddressSanitizer, on the CPU, without the probe:
  /// both stand in front of the same functions.
  Ran runSanitized(const std::string &Check, const std::string &Variant,
                   int Size) const;
  /// Runs it without the probe, which takes time itself, and adds its times.
  /// \param Times in one start of the program, which loads LibTorch once.
  void time(const std::string &Check, const std::string &Variant,
            const std::string &Device, int Size, int Times,
            std::map<Quantity, std::vector<double>> &Into) const;

  /// What the sources need to be parsed, one word a line.
  std::filesystem::path analyzerFlags() const {
    return Options.Build / "analyzer-flags.txt";
  }

  /// Versions and the device, as the last run under the probe has them.
  const std::string &libTorch() const { return LibTorch; }
  const std::string &cudaDevice() const { return CudaDevice; }

private:
  /// Suffix: of the targets.
  std::vector<std::string> buildCommand(const std::vector<std::string> &Checks,
                                        const std::string &Suffix = "") const;
  void buildOne(const std::string &Check, const std::string &Suffix) const;
  /// The source of a variant.
  std::filesystem::path sourceOf(const std::string &Check,
                                 const std::string &Variant) const;
  /// Throws OutOfTime.
  Captured runLimited(const std::vector<std::string> &Command, unsigned Most,
                      CaptureSettings How = {}) const;
  void requireTime(const Captured &Run) const;
  std::vector<std::string> command(const std::string &Check,
                                   const std::string &Variant,
                                   const std::string &Device, int Size) const;

  BuildOptions Options;
  const Budget &Time;
  std::optional<Recorder> Probe;
  mutable std::string LibTorch, CudaDevice;
};

} // namespace torchtidy::confirm::scenarios

#endif
