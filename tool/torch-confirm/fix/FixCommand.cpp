#include "fix/FixCommand.h"
#include "fix/Attempts.h"
#include "fix/CMakeCache.h"
#include "fix/Selection.h"
#include "run/Target.h"
#include "support/Errors.h"
#include "support/Files.h"
#include <algorithm>
#include <iostream>
#include <thread>

namespace fs = std::filesystem;

namespace torchtidy::confirm {
namespace {

using namespace fix;

constexpr const char *Help =
    "Builds the program with the fixes applied, and compares it with the "
    "program as it is";

constexpr const char *Footer =
    "\n  torch-confirm fix -p build --analyze -- build/train --epochs 1\n"
    "  torch-confirm fix -p build --findings findings.sarif --each -- "
    "build/train\n"
    "  torch-confirm fix -p . --analyze --build-command 'make -C {source} "
    "train' -- ./train\n"
    "\n"
    "Your files and the build folder are not touched: the sources are copied, "
    "the copy is\nconfigured as the build folder was, built and run, changed "
    "by the fixes, built and\nrun again. Both runs are in the current folder "
    "with the same arguments; what they\nprint on standard output is compared, "
    "not shown. A finding is CONFIRMED where what it\nnames was measured, is "
    "gone with its fix, and the program does the same otherwise.\n"
    "\n"
    "Exit codes: 0; 1 when --fail-on has met a verdict; 2 when the program "
    "cannot be\nbuilt, run or compared, or does not build with its fixes.";

class FixCommand : public Command {
public:
  CLI::App *add(CLI::App &Program) override;
  int run() override;

private:
  Project project() const;
  fs::path program() const;
  int report(const FixReport &What) const;

  std::vector<std::string> Words, Also;
  std::string BuildFolder, Source, BuildCommand, Keep, Input = "/dev/null";
  std::string Output, Json, FailOn, Ignored;
  bool IsEach = false;
  unsigned Jobs = std::max(1u, std::thread::hardware_concurrency());
  Selection Which;
  ProbeOptions Probe;
};

CLI::App *FixCommand::add(CLI::App &Program) {
  CLI::App *App = Program.add_subcommand("fix", Help);
  App->footer(Footer);
  App->add_option("-p", BuildFolder, "The build folder that makes the program")
      ->required()
      ->type_name("FOLDER");
  Which.addOptions(*App);
  App->add_flag("--each", IsEach,
                "Try each fix by itself, not all together: a build and a run "
                "for each finding whose effect is there");
  App->add_option("--build-command", BuildCommand,
                  "For a project without CMake: how the copy is built. A shell "
                  "runs it in the copy; '{source}' and '{build}' are the "
                  "copy's folder and that of its build")
      ->type_name("COMMAND");
  App->add_option("--source", Source,
                  "The folder that holds all sources (default: the git work "
                  "tree, else what CMake was configured for)")
      ->type_name("FOLDER");
  App->add_option("--copy", Also,
                  "A file or folder of the project that git ignores and the "
                  "build needs (may be given again)")
      ->allow_extra_args(false)
      ->type_name("PATH");
  App->add_option("-j,--jobs", Jobs, "How many compilers run at once")
      ->check(CLI::Range(1u, 4096u))
      ->type_name("N");
  App->add_option("--input", Input,
                  "What both runs get as standard input (default: nothing)")
      ->type_name("FILE");
  App->add_option("--ignore-lines", Ignored,
                  "Lines of the output in which this regular expression is "
                  "found are not compared (times)")
      ->type_name("REGEX");
  App->add_option("--keep", Keep,
                  "Copy and build there, and leave it: a new or empty folder")
      ->type_name("FOLDER");
  App->add_option("--output", Output,
                  "Write the report there, not to standard error")
      ->type_name("FILE");
  App->add_option("--json", Json, "Write it as JSON, too")->type_name("FILE");
  App->add_option("--fail-on", FailOn,
                  "Exit with 1 when a finding is 'confirmed', or when one with "
                  "a fix is not ('unconfirmed')")
      ->check(CLI::IsMember({"confirmed", "unconfirmed"}))
      ->type_name("VERDICT");
  Probe.addOptions(*App);
  App->add_option("program", Words, "The program and its arguments")
      ->type_name("PROGRAM ARGUMENTS");
  App->positionals_at_end();
  return App;
}

Project FixCommand::project() const {
  if (!Source.empty()) {
    if (!fs::is_directory(Source))
      throw UserError("--source: '" + Source + "' is no folder");
    return {fs::weakly_canonical(Source), projectOf(Source).HasGit};
  }
  if (!BuildCommand.empty()) {
    const fs::path Build = fs::weakly_canonical(BuildFolder);
    for (const fs::path &Folder : {Build, Build.parent_path()})
      if (Project Found = projectOf(Folder); Found.HasGit)
        return Found;
    throw UserError("'" + BuildFolder +
                    "' is in no git work tree: say with --source=FOLDER what "
                    "is to be copied");
  }
  const std::string Home = CMakeCache(readFile(BuildFolder + "/CMakeCache.txt"))
                               .value("CMAKE_HOME_DIRECTORY");
  if (!fs::is_directory(Home))
    throw UserError("'" + BuildFolder + "' was configured for '" + Home +
                    "', which is no folder");
  return projectOf(Home);
}

/// Throws UserError where it is not of the build folder.
fs::path FixCommand::program() const {
  const fs::path Program = inspect(Words[0], Probe.libTorch()).Program;
  if (below(BuildFolder, Program))
    return Program;
  // One that is put among the sources.
  bool IsOfOther = !below(project().Root, Program);
  for (fs::path Folder = Program.parent_path();
       !IsOfOther && Folder.has_relative_path(); Folder = Folder.parent_path())
    IsOfOther = isBuildFolder(Folder);
  if (IsOfOther)
    throw UserError("'" + Words[0] + "' is not below '" + BuildFolder +
                    "' (-p); give the build folder that makes it");
  return Program;
}

int FixCommand::report(const FixReport &What) const {
  if (Output.empty())
    std::cerr << asText(What);
  else
    writeFile(Output, asText(What));
  if (!Json.empty())
    writeFile(Json, asJson(What));
  const bool Fails = std::any_of(
      What.Findings.begin(), What.Findings.end(), [&](const FixedFinding &F) {
        const bool Is = F.Result.Result == FixOutcome::Confirmed;
        return (FailOn == "confirmed" && Is) ||
               (FailOn == "unconfirmed" && !Is);
      });
  return Fails ? ExitFailOn : ExitSuccess;
}

int FixCommand::run() {
  if (Words.empty())
    throw UserError("say which program is to run, after '--'");
  if (!fs::is_directory(BuildFolder))
    throw UserError("-p: '" + BuildFolder + "' is no folder");
  if (BuildCommand.empty() && !isBuildFolder(BuildFolder))
    throw UserError("'" + BuildFolder +
                    "' (-p) was not configured by CMake: it has no "
                    "CMakeCache.txt. For a project that is built otherwise say "
                    "how: --build-command='make -C {source}'");
  if (!fs::exists(Input))
    throw UserError("--input: there is no '" + Input + "'");
  if (!Keep.empty() && fs::exists(Keep) && !fs::is_empty(Keep))
    throw UserError("--keep: '" + Keep + "' is there and not empty");
  const IgnoredLines Lines("--ignore-lines", Ignored);
  const Target Original = inspect(Words[0], Probe.libTorch());
  if (Original.IsSanitized)
    throw UserError("'" + Words[0] +
                    "' is built with AddressSanitizer, and nothing can be "
                    "measured; give a build without");
  BuildSettings How;
  How.Build = fs::weakly_canonical(BuildFolder);
  How.Program = fs::weakly_canonical(program());
  How.Jobs = Jobs;
  const Project From = project();
  size_t WithoutFix = 0;
  const std::vector<DiagnosedFinding> Findings =
      Which.findings(BuildFolder, WithoutFix);
  requireSources(Original, Findings);

  const TemporaryFolder Temporary;
  fs::path Work = Temporary.path();
  if (!Keep.empty()) {
    fs::create_directories(Keep);
    Work = Keep;
  }
  RunSettings Settings{
      {Words.begin() + 1, Words.end()}, fs::absolute(Input).string(), Lines};
  FixRuns Runs(fs::weakly_canonical(Work), From, Also, How, BuildCommand,
               Settings, Probe);
  std::vector<FixableFinding> Prepared = Runs.prepare(Findings);
  ProgramRun After;
  FixReport Result =
      IsEach ? tryEach(Runs, Prepared) : tryTogether(Runs, Prepared, After);
  Result.WithoutFix = WithoutFix;
  return report(Result);
}

} // namespace

std::unique_ptr<Command> makeFixCommand() {
  return std::make_unique<FixCommand>();
}

} // namespace torchtidy::confirm
