#include "cli/Command.h"
#include "cli/Errors.h"

namespace torchtidy::confirm {
namespace {

class JudgeCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    return Program.add_subcommand("judge", "Not there yet");
  }
  int run() override { throw UserError("'judge' is not there yet"); }
};

} // namespace

std::unique_ptr<Command> makeJudgeCommand() {
  return std::make_unique<JudgeCommand>();
}

} // namespace torchtidy::confirm
