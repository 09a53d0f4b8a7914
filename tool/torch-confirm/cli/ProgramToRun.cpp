#include "cli/ProgramToRun.h"
#include "support/Numbers.h"

namespace torchtidy::confirm {

void ProgramToRun::addOptions(CLI::App &App, const std::string &Then) {
  App.add_option("--timeout", Timeout,
                 "End the program and what it has started after so many "
                 "seconds (SIGTERM, 10 s later SIGKILL), " +
                     Then + " until then, and exit with 124")
      ->type_name("SECONDS");
  App.add_option("--program", Meant,
                 "The program that is meant, where what stands after '--' "
                 "is a script or another program that starts it")
      ->type_name("FILE");
  App.add_option("command", Words, "The program and its arguments")
      ->type_name("PROGRAM ARGUMENTS");
  // What the program is given is not ours to read.
  App.positionals_at_end();
}

void ProgramToRun::check() const {
  if (Words.empty())
    throw UserError("say which program is to run, after '--'");
  if (!Timeout.empty())
    parseSeconds("--timeout", Timeout);
  if (!Meant.empty())
    findProgram(Words[0]);
}

Target ProgramToRun::inspected(const std::string &LibTorch) const {
  return inspect(Meant.empty() ? Words[0] : Meant, LibTorch);
}

Watched ProgramToRun::watched(bool KeepsOutput) const {
  Watched What;
  What.Command = Words;
  What.Program = findProgram(Words[0]);
  if (!Timeout.empty())
    What.Timeout = parseSeconds("--timeout", Timeout);
  What.KeepsOutput = KeepsOutput;
  return What;
}

void ProgramToRun::complete(Recording &Run, const Ended &End) const {
  Run.Command = Words;
  Run.ExitCode = End.ExitCode;
  Run.Signal = End.Signal;
  Run.TimedOut = End.TimedOut;
  Run.Seconds = End.Seconds;
}

UserError ProgramToRun::recordedNothing(const Ended &End) const {
  return UserError("the probe recorded nothing of '" + Words[0] +
                   "', which ended with " + std::to_string(End.code()) +
                   (Meant.empty() ? "" : "; does it start '" + Meant + "'?"));
}

} // namespace torchtidy::confirm
