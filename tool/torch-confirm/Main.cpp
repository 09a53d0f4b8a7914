// The subcommands of torch-confirm, each from its own room.
#include "cli/Program.h"
#include "fix/FixCommand.h"
#include "scenarios/ScenariosCommand.h"

using namespace torchtidy::confirm;

int main(int Count, char **Words) {
  std::vector<std::unique_ptr<Command>> Commands;
  Commands.push_back(makeRunCommand());
  Commands.push_back(makeJudgeCommand());
  Commands.push_back(makeFixCommand());
  Commands.push_back(makeReportCommand());
  Commands.push_back(makeLiveCommand());
  Commands.push_back(makeDiffCommand());
  Commands.push_back(makeProbeCommand());
  Commands.push_back(makeScenariosCommand());
  return runProgram(Commands, Count, Words);
}
