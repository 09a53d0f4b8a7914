#include "cli/Command.h"
#include "cli/Errors.h"

namespace torchtidy::confirm {
namespace {

class ProbeCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override {
    return Program.add_subcommand("probe", "Not there yet");
  }
  int run() override { throw UserError("'probe' is not there yet"); }
};

} // namespace

std::unique_ptr<Command> makeProbeCommand() {
  return std::make_unique<ProbeCommand>();
}

} // namespace torchtidy::confirm
