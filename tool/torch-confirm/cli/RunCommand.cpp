#include "cli/Command.h"
#include "cli/Errors.h"

namespace torchtidy::confirm {
namespace {

class RunCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    return Program.add_subcommand("run", "Not there yet");
  }
  int run() override { throw UserError("'run' is not there yet"); }
};

} // namespace

std::unique_ptr<Command> makeRunCommand() {
  return std::make_unique<RunCommand>();
}

} // namespace torchtidy::confirm
