#include "cli/Command.h"
#include "cli/Judging.h"
#include "recording/FromTrace.h"
#include "recording/Json.h"
#include "rules/Judge.h"
#include "support/Errors.h"

namespace torchtidy::confirm {
namespace {

class JudgeCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    CLI::App *App = Program.add_subcommand(
        "judge", "Judges findings by a recording of an earlier run");
    auto *Kept = App->add_option("--recording", RecordingPath,
                                 "What 'torch-confirm run --recording' kept")
                     ->type_name("FILE");
    App->add_option("--trace", TracePath,
                    "What a probe left that was loaded by hand ('torch-confirm "
                    "probe' says how)")
        ->type_name("FILE")
        ->excludes(Kept);
    Both.addOptions(*App);
    return App;
  }

  int run() override {
    const Recording Run = recorded();
    Both.prepare();
    requireCommonFile(Both.findings().Findings, Run);
    return Both.report(Run) ? ExitFailOn : ExitSuccess;
  }

private:
  Recording recorded() const {
    if (TracePath.empty() && RecordingPath.empty())
      throw UserError("say what was recorded: --recording=FILE, or "
                      "--trace=FILE");
    if (TracePath.empty())
      return readRecording(RecordingPath);
    std::string Error;
    const auto Trace = trace::readTrace(TracePath, Error);
    if (!Trace)
      throw UserError(Error);
    return recordingOf(*Trace);
  }

  std::string RecordingPath, TracePath;
  Judging Both;
};

} // namespace

std::unique_ptr<Command> makeJudgeCommand() {
  return std::make_unique<JudgeCommand>();
}

} // namespace torchtidy::confirm
