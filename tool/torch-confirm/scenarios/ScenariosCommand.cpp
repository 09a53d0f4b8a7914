#include "scenarios/ScenariosCommand.h"
#include "cli/ProbeOptions.h"
#include "scenarios/Analysis.h"
#include "scenarios/Compare.h"
#include "scenarios/Example.h"
#include "scenarios/Output.h"
#include "scenarios/Programs.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace scenarios {
namespace {

constexpr int Small = 1, Large = 2;

/// A folder of torch-tidy's sources holds the registry.
bool isSource(const fs::path &Folder) {
  return fs::exists(Folder / "checks" / "Checks.def") &&
         fs::exists(Folder / "test" / "scenarios" / "CMakeLists.txt");
}

fs::path findSource(const std::string &Given) {
  if (!Given.empty()) {
    if (!isSource(Given))
      throw UserError("--source: " + Given +
                      " holds no checks/Checks.def and test/scenarios");
    return fs::canonical(Given);
  }
  for (fs::path Folder = fs::current_path();; Folder = Folder.parent_path()) {
    if (isSource(Folder))
      return Folder;
    if (Folder == Folder.parent_path())
      break;
  }
  // A build folder has a link to the sources of the probe.
  std::error_code Error;
  const fs::path Probe = fs::canonical(dataFolder() / "probe", Error);
  const fs::path Source =
      Error ? fs::path() : Probe.parent_path().parent_path().parent_path();
  if (!Error && isSource(Source))
    return Source;
  throw UserError("the scenarios belong to torch-tidy's sources: run this in "
                  "them, or give their folder with --source");
}

std::vector<int> parseSizes(const std::string &Text) {
  std::vector<int> Result;
  std::istringstream Words(Text);
  for (std::string Word; std::getline(Words, Word, ',');) {
    int Size = 0;
    size_t End = 0;
    try {
      Size = Word == "small"   ? Small
             : Word == "large" ? Large
                               : std::stoi(Word, &End);
    } catch (const std::exception &) {
    }
    if (Size < 1 || (End != 0 && End != Word.size()))
      throw UserError("--size: '" + Word +
                      "' is not small, large or a whole number from 1");
    Result.push_back(Size);
  }
  if (Result.empty())
    throw UserError("--size: small, large, or whole numbers from 1");
  std::sort(Result.begin(), Result.end());
  Result.erase(std::unique(Result.begin(), Result.end()), Result.end());
  return Result;
}

/// Beside this program, on the PATH, or as it was given.
fs::path findAnalyzer(const std::string &Given) {
  const fs::path Beside = ownExecutable().parent_path() / "torch-tidy";
  const fs::path Result = !Given.empty()       ? findOnPath(Given)
                          : fs::exists(Beside) ? Beside
                                               : findOnPath("torch-tidy");
  if (Result.empty())
    throw UserError("torch-tidy was not found: give it with --analyzer, or use "
                    "the committed findings with --no-analyzer");
  return Result;
}

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

  std::vector<std::string> Checks;
  std::string Devices = "cpu", Build, Sizes = "small,large", Json;
  std::string Source, Scenarios, AnalyzerPath;
  ProbeOptions Probe;
  bool NoAnalyzer = false, NoSanitizer = false, Make = false;
  int Repeat = 3;
  unsigned Jobs = 0;

  fs::path SourceFolder, ScenariosFolder;
  std::vector<int> SizeList;
  std::vector<Row> Registry;
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
    // In turn, so that both meet the same machine.
    std::map<Quantity, std::vector<double>> Wrong, Fixed;
    for (int I = 0; I < Repeat; ++I) {
      All->time(R.Check, "wrong", Device, Size, Wrong);
      All->time(R.Check, "fixed", Device, Size, Fixed);
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
  All = std::make_unique<Programs>(Options);
  All->configure();
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

  std::vector<std::string> Names;
  for (const Row &R : Rows)
    Names.push_back(R.Check);
  All->buildTogether(Names);
  std::vector<CheckResult> Results;
  for (const Row &R : Rows) {
    Results.push_back(confirm(R));
    printResult(std::cout, Results.back());
    std::cout << '\n' << std::flush;
  }
  printSummary(std::cout, Results);
  const bool IsStale = Sample && Sample->isStale(Sample->findings());
  if (IsStale)
    std::cout << "FAILED: test/apps/made/example.sarif is stale: torch-confirm "
                 "scenarios --make writes it anew\n";
  if (!Json.empty()) {
    Setting How = describeMachine();
    How.LibTorch = All->libTorch();
    How.CudaDevice = All->cudaDevice();
    How.Sizes = SizeList;
    How.Repeat = Repeat;
    writeJson(Json, How, Results);
  }
  const bool Held = std::all_of(Results.begin(), Results.end(),
                                [](const auto &R) { return R.holds(); });
  return Held && !IsStale ? ExitSuccess : ExitFailOn;
}

} // namespace
} // namespace scenarios

std::unique_ptr<Command> makeScenariosCommand() {
  return std::make_unique<scenarios::ScenariosCommand>();
}

} // namespace torchtidy::confirm
