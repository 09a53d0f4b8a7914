#include "cli/Busiest.h"
#include "cli/Command.h"
#include "cli/ProbeOptions.h"
#include "cli/ReportFiles.h"
#include "export/Text.h"
#include "profile/Braces.h"
#include "recording/FromTrace.h"
#include "recording/Json.h"
#include "recording/Symbolizer.h"
#include "run/Execute.h"
#include "run/OutOfMemory.h"
#include "run/Room.h"
#include "run/Target.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Numbers.h"
#include "support/Sizes.h"
#include "trace/Trace.h"
#include <csignal>
#include <iostream>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

constexpr const char *Help =
    "Runs a program and says why its memory grows and where its time goes";

constexpr const char *Footer =
    "\n  torch-confirm report -- build/train --epochs 1\n"
    "  torch-confirm report --html report.html -- build/train\n"
    "\n"
    "No findings are needed, and nothing in the program is changed; build it "
    "with -g.\nIt runs as it would alone: its input, output, exit code and "
    "Ctrl-C are its own.\nThe report is written to standard error when it has "
    "ended, however it ends: out of\nmemory, killed, by Ctrl-C.\n"
    "\n"
    "Exit codes: those of the program; a signal that ends it ends "
    "torch-confirm, too,\nafter the report; 124 after --timeout; 1 when "
    "--fail-on-growth was met and the\nprogram ended with 0; 2 when the "
    "program "
    "cannot be run.";

class ReportCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    App = Program.add_subcommand("report", Help);
    App->footer(Footer);
    Probe.addOptions(*App);
    App->add_option("--from", From,
                    "Report on what an earlier run recorded (--recording) "
                    "instead of running a program")
        ->type_name("FILE");
    Files.addOptions(*App);
    App->add_option("--fail-on-growth", Limit,
                    "Exit with 1 when memory grows by more than that per "
                    "iteration (per second without an optimizer): 64KiB, 1MiB")
        ->type_name("BYTES");
    App->add_flag("--details", Options.Details,
                  "All rows of the tables and whole call chains");
    App->add_option("--color", Color, "Colours: auto, always or never")
        ->type_name("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    App->add_option("--timeout", Timeout,
                    "End the program and what it has started after so many "
                    "seconds, and report on what it did until then")
        ->type_name("SECONDS");
    App->add_option("--program", Meant,
                    "The program that is meant, where what stands after '--' "
                    "is a script or another program that starts it")
        ->type_name("FILE");
    App->add_option("command", Words, "The program and its arguments")
        ->type_name("PROGRAM ARGUMENTS");
    App->positionals_at_end();
    return App;
  }

  int run() override;

private:
  Recording record();
  void checkOptions();
  bool failsOnGrowth(const Profile &Of) const;

  CLI::App *App = nullptr;
  std::vector<std::string> Words;
  std::string From, Limit, Color = "auto", Timeout, Meant;
  ProfileTextOptions Options;
  ProbeOptions Probe;
  ReportFiles Files;
  Ended End;
};

Recording ReportCommand::record() {
  const Target Which =
      inspect(Meant.empty() ? Words[0] : Meant, Probe.libTorch());
  if (Which.IsSanitized)
    throw UserError("'" + Words[0] +
                    "' is built with AddressSanitizer, which stands in the "
                    "probe's place; give a build without");
  const TemporaryFolder Folder;
  Watched What;
  What.Command = Words;
  What.Program = findProgram(Words[0]);
  What.SamplesHeap = false;
  if (!Timeout.empty())
    What.Timeout = parseSeconds("--timeout", Timeout);
  What.KeepsOutput = Files.writesToDevice();
  What.Probe = Probe.build(Which.LibTorch);
  What.Trace = Folder.path() + "/trace";
  What.Environment = {{"TORCH_CONFIRM_TIMELINE", "1"}};
  requireRoom(What.Trace, trace::SeriesAt, trace::FileSize);
  requireSymbolizer();
  const auto KilledBefore = killedForMemory();
  End = execute(What);
  const auto KilledAfter = killedForMemory();
  const auto Busiest = busiest(What.Trace);
  if (!Busiest)
    throw UserError("the probe recorded nothing of '" + Words[0] +
                    "', which ended with " + std::to_string(End.code()) +
                    (Meant.empty() ? "" : "; does it start '" + Meant + "'?"));
  Recording Run = recordingOf(*Busiest);
  Run.Command = Words;
  Run.ExitCode = End.ExitCode;
  Run.Signal = End.Signal;
  Run.TimedOut = End.TimedOut;
  Run.Seconds = End.Seconds;
  Run.PeakResidentBytes = End.PeakResidentBytes;
  Run.WasKilledForMemory = End.Signal == 9 && KilledBefore && KilledAfter &&
                           *KilledAfter > *KilledBefore;
  return Run;
}

/// What is wrong with them is better known before a long run than after it.
void ReportCommand::checkOptions() {
  if (!Limit.empty())
    parseBytes("--fail-on-growth", Limit);
  if (!From.empty() && !Words.empty())
    throw UserError("--from reports on a recording, and runs no program");
  if (From.empty() && Words.empty())
    throw UserError("say which program is to run, after '--', or which "
                    "recording is to be reported on (--from)");
  Files.check();
}

bool ReportCommand::failsOnGrowth(const Profile &Of) const {
  if (Limit.empty() || Of.Memory != Trend::Grows)
    return false;
  return Of.BytesPerUnit > double(parseBytes("--fail-on-growth", Limit));
}

int ReportCommand::run() {
  checkOptions();
  Options.Color =
      Color == "always" || (Color == "auto" && isatty(STDERR_FILENO));
  Recording Run = From.empty() ? record() : readRecording(From);
  if (Run.Moments.empty() && Run.Operations && !From.empty())
    throw UserError("'" + From +
                    "' has no timeline: 'torch-confirm report --recording "
                    "FILE' writes those that have one");
  // Who reads the text may have read enough; the files are still wanted.
  std::signal(SIGPIPE, SIG_IGN);
  moveOffBraces(Run);
  const Profile Of = profileOf(Run);
  std::cerr << profileText(Run, Of, Options);
  const bool HasAll = Files.write(Run, Of);
  if (End.Signal && !End.TimedOut)
    endBySignal(*End.Signal);
  if (End.code())
    return End.code();
  if (!HasAll)
    return ExitError;
  return failsOnGrowth(Of) ? ExitFailOn : ExitSuccess;
}

} // namespace

std::unique_ptr<Command> makeReportCommand() {
  return std::make_unique<ReportCommand>();
}

} // namespace torchtidy::confirm
