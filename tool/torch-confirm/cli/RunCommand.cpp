#include "cli/Busiest.h"
#include "cli/Command.h"
#include "cli/Experiments.h"
#include "cli/Judging.h"
#include "cli/ProbeOptions.h"
#include "cli/ProgramToRun.h"
#include "recording/FromTrace.h"
#include "recording/Json.h"
#include "recording/Sanitizer.h"
#include "recording/Symbolizer.h"
#include "run/Execute.h"
#include "run/LineWatch.h"
#include "run/Room.h"
#include "run/Target.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include "trace/Trace.h"
#include <csignal>
#include <cstdlib>
#include <iostream>

namespace torchtidy::confirm {
namespace {

constexpr const char *RunHelp =
    "Runs a program and judges findings by what it did";

constexpr const char *RunFooter =
    "\n  torch-confirm run --findings findings.sarif -- build/train --epochs "
    "1\n"
    "  torch-confirm run --analyze -p build --json verdicts.json -- "
    "build/train\n"
    "\n"
    "What stands after '--' is the program with its arguments. It runs as it "
    "would "
    "alone:\nits input, output, exit code and Ctrl-C are its own. The report "
    "is "
    "written to\nstandard error when it has ended.\n"
    "\n"
    "A script, or a program that starts the one that is meant (mpirun, env), "
    "runs as\nit is; --program says which is meant:\n"
    "\n"
    "  torch-confirm run --findings findings.sarif --program build/train -- "
    "./train.sh\n"
    "\n"
    "Exit codes: those of the program; a signal that ends it ends "
    "torch-confirm, "
    "too,\nafter the report (128 and its number, as a shell has it); 124 after "
    "--timeout; 1\nwhen --fail-on has met a verdict and the program ended with "
    "0; 2 when the program\ncannot be run or judged.";

/// Of so many the verdicts are compared: each takes a moment.
constexpr size_t MostProcesses = 8;

/// What rules may miss; without a device the CUDA quantities are no news, and
/// what one check alone needs its findings tell.
std::string unavailable(const Recording &Run) {
  std::string Result;
  for (const auto &[Name, Known] : Run.Capabilities)
    if (!Known.IsAvailable && Name != "cuda-memory" && Name != "cuda-runtime" &&
        Name != "wrapped-memory")
      Result += "  " + Name + ": " + Known.Reason + "\n";
  return Result;
}

class RunCommand : public Command {
public:
  CLI::App *add(CLI::App &To) override {
    App = To.add_subcommand("run", RunHelp);
    App->footer(RunFooter);
    Both.addOptions(*App);
    Probe.addOptions(*App);
    App->add_option("--recording", Kept,
                    "Keep what was recorded, for 'torch-confirm judge'")
        ->type_name("FILE");
    App->add_flag("--no-heap", NoHeap,
                  "Do not ask malloc for the bytes in use at each sample");
    App->add_flag("--no-line-hits", NoLineHits,
                  "Do not watch whether flagged lines run that run no "
                  "operation of LibTorch (breakpoints, each of which goes when "
                  "it is hit)");
    App->add_flag("--experiment", IsExperiment,
                  "Run the program again and act at the place of a confirmed "
                  "finding, to see whether the effect is gone and the program "
                  "does the same; of torch-missing-no-grad and "
                  "torch-thread-local-guard");
    App->add_option("--ignore-lines", Ignored,
                    "For --experiment: lines of the output in which this "
                    "regular expression is found are not compared (times)")
        ->type_name("REGEX");
    Program.addOptions(*App, "judge by what it did");
    return App;
  }

  int run() override;

private:
  Watched watched() const;
  Recording record(const Target &Which);
  Recording recordSanitized();

  CLI::App *App = nullptr;
  ProgramToRun Program;
  std::string Kept, Ignored;
  bool NoHeap = false, NoLineHits = false, IsExperiment = false;
  std::optional<Experiments> Tries;
  Judging Both;
  ProbeOptions Probe;
  Ended End;
  /// Of further processes of the program.
  std::vector<Recording> Others;
};

Watched RunCommand::watched() const {
  // --json=/dev/stdout
  Watched What =
      Program.watched(Both.writesToDevice() || Kept.rfind("/dev/", 0) == 0);
  What.SamplesHeap = !NoHeap;
  return What;
}

Recording RunCommand::record(const Target &Which) {
  const TemporaryFolder Folder;
  Watched What = watched();
  What.Probe = Probe.build(Which.LibTorch);
  What.Trace = Folder.path() + "/trace";
  requireRoom(What.Trace, trace::SeriesAt, trace::FileSize);
  requireSymbolizer();
  std::optional<LineWatch> Lines;
  if (!NoLineHits)
    Lines.emplace(userModules(Which), wantedLines(Both.findings().Findings),
                  Folder.path() + "/lines");
  Recording Result;
  if (IsExperiment) {
    Tries.emplace(What, IgnoredLines("--ignore-lines", Ignored));
    Result = Tries->first(End, Lines ? Lines->environment() : Variables());
  } else {
    if (Lines)
      What.Environment = Lines->environment();
    End = execute(What);
    const auto Traces = tracesByWork(What.Trace, MostProcesses);
    if (Traces.empty())
      throw Program.recordedNothing(End);
    Result = recordingOf(Traces.front());
    for (size_t I = 1; I < Traces.size(); ++I)
      Others.push_back(recordingOf(Traces[I]));
  }
  const auto Finish = [&](Recording &Run) {
    if (Lines)
      Lines->addTo(Run);
    else
      Run.Capabilities["line-hits"].Reason = "--no-line-hits was given";
    Program.complete(Run, End);
  };
  Finish(Result);
  for (Recording &Each : Others)
    Finish(Each);
  return Result;
}

/// AddressSanitizer and the probe stand in front of the same functions, so one
/// of them is left out.
Recording RunCommand::recordSanitized() {
  std::cerr << "torch-confirm: '" << Program.words()[0]
            << "' is built with AddressSanitizer: it runs without the probe, "
               "and only the sanitizer's reports are judged\n";
  const TemporaryFolder Folder;
  const std::string Log = Folder.path() + "/report";
  const char *Own = std::getenv("ASAN_OPTIONS");
  Watched What = watched();
  // Stacks go through LibTorch, which keeps no frame pointers. That a function
  // has returned, the runtimes of some compilers see only when told to.
  What.Environment = {
      {"ASAN_OPTIONS", "detect_stack_use_after_return=1:" +
                           (Own ? Own + std::string(":") : "") +
                           "fast_unwind_on_malloc=0:log_path=" + Log}};
  End = execute(What);
  Recording Result;
  for (const std::string &File : trace::tracesOf(Log)) {
    const std::string Text = readFile(File);
    std::cerr << Text;
    for (SanitizerReport &Each : parseSanitizer(Text))
      Result.SanitizerReports.push_back(std::move(Each));
  }
  for (const char *Quantity : trace::QuantityNames)
    Result.Capabilities[Quantity].Reason =
        "the program is built with AddressSanitizer and ran without the probe; "
        "build it without for this";
  Result.Capabilities["sanitizer"].IsAvailable = true;
  Program.complete(Result, End);
  return Result;
}

int RunCommand::run() {
  Program.check();
  // What is wrong with it is told before anything runs.
  const IgnoredLines Checked("--ignore-lines", Ignored);
  if (!Ignored.empty() && !IsExperiment)
    throw UserError("--ignore-lines belongs to --experiment");
  const Target Which = Program.inspected(Probe.libTorch());
  if (Which.IsSanitized && IsExperiment)
    throw UserError("'" + Program.words()[0] +
                    "' is built with AddressSanitizer, and --experiment needs "
                    "the probe; give a build without");
  Both.prepare();
  requireSources(Which, Both.findings().Findings);
  Recording Run = Which.IsSanitized ? recordSanitized() : record(Which);
  if (Which.IsSanitized)
    Run.LibTorch = Which.Version;
  if (!Kept.empty())
    writeRecording(Run, Kept);
  if (const std::string Missing = unavailable(Run);
      !Missing.empty() && !Which.IsSanitized)
    std::cerr << "torch-confirm: not measured in this run:\n" << Missing;
  const bool Fails =
      Both.report(Run, Others, [&](std::vector<JudgedFinding> &All) {
        if (Tries)
          Tries->amend(All);
      });
  if (End.Signal && !End.TimedOut)
    endBySignal(*End.Signal);
  return End.code() ? End.code() : Fails ? ExitFailOn : ExitSuccess;
}

} // namespace

std::unique_ptr<Command> makeRunCommand() {
  return std::make_unique<RunCommand>();
}

} // namespace torchtidy::confirm
