#include "cli/ColorOption.h"
#include "cli/Command.h"
#include "live/Watch.h"
#include "run/Execute.h"
#include "support/Errors.h"
#include "support/Numbers.h"
#include <iostream>
#include <unistd.h>

namespace torchtidy::confirm {
namespace {

constexpr const char *LiveHelp =
    "Shows a program that runs under torch-confirm: its memory, graphs, lines";

constexpr const char *LiveFooter =
    "\n  torch-confirm report -- build/train     in one terminal\n"
    "  torch-confirm live                      in another one\n"
    "\n"
    "It only reads what the probe writes, and costs the program nothing. With "
    "'report'\nit says why memory grows, as far as that is known by now; with "
    "'run' what is\nalive. 'q' or Ctrl-C ends the view, not the program. In "
    "one terminal:\n"
    "\n"
    "  torch-confirm report --live -- build/train\n"
    "\n"
    "Exit codes: 0; 2 when no program runs under torch-confirm, or it is not "
    "clear\nwhich is meant.";

class LiveCommand : public Command {
public:
  CLI::App *add(CLI::App &To) override {
    App = To.add_subcommand("live", LiveHelp);
    App->footer(LiveFooter);
    App->add_option("process", Process,
                    "The number of the program, or of the torch-confirm that "
                    "runs it; needed where several run")
        ->type_name("PID");
    App->add_option("--interval", Interval,
                    "Seconds between two looks (default: 1)")
        ->type_name("SECONDS");
    App->add_flag("--once", IsOnce, "Look once, and print what was seen");
    Color.addOption(*App);
    return App;
  }

  int run() override;

private:
  CLI::App *App = nullptr;
  std::optional<int> Process;
  std::string Interval = "1";
  bool IsOnce = false;
  ColorOption Color;
};

int LiveCommand::run() {
  WatchSettings How;
  How.Seconds = parseSeconds("--interval", Interval);
  How.File = STDOUT_FILENO;
  How.Color = Color.isOn(STDOUT_FILENO);
  Follower Program(liveRun(Process));
  if (IsOnce) {
    auto Look = Program.look();
    if (!Look)
      throw UserError("the program has run no operation of LibTorch yet");
    std::cout << lookText(std::move(*Look), How);
    return ExitSuccess;
  }
  watch([&] { return Program.look(); }, [&] { return Program.isAlive(); }, How);
  return ExitSuccess;
}

} // namespace

std::unique_ptr<Command> makeLiveCommand() {
  return std::make_unique<LiveCommand>();
}

} // namespace torchtidy::confirm
