#include "scenarios/Programs.h"
#include "cli/Errors.h"
#include "cli/Files.h"
#include "run/Capture.h"
#include <algorithm>
#include <sstream>
#include <thread>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {
namespace {

/// A program that hangs is ended.
constexpr unsigned TimeoutSeconds = 300;
constexpr unsigned BuildSeconds = 1800;

unsigned jobs(const BuildOptions &Options) {
  return Options.Jobs ? Options.Jobs
                      : std::max(1u, std::thread::hardware_concurrency());
}

std::string lastLines(const std::string &Text, size_t Most = 4000) {
  return Text.size() <= Most ? Text : "..." + Text.substr(Text.size() - Most);
}

/// "milliseconds <loop> <number>", as test/scenarios/support/measure.h prints
/// it. The program's own clock is used, since the probe takes time.
Numbers readTimes(const std::string &Output) {
  Numbers Result;
  std::istringstream Lines(Output);
  for (std::string Line; std::getline(Lines, Line);) {
    std::istringstream Words(Line);
    std::string Kind, Loop;
    double Number = 0;
    if (Words >> Kind >> Loop >> Number && isTime(Kind))
      Result.insert_or_assign({Loop, Kind}, Number);
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

Number summary(std::vector<double> Series) {
  std::sort(Series.begin(), Series.end());
  const size_t Half = Series.size() / 2;
  const double Median =
      Series.size() % 2 ? Series[Half] : (Series[Half - 1] + Series[Half]) / 2;
  return {Median, Series.front(), Series.back()};
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
  const Captured Run = capture(Command, limitedTo(BuildSeconds));
  if (!Run.succeeded())
    throw UserError("the scenarios cannot be configured: " + shown(Command) +
                    "\n" + lastLines(Run.All));
}

std::string Programs::libTorchFolder() const {
  std::string Result = readFile(Options.Build / "libtorch.txt");
  Result.erase(Result.find_last_not_of('\n') + 1);
  return Result;
}

std::vector<std::string>
Programs::buildCommand(const std::vector<std::string> &Checks) const {
  std::vector<std::string> Result = {"cmake", "--build", Options.Build.string(),
                                     "-j" + std::to_string(jobs(Options)),
                                     "--target"};
  for (const std::string &Check : Checks) {
    Result.push_back(Check + "-wrong");
    Result.push_back(Check + "-fixed");
    if (hasFixit(Check))
      Result.push_back(Check + "-fixit");
  }
  return Result;
}

void Programs::buildTogether(const std::vector<std::string> &Checks) const {
  capture(buildCommand(Checks), limitedTo(BuildSeconds));
}

void Programs::build(const std::string &Check) const {
  const std::vector<std::string> Command = buildCommand({Check});
  const Captured Run = capture(Command, limitedTo(BuildSeconds));
  if (!Run.succeeded())
    throw Failure{"it does not build: " + shown(Command) + "\n" +
                  lastLines(Run.All)};
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

Numbers Programs::run(const std::string &Check, const std::string &Variant,
                      const std::string &Device, int Size) const {
  const std::vector<std::string> Words = command(Check, Variant, Device, Size);
  const Recorded Probed = Probe->record(Words, TimeoutSeconds);
  expectSuccess(Probed.Run, Words);
  LibTorch = Probed.What.LibTorch;
  if (!Probed.What.CudaDevice.empty())
    CudaDevice = Probed.What.CudaDevice;
  return measure(Probed.What, Device == "cuda");
}

void Programs::time(const std::string &Check, const std::string &Variant,
                    const std::string &Device, int Size,
                    std::map<Quantity, std::vector<double>> &Times) const {
  const std::vector<std::string> Words = command(Check, Variant, Device, Size);
  const Captured Run = capture(Words, limitedTo(TimeoutSeconds));
  expectSuccess(Run, Words);
  for (const auto &[What, Number] : readTimes(Run.Output))
    Times[What].push_back(Number.Value);
}

} // namespace torchtidy::confirm::scenarios
