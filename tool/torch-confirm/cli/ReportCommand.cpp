#include "cli/Busiest.h"
#include "cli/ColorOption.h"
#include "cli/Command.h"
#include "cli/ProbeOptions.h"
#include "cli/ProgramToRun.h"
#include "cli/ReportFiles.h"
#include "cli/RunLive.h"
#include "export/Text.h"
#include "profile/Braces.h"
#include "recording/FromTrace.h"
#include "recording/Json.h"
#include "recording/Symbolizer.h"
#include "run/Execute.h"
#include "run/OutOfMemory.h"
#include "run/Room.h"
#include "support/Capture.h"
#include "support/Errors.h"
#include "support/Sizes.h"
#include "trace/Trace.h"
#include <csignal>
#include <iostream>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

constexpr const char *ReportHelp =
    "Runs a program and says why its memory grows and where its time goes";

constexpr const char *ReportFooter =
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
  CLI::App *add(CLI::App &To) override {
    App = To.add_subcommand("report", ReportHelp);
    App->footer(ReportFooter);
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
    Color.addOption(*App);
    App->add_flag("--live", IsLive,
                  "Show it on the terminal while it runs, as 'torch-confirm "
                  "live' does; what the program prints comes when it has "
                  "ended");
    Program.addOptions(*App, "report on what it did");
    return App;
  }

  int run() override;

private:
  Recording record();
  int runAndReport();
  void checkOptions();
  bool failsOnGrowth(const Profile &Of) const;

  CLI::App *App = nullptr;
  ProgramToRun Program;
  std::string From, Limit;
  ColorOption Color;
  bool IsLive = false;
  ProfileTextOptions Options;
  ProbeOptions Probe;
  ReportFiles Files;
  Ended End;
};

Recording ReportCommand::record() {
  const Target Which = Program.inspected(Probe.libTorch());
  if (Which.IsSanitized)
    throw UserError("'" + Program.words()[0] +
                    "' is built with AddressSanitizer, which stands in the "
                    "probe's place; give a build without");
  const TemporaryFolder Folder;
  Watched What = Program.watched(Files.writesToDevice());
  What.SamplesHeap = false;
  What.SamplesDevices = true;
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
    throw Program.recordedNothing(End);
  Recording Run = recordingOf(*Busiest);
  Program.complete(Run, End);
  Run.PeakResidentBytes = End.PeakResidentBytes;
  Run.Devices = End.Devices;
  Run.WasKilledForMemory = End.Signal == 9 && KilledBefore && KilledAfter &&
                           *KilledAfter > *KilledBefore;
  return Run;
}

/// What is wrong with them is better known before a long run than after it.
void ReportCommand::checkOptions() {
  if (!Limit.empty())
    parseBytes("--fail-on-growth", Limit);
  const bool Runs = !Program.words().empty();
  if (!From.empty() && Runs)
    throw UserError("--from reports on a recording, and runs no program");
  if (!From.empty() && IsLive)
    throw UserError("--live shows a program while it runs, and --from runs "
                    "none");
  if (From.empty() && !Runs)
    throw UserError("say which program is to run, after '--', or which "
                    "recording is to be reported on (--from)");
  if (Runs)
    Program.check();
  Files.check();
}

bool ReportCommand::failsOnGrowth(const Profile &Of) const {
  if (Limit.empty() || Of.Memory != Trend::Grows)
    return false;
  return Of.BytesPerUnit > double(parseBytes("--fail-on-growth", Limit));
}

int ReportCommand::run() {
  checkOptions();
  Options.Color = Color.isOn(STDERR_FILENO);
  if (!IsLive)
    return runAndReport();
  return runLive([this] { return runAndReport(); }, Options.Color);
}

int ReportCommand::runAndReport() {
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
