#include "scenarios/ScenariosCommand.h"
#include "cli/ProbeOptions.h"
#include "run/LibTorch.h"
#include "scenarios/Analysis.h"
#include "scenarios/Compare.h"
#include "scenarios/Example.h"
#include "scenarios/Inputs.h"
#include "scenarios/Output.h"
#include "scenarios/Plan.h"
#include "scenarios/Programs.h"
#include "scenarios/Store.h"
#include "support/Errors.h"
#include "support/Numbers.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace scenarios {
namespace {

class ScenariosCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override;
  int run() override;

private:
  std::vector<Row> selectRows() const;
  CheckResult confirm(const Row &R);
  void analyze(const Row &R, const Manifest &M, CheckResult &Result);
  Outcome measureOn(const std::string &Device, const Row &R, const Manifest &M);
  Sanitized sanitize(const Row &R);
  int make();
  RunKey keyOf(const Setting &How) const;
  double guess(const Row &R) const;
  /// Measures one check and keeps what came of it.
  void complete(const Row &R);
  /// All of them, as far as there is time.
  void completeAll(const std::vector<Row> &Rows);
  int conclude(const std::vector<Row> &Rows, Setting How) const;

  std::vector<std::string> Checks;
  std::string Devices = "cpu", Build, Sizes = "small,large", Json;
  std::string Source, Scenarios, AnalyzerPath;
  ProbeOptions Probe;
  std::string ResultsFolder, BudgetSeconds;
  bool NoAnalyzer = false, NoSanitizer = false, Make = false;
  bool IsDeterministic = false;
  int Repeat = 3;
  unsigned Jobs = 0;

  fs::path SourceFolder, ScenariosFolder;
  std::vector<int> SizeList;
  std::vector<Row> Registry;
  std::unique_ptr<Budget> Time;
  std::unique_ptr<Store> Kept;
  /// What came of each check, now or in a run before.
  std::map<std::string, Store::Json> Done;
  std::unique_ptr<Programs> All;
  std::unique_ptr<Analyzer> Analyse;
  std::unique_ptr<Example> Sample;
};

CLI::App *ScenariosCommand::add(CLI::App &Program) {
  CLI::App *App = Program.add_subcommand(
      "scenarios",
      "Builds and runs the pair of programs of each check, one with the\n"
      "mistake and one without, and compares what they measure. See\n"
      "docs/scenarios.md.");
  App->add_option("--check", Checks, "Only this check (may be given again)")
      ->type_name("NAME");
  App->add_option("--device", Devices, "Where the tensors live (cpu)")
      ->check(CLI::IsMember({"cpu", "cuda", "all"}));
  App->add_option("--size", Sizes,
                  "small, large, or how many times as large as small; several "
                  "with commas (small,large)")
      ->type_name("N,...");
  App->add_option("--repeat", Repeat,
                  "Runs without the probe, for the times (3)")
      ->check(CLI::NonNegativeNumber);
  App->add_option("--json", Json, "Write the results to this file")
      ->type_name("FILE");
  App->add_option("--results", ResultsFolder,
                  "Write the result of each check into this folder as it ends, "
                  "and go on with what is missing there")
      ->type_name("DIR");
  App->add_option("--budget", BudgetSeconds,
                  "Begin nothing that does not fit into so many seconds; exit "
                  "with 3 where something is left, and go on with --results")
      ->type_name("SECONDS");
  App->add_flag("--deterministic", IsDeterministic,
                "Ask LibTorch for deterministic algorithms where numbers are "
                "counted, on the CPU too (on CUDA it always is)");
  App->add_flag("--no-analyzer", NoAnalyzer,
                "Use the committed findings and fixed copies");
  App->add_option("--analyzer", AnalyzerPath,
                  "The torch-tidy to use (beside this program, or on the PATH)")
      ->type_name("PROGRAM");
  App->add_flag("--no-sanitizer", NoSanitizer,
                "Leave out what only AddressSanitizer can tell, where the "
                "compiler has none");
  App->add_flag("--make", Make,
                "Write the findings and fixed copies that are committed for "
                "--no-analyzer, and run nothing");
  App->add_option("--build", Build,
                  "Where the programs are built (build/scenarios of the "
                  "sources)")
      ->type_name("DIR");
  Probe.addOptions(*App);
  App->add_option("--source", Source, "torch-tidy's sources (found upward)")
      ->type_name("DIR");
  App->add_option("--scenarios", Scenarios,
                  "Folder of the pairs (test/scenarios of the sources)")
      ->type_name("DIR");
  App->add_option("-j,--jobs", Jobs,
                  "Compilers at once (as many as processors)")
      ->type_name("N");
  return App;
}

std::vector<Row> ScenariosCommand::selectRows() const {
  if (Checks.empty())
    return Registry;
  std::vector<Row> Result;
  for (const std::string &Name : Checks) {
    const auto It = std::find_if(Registry.begin(), Registry.end(),
                                 [&](const Row &R) { return R.Check == Name; });
    if (It == Registry.end())
      throw UserError("--check: there is no check '" + Name +
                      "' in checks/Checks.def");
    Result.push_back(*It);
  }
  return Result;
}

void ScenariosCommand::analyze(const Row &R, const Manifest &M,
                               CheckResult &Result) {
  const fs::path Scenario = ScenariosFolder / R.Check;
  const Analysis Found =
      Analyse ? Analyse->analyze(Scenario, R.Check, fs::path(Build) / "fixed")
              : readCommitted(Scenario);
  for (std::string &Problem : unexpected(Found, R.Check, M))
    Result.Problems.push_back(std::move(Problem));
  if (Result.Problems.empty())
    Result.Analysis = "the analyzer finds the " +
                      (M.Marked.size() == 1 ? "marked line"
                                            : std::to_string(M.Marked.size()) +
                                                  " marked lines") +
                      " of wrong.cpp and nothing in fixed.cpp" +
                      (Analyse ? "" : " (committed findings)");
  if (!Analyse)
    return;
  for (const std::string &Part : staleParts(Scenario, Found))
    Result.Problems.push_back(
        Part + " is stale: torch-confirm scenarios --make writes it anew");
}

Sanitized ScenariosCommand::sanitize(const Row &R) {
  Sanitized Result;
  if (NoSanitizer) {
    Result.Why = "--no-sanitizer";
    return Result;
  }
  if (const std::string Why = All->lacksSanitizer(); !Why.empty()) {
    Result.Is = Sanitized::State::Missing;
    Result.Why = "AddressSanitizer is not available: " + Why +
                 "; --no-sanitizer leaves it out";
    return Result;
  }
  All->buildSanitized(R.Check);
  const int Size = SizeList.front();
  Result.Is = Sanitized::State::Ran;
  Result.What.Wrong = All->runSanitized(R.Check, "wrong", Size);
  Result.What.Fixed = All->runSanitized(R.Check, "fixed", Size);
  if (All->hasFixit(R.Check))
    Result.What.Fixit = All->runSanitized(R.Check, "fixit", Size);
  return Result;
}

Outcome ScenariosCommand::measureOn(const std::string &Device, const Row &R,
                                    const Manifest &M) {
  const auto Any = [&](auto Is) {
    return std::any_of(M.Claims.begin(), M.Claims.end(),
                       [&](const Claim &C) { return std::invoke(Is, C); });
  };
  std::map<int, Runs> BySize;
  for (int Size : SizeList) {
    Runs Each;
    Each.Wrong = All->run(R.Check, "wrong", Device, Size);
    Each.Fixed = All->run(R.Check, "fixed", Device, Size);
    if (All->hasFixit(R.Check))
      Each.Fixit = All->run(R.Check, "fixit", Device, Size);
    if (BySize.empty() && Any(&Claim::isOfValue)) {
      Each.WrongAgain = All->run(R.Check, "wrong", Device, Size).Values;
      Each.FixedAgain = All->run(R.Check, "fixed", Device, Size).Values;
    }
    // In turn, so that both meet the same machine; where time counts, LibTorch
    // (on CUDA seconds each time) is loaded once for all runs of one program.
    const bool IsTogether = Device == "cuda" || Time->isLimited();
    std::map<Quantity, std::vector<double>> Wrong, Fixed;
    for (int I = 0; I < (IsTogether ? std::min(Repeat, 1) : Repeat); ++I) {
      const int Times = IsTogether ? Repeat : 1;
      All->time(R.Check, "wrong", Device, Size, Times, Wrong);
      All->time(R.Check, "fixed", Device, Size, Times, Fixed);
    }
    for (const auto &[What, Series] : Wrong)
      Each.Wrong.Values.insert_or_assign(What, summary(Series));
    for (const auto &[What, Series] : Fixed)
      Each.Fixed.Values.insert_or_assign(What, summary(Series));
    BySize.emplace(Size, std::move(Each));
  }
  const auto IsSanitized = [](const Claim &C) {
    return C.What.Measure == SanitizerReports;
  };
  const bool Sanitizes = Device == "cpu" && Any(IsSanitized);
  return compare(M.Claims, Device, BySize,
                 Sanitizes ? sanitize(R) : Sanitized());
}

CheckResult ScenariosCommand::confirm(const Row &R) {
  CheckResult Result;
  Result.Check = R.Check;
  Result.Evidence = R.Evidence;
  try {
    const Manifest M = readManifest(ScenariosFolder / R.Check / "wrong.cpp");
    if (const auto Missing = lacksEvidence(M, R.Evidence))
      Result.Problems.push_back(*Missing);
    analyze(R, M, Result);
    All->build(R.Check);
    if (!All->hasProbe())
      All->setProbe(Probe.build(All->libTorchFolder()));
    for (const char *Each : {"cpu", "cuda"})
      if (Devices == Each || Devices == "all")
        Result.Outcomes.emplace(Each, measureOn(Each, R, M));
  } catch (const Failure &What) {
    Result.Problems.push_back(What.Message);
  } catch (const UserError &What) {
    Result.Problems.emplace_back(What.what());
  }
  return Result;
}

int ScenariosCommand::make() {
  for (const Row &R : selectRows()) {
    const fs::path Scenario = ScenariosFolder / R.Check;
    writeCommitted(Scenario, Analyse->analyze(Scenario, R.Check,
                                              fs::path(Build) / "fixed"));
  }
  if (Sample)
    Sample->write(Sample->findings());
  return ExitSuccess;
}

int ScenariosCommand::run() {
  std::optional<double> Seconds;
  if (!BudgetSeconds.empty())
    Seconds = parseSeconds("--budget", BudgetSeconds);
  SourceFolder = findSource(Source);
  ScenariosFolder = Scenarios.empty() ? SourceFolder / "test" / "scenarios"
                                      : fs::absolute(Scenarios);
  Build = fs::absolute(Build.empty() ? SourceFolder / "build" / "scenarios"
                                     : fs::path(Build))
              .string();
  SizeList = parseSizes(Sizes);
  Registry = readRegistry(SourceFolder);
  const std::vector<Row> Rows = selectRows();
  if (Make && NoAnalyzer)
    throw UserError("--make asks the analyzer: it and --no-analyzer exclude "
                    "each other");
  const fs::path AnalyzerFile =
      NoAnalyzer ? fs::path() : findAnalyzer(AnalyzerPath);

  BuildOptions Options;
  Options.Source = SourceFolder;
  Options.Scenarios = ScenariosFolder;
  Options.Build = Build;
  Options.LibTorch = Probe.libTorch();
  Options.ForCuda = Devices != "cpu";
  Options.Jobs = Jobs;
  Options.IsDeterministic = IsDeterministic;
  Time = std::make_unique<Budget>(Seconds);
  All = std::make_unique<Programs>(Options, *Time);
  try {
    All->configure();
  } catch (const OutOfTime &) {
    throw UserError("--budget: the time was over before anything was built");
  }
  if (!NoAnalyzer) {
    Analyse = std::make_unique<Analyzer>(AnalyzerFile, All->analyzerFlags(),
                                         Registry);
    // It belongs to no check.
    if (Checks.empty() && Scenarios.empty())
      Sample = std::make_unique<Example>(SourceFolder, AnalyzerFile,
                                         fs::path(Build) / "example",
                                         Probe.libTorch());
  }
  if (Make)
    return make();

  const Setting How = describeMachine();
  if (!ResultsFolder.empty()) {
    Kept = std::make_unique<Store>(fs::absolute(ResultsFolder), keyOf(How));
    if (!Kept->whyAnew().empty())
      std::cout << "begins anew: " << Kept->whyAnew() << "\n\n";
  }
  std::vector<Row> Sorted = Rows;
  if (Devices != "cpu" || Time->isLimited())
    sortByWeight(Sorted, Devices != "cpu", ScenariosFolder);
  completeAll(Sorted);
  return conclude(Rows, How);
}

RunKey ScenariosCommand::keyOf(const Setting &How) const {
  const std::string LibTorch = All->libTorchFolder();
  const fs::path Libraries = fs::path(LibTorch) / "lib";
  std::string Numbers;
  for (int Size : SizeList)
    Numbers += (Numbers.empty() ? "" : ",") + std::to_string(Size);
  return {
      {"sources", fingerprintOf(SourceFolder, ScenariosFolder)},
      {"LibTorch", versionOfHeaders(LibTorch) + " of " +
                       std::to_string(sizeOf(Libraries / "libtorch_cpu.so") +
                                      sizeOf(Libraries / "libtorch_cuda.so")) +
                       " bytes"},
      {"device", Devices == "cpu" ? How.Processor : deviceName()},
      {"--device", Devices},
      {"--size", Numbers},
      {"--repeat", std::to_string(Repeat)},
      {"--deterministic", IsDeterministic ? "on" : "off"}};
}

/// How long it will take: as the last time, else as others did.
double ScenariosCommand::guess(const Row &R) const {
  constexpr double OnCpu = 10, OnCuda = 60;
  const double Unknown = Devices == "cpu" ? OnCpu : OnCuda;
  if (!Kept)
    return Unknown;
  return Kept->secondsOf(R.Check).value_or(
      Kept->usualSeconds().value_or(Unknown));
}

void ScenariosCommand::complete(const Row &R) {
  const auto Start = Budget::Clock::now();
  const auto Seconds = [&] {
    return std::chrono::duration<double>(Budget::Clock::now() - Start).count();
  };
  try {
    const CheckResult Result = confirm(R);
    Done[R.Check] = toJson(Result);
    Done[R.Check]["libtorch"] = All->libTorch();
    Done[R.Check]["cuda-device"] = All->cudaDevice();
    if (Kept)
      Kept->keep(R.Check, Done[R.Check], Seconds());
    printResult(std::cout, Result);
  } catch (const OutOfTime &) {
    if (Kept)
      Kept->tookLonger(R.Check, Seconds());
    std::cout << R.Check << "\n  was ended after " << int(Seconds())
              << " s: there was no more time\n";
  }
  std::cout << '\n' << std::flush;
}

void ScenariosCommand::completeAll(const std::vector<Row> &Rows) {
  std::vector<Row> Missing, Failed;
  for (const Row &R : Rows) {
    const auto Before = Kept ? Kept->find(R.Check) : std::nullopt;
    if (Before)
      Done[R.Check] = *Before;
    if (!Before)
      Missing.push_back(R);
    else if (!holds(*Before))
      Failed.push_back(R);
  }
  if (!Done.empty())
    std::cout << Done.size() << " of " << Rows.size()
              << " checks were measured before\n\n";
  // What failed may do so again, and others were not yet tried.
  Missing.insert(Missing.end(), Failed.begin(), Failed.end());
  // So that how long the first check takes says something of the others.
  if (!Missing.empty() && Time->isLimited() && !Time->isOver())
    try {
      All->setProbe(Probe.build(All->libTorchFolder()));
    } catch (const UserError &) {
      // Each check tells it.
    }
  // Without a limit, all processors build until all is built.
  const size_t AtOnce =
      Time->isLimited() ? std::max(1u, All->jobs() / 2) : Missing.size();
  for (size_t I = 0; I < Missing.size() && !Time->isOver(); I += AtOnce) {
    std::vector<Row> Now(Missing.begin() + I,
                         Missing.begin() +
                             std::min(I + AtOnce, Missing.size()));
    Now.erase(
        std::remove_if(Now.begin(), Now.end(),
                       [&](const Row &R) { return !Time->fits(guess(R)); }),
        Now.end());
    std::vector<std::string> Names;
    for (const Row &R : Now)
      Names.push_back(R.Check);
    try {
      if (!Names.empty())
        All->buildTogether(Names);
    } catch (const OutOfTime &) {
      return;
    }
    for (const Row &R : Now)
      if (Time->fits(guess(R)))
        complete(R);
  }
}

int ScenariosCommand::conclude(const std::vector<Row> &Rows,
                               Setting How) const {
  std::vector<Store::Json> Results;
  std::vector<std::string> LeftOut;
  for (const Row &R : Rows) {
    const auto It = Done.find(R.Check);
    if (It == Done.end()) {
      LeftOut.push_back(R.Check + " (about " +
                        std::to_string(int(std::ceil(guess(R)))) + " s)");
      continue;
    }
    Results.push_back(It->second);
    for (const auto &[Name, Into] :
         {std::pair("libtorch", &How.LibTorch),
          std::pair("cuda-device", &How.CudaDevice)}) {
      if (const std::string Value = Results.back().value(Name, "");
          !Value.empty())
        *Into = Value;
      Results.back().erase(Name);
    }
  }
  printSummary(std::cout, Results, LeftOut);
  if (!LeftOut.empty() && Kept)
    std::cout << "the same command goes on with them\n";
  const bool IsStale =
      Sample && LeftOut.empty() && Sample->isStale(Sample->findings());
  if (IsStale)
    std::cout << "FAILED: test/apps/made/example.sarif is stale: torch-confirm "
                 "scenarios --make writes it anew\n";
  if (!Json.empty()) {
    How.Sizes = SizeList;
    How.Repeat = Repeat;
    writeJson(Json, How, Results, LeftOut);
  }
  if (IsStale || !std::all_of(Results.begin(), Results.end(), holds))
    return ExitFailOn;
  return LeftOut.empty() ? ExitSuccess : ExitUnfinished;
}

} // namespace
} // namespace scenarios

std::unique_ptr<Command> makeScenariosCommand() {
  return std::make_unique<scenarios::ScenariosCommand>();
}

} // namespace torchtidy::confirm
