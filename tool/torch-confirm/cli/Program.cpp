#include "cli/Program.h"
#include "support/Errors.h"
#include "support/Paths.h"
#include <iostream>

namespace torchtidy::confirm {
namespace {

constexpr const char *Description =
    "Runs a program that uses LibTorch and says of each finding of torch-tidy\n"
    "whether the run confirms it: CONFIRMED with a number, REFUTED, NOT "
    "REACHED or\n"
    "NOT MEASURABLE HERE.\n"
    "\n"
    "  torch-tidy --sarif=findings.sarif -p build\n"
    "  torch-confirm run --findings findings.sarif -- build/train --epochs 1\n"
    "\n"
    "The program has to be built with -g, so that what is measured can be told "
    "by\n"
    "line; it need not be changed.\n";

constexpr const char *ProgramFooter =
    "\n'torch-confirm <subcommand> --help' explains one of them.\n"
    "Exit codes: 0; 1 what --fail-on asks for; 2 bad input or something "
    "missing;\n"
    "'run' passes the exit code of the program on.";

} // namespace

int runProgram(const std::vector<std::unique_ptr<Command>> &Commands, int Count,
               char **Words) {
  CLI::App Program(Description, "torch-confirm");
  Program.footer(ProgramFooter);
  Program.set_version_flag("--version", "torch-confirm " + version());
  Program.require_subcommand(1);

  std::vector<CLI::App *> Apps;
  for (const auto &C : Commands)
    Apps.push_back(C->add(Program));

  try {
    Program.parse(Count, Words);
  } catch (const CLI::Success &Asked) {
    return Program.exit(Asked);
  } catch (const CLI::ParseError &Error) {
    std::cerr << "torch-confirm: error: " << Error.what()
              << "; --help explains the command line\n";
    return ExitError;
  }
  try {
    for (size_t I = 0; I < Commands.size(); ++I)
      if (Apps[I]->parsed())
        return Commands[I]->run();
  } catch (const std::exception &Error) {
    std::cerr << "torch-confirm: error: " << Error.what() << '\n';
  }
  return ExitError;
}

} // namespace torchtidy::confirm
