#include "fix/FixRuns.h"
#include "cli/Busiest.h"
#include "fix/CMakeCache.h"
#include "recording/FromTrace.h"
#include "run/Execute.h"
#include "run/Target.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

namespace fs = std::filesystem;

namespace torchtidy::confirm::fix {
namespace {

volatile sig_atomic_t WasInterrupted = 0;

void remember(int /*Signal*/) { WasInterrupted = 1; }

/// Ctrl-C ends the compiler, which is in the same group; this process then
/// removes its copy.
class Interruptible {
public:
  Interruptible() {
    struct sigaction New = {};
    New.sa_handler = remember;
    sigaction(SIGINT, &New, &Old);
  }
  ~Interruptible() { sigaction(SIGINT, &Old, nullptr); }
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;

  static void check() {
    if (WasInterrupted)
      throw UserError("ended by Ctrl-C; nothing was compared");
  }

private:
  struct sigaction Old = {};
};

fs::path copyFolder(const fs::path &Work, const Project &From) {
  const fs::path Name = From.Root.filename();
  return Work / (Name.empty() ? fs::path("source") : Name);
}

} // namespace

FixRuns::FixRuns(fs::path Work, const Project &From,
                 const std::vector<std::string> &Also, BuildSettings How,
                 const std::string &BuildCommand, RunSettings Settings,
                 const ProbeOptions &Probe)
    : Work(std::move(Work)), Copy(From, copyFolder(this->Work, From), Also),
      How(std::move(How)), Settings(std::move(Settings)), Probe(Probe) {
  this->How.NewBuild = Copy.of(this->How.Build);
  if (this->How.NewBuild.empty())
    this->How.NewBuild = this->Work / "build";
  Builder = BuildCommand.empty()
                ? makeCMakeBuild(this->How, Copy)
                : makeCommandBuild(this->How, Copy, BuildCommand);
}

std::vector<FixableFinding>
FixRuns::prepare(const std::vector<DiagnosedFinding> &Findings) {
  std::vector<FixableFinding> Result;
  const auto Take = [&](std::string &File) {
    const fs::path Copied = Copy.of(File);
    if (!File.empty() && fs::is_regular_file(Copied))
      File = Copied.string();
  };
  for (const DiagnosedFinding &Each : Findings) {
    FixableFinding New{Each, Each, {}, ""};
    for (LineRange *Place :
         {&New.Copied.Statement, &New.Copied.Loop, &New.Copied.IterationSite})
      Take(Place->File);
    for (FindingNote &Note : New.Copied.Notes)
      Take(Note.Place.File);
    for (FindingEdit &Edit : New.Copied.Fix) {
      const std::string Old = Edit.File;
      Take(Edit.File);
      if (Edit.File == Old)
        New.Obstacle = "'" + Old + "' is not among the files that were copied";
      else if (!Files.count(Edit.File))
        Files[Edit.File] = readFile(Edit.File);
    }
    if (New.Obstacle.empty())
      New.Own = resolve(New.Copied, Files);
    // Places are followed by the text of their file.
    for (const LineRange *Place :
         {&New.Copied.Statement, &New.Copied.Loop, &New.Copied.IterationSite})
      if (Place->isKnown() && !Files.count(Place->File))
        Files[Place->File] = readFile(Place->File);
    Result.push_back(std::move(New));
  }
  return Result;
}

std::string FixRuns::original(const std::string &Text) const {
  return withFolder(Text, Copy.root().string(), Copy.original().string(),
                    [](const std::string &) { return false; });
}

const ProgramRun &FixRuns::asItIs() {
  const Interruptible During;
  Builder->configure();
  Interruptible::check();
  std::cerr << "torch-confirm: building " << Builder->name() << " as it is\n";
  const Captured Done = Builder->build();
  Interruptible::check();
  if (!Done.succeeded())
    throw UserError("the copy of the project does not build as it is: " +
                    original(firstError(Done.All)) +
                    "\nwhat git ignores is not copied; --copy=PATH adds what "
                    "the build needs of that, and --source=FOLDER names a "
                    "folder that holds all sources");
  if (!fs::exists(Builder->program()))
    throw UserError("the build of the copy made no '" +
                    Builder->program().string() + "'; is '" +
                    How.Program.string() +
                    "' what the build folder of -p makes?");
  Before = run("as-it-is");
  return Before;
}

std::string FixRuns::build(const Edits &All) {
  for (const std::string &File : Changed)
    Copy.write(File, Files.at(File));
  Changed.clear();
  for (const Edit &Each : All)
    if (std::find(Changed.begin(), Changed.end(), Each.File) == Changed.end())
      Changed.push_back(Each.File);
  for (const std::string &File : Changed)
    Copy.write(File, apply(Files.at(File), File, All));
  const Interruptible During;
  const Captured Done = Builder->build();
  Interruptible::check();
  if (Done.succeeded())
    return "";
  return original(firstError(Done.All));
}

ProgramRun FixRuns::run(const std::string &Name) {
  const std::string Program = Builder->program().string();
  const Target Which = inspect(Program, Probe.libTorch());
  ProgramRun Result;
  Result.Output = (Work / (Name + ".out")).string();
  const TemporaryFolder Folder;
  Watched What;
  What.Command = {Program};
  What.Command.insert(What.Command.end(), Settings.Arguments.begin(),
                      Settings.Arguments.end());
  What.Program = Program;
  What.Probe = Probe.build(Which.LibTorch);
  What.Trace = Folder.path() + "/trace";
  What.Input = Settings.Input;
  What.Output = Result.Output;
  // The libraries of the program come from the copy, too.
  if (const char *Libraries = std::getenv("LD_LIBRARY_PATH"))
    What.Environment = {
        {"LD_LIBRARY_PATH",
         withFolder(Libraries, How.Build.string(), How.NewBuild.string(),
                    [](const std::string &) { return false; })}};
  std::cerr << "torch-confirm: running " << shown(What.Command) << '\n';
  const Ended End = execute(What);
  if (End.Signal == SIGINT)
    throw UserError("the run was ended by Ctrl-C; nothing was compared");
  const auto Trace = busiest(What.Trace);
  if (!Trace)
    throw UserError("the probe recorded nothing of '" + Program + "'");
  Result.What = recordingOf(*Trace);
  Result.What.Command = What.Command;
  Result.What.Command[0] = How.Program.string();
  Result.What.ExitCode = End.ExitCode;
  Result.What.Signal = End.Signal;
  Result.What.Seconds = End.Seconds;
  return Result;
}

Comparison FixRuns::runBeside(const ProgramRun &Earlier,
                              const std::string &Name, ProgramRun &Result) {
  Result = run(Name);
  Comparison First = compare(Earlier, Result, "", Settings.Ignored);
  if (First.Output.isSame())
    return First;
  std::cerr << "torch-confirm: it prints something else; running it once more, "
               "to see what differs from run to run\n";
  return compare(Earlier, Result, run(Name + "-again").Output,
                 Settings.Ignored);
}

Comparison FixRuns::beside(const ProgramRun &Earlier, const std::string &Name,
                           const ProgramRun &Result) const {
  const fs::path Again = Work / (Name + "-again.out");
  return compare(Earlier, Result, fs::exists(Again) ? Again.string() : "",
                 Settings.Ignored);
}

DiagnosedFinding FixRuns::follow(const FixableFinding &Which,
                                 const Edits &All) const {
  DiagnosedFinding Result = Which.Copied;
  const auto Move = [&](LineRange &Place, const Edits &Own) {
    if (Place.isKnown() && Files.count(Place.File))
      Place = moved(Place, Files.at(Place.File), All, Own)
                  .value_or(LineRange{Place.File, 0, 0});
  };
  Move(Result.Statement, Which.Own);
  Move(Result.IterationSite, Which.Own);
  // What is taken out of a loop is not the loop.
  Move(Result.Loop, {});
  for (FindingNote &Note : Result.Notes)
    Move(Note.Place, {});
  Result.Line = Result.Statement.First;
  return Result;
}

} // namespace torchtidy::confirm::fix
