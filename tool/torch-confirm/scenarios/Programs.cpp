#include "scenarios/Programs.h"
#include "recording/Sanitizer.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <sstream>
#include <thread>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {
namespace {

/// A program that hangs is ended.
constexpr unsigned TimeoutSeconds = 300;
constexpr unsigned BuildSeconds = 1800;

/// Of targets that are built with AddressSanitizer.
constexpr const char *SanitizedSuffix = "-sanitized";

std::string lastLines(const std::string &Text, size_t Most = 4000) {
  return Text.size() <= Most ? Text : "..." + Text.substr(Text.size() - Most);
}

/// "milliseconds <loop> <number>", as test/scenarios/support/measure.h prints
/// it. The program's own clock is used, since the probe takes time.
std::map<Quantity, std::vector<double>> readTimes(const std::string &Output) {
  std::map<Quantity, std::vector<double>> Result;
  std::istringstream Lines(Output);
  for (std::string Line; std::getline(Lines, Line);) {
    std::istringstream Words(Line);
    std::string Kind, Loop;
    double Number = 0;
    if (Words >> Kind >> Loop >> Number && isTime(Kind))
      Result[{Loop, Kind}].push_back(Number);
  }
  return Result;
}

void expectSuccess(const Captured &Run, const std::vector<std::string> &Words) {
  if (Run.TimedOut)
    throw Failure{shown(Words) + " does not end within " +
                  std::to_string(TimeoutSeconds) + " s"};
  if (!Run.succeeded())
    throw Failure{shown(Words) + " ends with " + std::to_string(Run.Code) +
                  ": " + lastLines(Run.All)};
}

} // namespace

unsigned Programs::jobs() const {
  return Options.Jobs ? Options.Jobs
                      : std::max(1u, std::thread::hardware_concurrency());
}

Number summary(std::vector<double> Series) {
  std::sort(Series.begin(), Series.end());
  const size_t Half = Series.size() / 2;
  const double Median =
      Series.size() % 2 ? Series[Half] : (Series[Half - 1] + Series[Half]) / 2;
  return {Median, Series.front(), Series.back()};
}

Captured Programs::runLimited(const std::vector<std::string> &Command,
                              unsigned Most, CaptureSettings How) const {
  How.Seconds = Time.atMost(Most);
  Captured Result = capture(Command, How);
  requireTime(Result);
  return Result;
}

void Programs::requireTime(const Captured &Run) const {
  if (Run.TimedOut && Time.isOver())
    throw OutOfTime();
}

void Programs::configure() const {
  std::vector<std::string> Command = {
      "cmake",
      "-S",
      (Options.Source / "test" / "scenarios").string(),
      "-B",
      Options.Build.string(),
      "-DSCENARIOS_DIR=" + Options.Scenarios.string(),
      std::string("-DSCENARIOS_CUDA=") + (Options.ForCuda ? "ON" : "OFF")};
  if (!fs::exists(Options.Build / "CMakeCache.txt") &&
      capture({"ninja", "--version"}).succeeded())
    Command.insert(Command.end(), {"-G", "Ninja"});
  if (!Options.LibTorch.empty())
    Command.push_back("-DTorch_DIR=" + Options.LibTorch);
  const Captured Run = runLimited(Command, BuildSeconds);
  if (!Run.succeeded())
    throw UserError("the scenarios cannot be configured: " + shown(Command) +
                    "\n" + lastLines(Run.All));
}

std::string Programs::libTorchFolder() const {
  std::string Result = readFile(Options.Build / "libtorch.txt");
  Result.erase(Result.find_last_not_of('\n') + 1);
  return Result;
}

std::string Programs::lacksSanitizer() const {
  std::string Result = readFile(Options.Build / "sanitizer.txt");
  Result.erase(Result.find_last_not_of('\n') + 1);
  return Result;
}

std::vector<std::string>
Programs::buildCommand(const std::vector<std::string> &Checks,
                       const std::string &Suffix) const {
  std::vector<std::string> Result = {"cmake", "--build", Options.Build.string(),
                                     "-j" + std::to_string(jobs()), "--target"};
  for (const std::string &Check : Checks) {
    Result.push_back(Check + "-wrong" + Suffix);
    Result.push_back(Check + "-fixed" + Suffix);
    if (hasFixit(Check))
      Result.push_back(Check + "-fixit" + Suffix);
  }
  return Result;
}

void Programs::buildTogether(const std::vector<std::string> &Checks) const {
  runLimited(buildCommand(Checks), BuildSeconds);
}

void Programs::buildOne(const std::string &Check,
                        const std::string &Suffix) const {
  const std::vector<std::string> Command = buildCommand({Check}, Suffix);
  const Captured Run = runLimited(Command, BuildSeconds);
  if (!Run.succeeded())
    throw Failure{"it does not build: " + shown(Command) + "\n" +
                  lastLines(Run.All)};
}

void Programs::build(const std::string &Check) const { buildOne(Check, ""); }

void Programs::buildSanitized(const std::string &Check) const {
  buildOne(Check, SanitizedSuffix);
}

fs::path Programs::sourceOf(const std::string &Check,
                            const std::string &Variant) const {
  const fs::path Folder = Options.Scenarios / Check;
  return Variant == "fixit" ? Folder / "made" / "fixit.cpp"
                            : Folder / (Variant + ".cpp");
}

bool Programs::hasFixit(const std::string &Check) const {
  return fs::exists(Options.Scenarios / Check / "made" / "fixit.cpp");
}

std::vector<std::string> Programs::command(const std::string &Check,
                                           const std::string &Variant,
                                           const std::string &Device,
                                           int Size) const {
  return {(Options.Build / (Check + "-" + Variant)).string(), "--device",
          Device, "--size", std::to_string(Size)};
}

Ran Programs::run(const std::string &Check, const std::string &Variant,
                  const std::string &Device, int Size) const {
  const std::vector<std::string> Words = command(Check, Variant, Device, Size);
  // Of the two settings that cuBLAS is deterministic with, that which takes
  // little memory: its workspaces are tensors' neighbours, and stay.
  std::vector<std::pair<std::string, std::string>> Environment;
  if (Options.IsDeterministic || Device == "cuda")
    Environment = {{"TORCH_CONFIRM_DETERMINISTIC", "1"},
                   {"CUBLAS_WORKSPACE_CONFIG", ":16:8"}};
  const Recorded Probed =
      Probe->record(Words, Time.atMost(TimeoutSeconds), Environment);
  requireTime(Probed.Run);
  expectSuccess(Probed.Run, Words);
  LibTorch = Probed.What.LibTorch;
  if (!Probed.What.CudaDevice.empty())
    CudaDevice = Probed.What.CudaDevice;
  return {measure(Probed.What, Device == "cuda"),
          eventsOf(Probed.What, sourceOf(Check, Variant))};
}

Ran Programs::runSanitized(const std::string &Check, const std::string &Variant,
                           int Size) const {
  const std::vector<std::string> Words =
      command(Check, Variant + SanitizedSuffix, "cpu", Size);
  CaptureSettings How;
  // It goes on after a report, so that one run tells all of them. Stacks go
  // through LibTorch, which keeps no frame pointers.
  How.Environment = {
      {"ASAN_OPTIONS",
       "detect_leaks=0:halt_on_error=0:detect_stack_use_after_return=1:"
       "fast_unwind_on_malloc=0:fast_unwind_on_fatal=0:symbolize=1"}};
  const Captured Run = runLimited(Words, TimeoutSeconds, How);
  Recording Reported;
  Reported.SanitizerReports = parseSanitizer(Run.Errors);
  // What reads memory that is gone may end in any way.
  if (Run.TimedOut || Reported.SanitizerReports.empty())
    expectSuccess(Run, Words);
  return {{}, eventsOf(Reported, sourceOf(Check, Variant))};
}

void Programs::time(const std::string &Check, const std::string &Variant,
                    const std::string &Device, int Size, int Times,
                    std::map<Quantity, std::vector<double>> &Into) const {
  std::vector<std::string> Words = command(Check, Variant, Device, Size);
  if (Times > 1)
    Words.insert(Words.end(), {"--repeat", std::to_string(Times)});
  const Captured Run = runLimited(Words, TimeoutSeconds);
  expectSuccess(Run, Words);
  for (const auto &[What, Series] : readTimes(Run.Output))
    Into[What].insert(Into[What].end(), Series.begin(), Series.end());
}

} // namespace torchtidy::confirm::scenarios
