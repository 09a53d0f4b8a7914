#include "cli/Busiest.h"
#include "cli/Command.h"
#include "cli/Experiments.h"
#include "cli/Judging.h"
#include "cli/ProbeOptions.h"
#include "recording/FromTrace.h"
#include "recording/Json.h"
#include "recording/Sanitizer.h"
#include "run/Execute.h"
#include "run/LineWatch.h"
#include "run/Target.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <cstdlib>
#include <iostream>

namespace torchtidy::confirm {
namespace {

constexpr const char *Help =
    "Runs a program and judges findings by what it did";

constexpr const char *Footer =
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
    "Exit codes: those of the program, 128 and the number where a signal ended "
    "it;\n1 when --fail-on has met a verdict and the program ended with 0; 2 "
    "when "
    "the\nprogram cannot be run or judged.";

/// What rules may miss; without a device the CUDA quantities are no news.
std::string unavailable(const Recording &Run) {
  std::string Result;
  for (const auto &[Name, Known] : Run.Capabilities)
    if (!Known.IsAvailable && Name != "cuda-memory" && Name != "cuda-runtime")
      Result += "  " + Name + ": " + Known.Reason + "\n";
  return Result;
}

class RunCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    App = Program.add_subcommand("run", Help);
    App->footer(Footer);
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
    App->add_option("program", Words, "The program and its arguments")
        ->type_name("PROGRAM ARGUMENTS");
    // What the program is given is not ours to read.
    App->positionals_at_end();
    return App;
  }

  int run() override;

private:
  Recording record(const Target &Which);
  Recording recordSanitized(const Target &Which);
  void complete(Recording &Run) const;

  CLI::App *App = nullptr;
  std::vector<std::string> Words;
  std::string Kept;
  bool NoHeap = false, NoLineHits = false, IsExperiment = false;
  std::string Ignored;
  std::optional<Experiments> Tries;
  Judging Both;
  ProbeOptions Probe;
  Ended End;
};

Recording RunCommand::record(const Target &Which) {
  const TemporaryFolder Folder;
  Watched What;
  What.Command = Words;
  What.Program = Which.Program;
  What.Probe = Probe.build(Which.LibTorch);
  What.Trace = Folder.path() + "/trace";
  What.SamplesHeap = !NoHeap;
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
    const auto Trace = busiest(What.Trace);
    if (!Trace)
      throw UserError("the probe recorded nothing of '" + Words[0] + "'");
    Result = recordingOf(*Trace);
  }
  if (Lines)
    Lines->addTo(Result);
  else
    Result.Capabilities["line-hits"].Reason = "--no-line-hits was given";
  complete(Result);
  return Result;
}

/// AddressSanitizer and the probe stand in front of the same functions, so one
/// of them is left out.
Recording RunCommand::recordSanitized(const Target &Which) {
  std::cerr << "torch-confirm: '" << Words[0]
            << "' is built with AddressSanitizer: it runs without the probe, "
               "and only the sanitizer's reports are judged\n";
  const TemporaryFolder Folder;
  const std::string Log = Folder.path() + "/report";
  const char *Own = std::getenv("ASAN_OPTIONS");
  Watched What;
  What.Command = Words;
  What.Program = Which.Program;
  // Stacks go through LibTorch, which keeps no frame pointers.
  What.Environment = {
      {"ASAN_OPTIONS", (Own ? Own + std::string(":") : "") +
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
  Result.LibTorch = Which.Version;
  complete(Result);
  return Result;
}

void RunCommand::complete(Recording &Run) const {
  Run.Command = Words;
  Run.ExitCode = End.ExitCode;
  Run.Signal = End.Signal;
  Run.Seconds = End.Seconds;
}

int RunCommand::run() {
  if (Words.empty())
    throw UserError("say which program is to run, after '--'");
  const Target Which = inspect(Words[0], Probe.libTorch());
  if (Which.IsSanitized && IsExperiment)
    throw UserError("'" + Words[0] +
                    "' is built with AddressSanitizer, and --experiment needs "
                    "the probe; give a build without");
  // What is wrong with it is told before anything runs.
  const IgnoredLines Checked("--ignore-lines", Ignored);
  if (!Ignored.empty() && !IsExperiment)
    throw UserError("--ignore-lines belongs to --experiment");
  Both.prepare();
  requireSources(Which, Both.findings().Findings);
  const Recording Run =
      Which.IsSanitized ? recordSanitized(Which) : record(Which);
  if (!Kept.empty())
    writeRecording(Run, Kept);
  if (const std::string Missing = unavailable(Run);
      !Missing.empty() && !Which.IsSanitized)
    std::cerr << "torch-confirm: not measured in this run:\n" << Missing;
  const bool Fails = Both.report(Run, [&](std::vector<JudgedFinding> &All) {
    if (Tries)
      Tries->amend(All);
  });
  return End.code() ? End.code() : Fails ? ExitFailOn : ExitSuccess;
}

} // namespace

std::unique_ptr<Command> makeRunCommand() {
  return std::make_unique<RunCommand>();
}

} // namespace torchtidy::confirm
