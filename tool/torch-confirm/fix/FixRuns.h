// The copy of a project, built and run as it is and with fixes.
#ifndef TORCHTIDY_CONFIRM_FIX_FIXRUNS_H
#define TORCHTIDY_CONFIRM_FIX_FIXRUNS_H

#include "cli/ProbeOptions.h"
#include "fix/CopyBuild.h"
#include "fix/Edits.h"
#include "fix/Trial.h"
#include <memory>

namespace torchtidy::confirm::fix {

/// A finding whose fix can be tried.
struct FixableFinding {
  DiagnosedFinding Original;
  /// Its places and its fix in the copy.
  DiagnosedFinding Copied;
  Edits Own;
  /// Why its fix cannot be tried; empty where it can.
  std::string Obstacle;
};

struct RunSettings {
  /// The program's arguments.
  std::vector<std::string> Arguments;
  /// A file that is its standard input.
  std::string Input;
  IgnoredLines Ignored;
};

class FixRuns {
public:
  /// Work: an empty folder for what is built and written.
  FixRuns(std::filesystem::path Work, const Project &From,
          const std::vector<std::string> &Also, BuildSettings How,
          const std::string &BuildCommand, RunSettings Settings,
          const ProbeOptions &Probe);

  /// Takes the findings into the copy. Throws UserError where they are of other
  /// versions of the files.
  std::vector<FixableFinding>
  prepare(const std::vector<DiagnosedFinding> &Findings);
  /// Configures and builds the copy as it is, and runs the program. Throws
  /// UserError where that fails.
  const ProgramRun &asItIs();
  /// Applies edits to the copy as it is and builds it; empty, or the first
  /// error.
  std::string build(const Edits &All);
  /// Runs the program of the last build. Name: of the file for its output.
  ProgramRun run(const std::string &Name);
  /// The same with what it is beside an earlier run; runs it twice where it
  /// prints something else.
  Comparison runBeside(const ProgramRun &Earlier, const std::string &Name,
                       ProgramRun &Result);
  /// Compares a run with another one of that name, which runBeside() has made
  /// twice where that was needed.
  Comparison beside(const ProgramRun &Earlier, const std::string &Name,
                    const ProgramRun &Result) const;
  /// A finding where it is when edits are applied; its statement is not known
  /// where they take it out.
  DiagnosedFinding follow(const FixableFinding &Which, const Edits &All) const;

private:
  std::string original(const std::string &Text) const;

  std::filesystem::path Work;
  ProjectCopy Copy;
  BuildSettings How;
  RunSettings Settings;
  const ProbeOptions &Probe;
  std::unique_ptr<CopyBuild> Builder;
  /// Of the files that fixes change, by their paths in the copy.
  Texts Files;
  ProgramRun Before;
  /// Files that are not as in the project.
  std::vector<std::string> Changed;
};

} // namespace torchtidy::confirm::fix

#endif
