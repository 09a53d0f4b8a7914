#include "run/Programs.h"
#include "Messages.h"
#include "run/Merge.h"
#include <set>
#include <tuple>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// File, offset and check.
using Place = std::tuple<std::string, unsigned, std::string>;

Place placeOf(const tidy::ClangTidyError &Finding) {
  return {Finding.Message.FilePath, Finding.Message.FileOffset,
          Finding.DiagnosticName};
}

void addNew(RunResult &Whole, RunResult &Done) {
  std::set<Place> Known, New;
  for (const tidy::ClangTidyError &Each : Whole.Findings)
    Known.insert(placeOf(Each));
  for (tidy::ClangTidyError &Each : Done.Findings)
    if (StringRef(Each.DiagnosticName).starts_with("torch-") &&
        !Known.count(placeOf(Each))) {
      New.insert(placeOf(Each));
      Whole.Findings.push_back(std::move(Each));
    }
  merge(Whole.Findings);
  for (Evidence &Each : Done.Evidences)
    if (New.count({Each.FilePath, Each.FileOffset, Each.Check}))
      Whole.Evidences.push_back(std::move(Each));
  addShortfalls(Whole, std::move(Done.Shortfalls));
}

} // namespace

void addPrograms(RunResult &Whole, const ContextMaker &MakeContext,
                 const tooling::CompilationDatabase &Database,
                 ArrayRef<SourceProgram> Programs,
                 IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS,
                 RunSettings Settings) {
  if (Programs.empty()) {
    note() << "no source includes a header that another one defines: there is "
              "no program of several (--together)\n";
    return;
  }
  std::vector<std::string> Sources;
  for (const SourceProgram &Each : Programs) {
    Sources.push_back(Each.Source);
    if (Each.IsCut)
      note() << "'" << Each.Source << "' needs more than " << MaxCompanions
             << " other sources: it is analysed with the nearest of them\n";
  }
  Settings.Analysis.ArePrograms = true;
  const auto Commands = commandsOfPrograms(Database, Programs);
  RunResult Done = runChecks(MakeContext, *Commands, Sources, FS, Settings);
  for (const auto &[Source, Reason] : Done.Failures)
    note() << "'" << Source
           << "' could not be analysed with its other sources: " << Reason
           << '\n';
  Whole.UserFiles.insert(Done.UserFiles.begin(), Done.UserFiles.end());
  Whole.Signal = Done.Signal;
  const size_t Before = Whole.Findings.size();
  addNew(Whole, Done);
  note() << counted(Programs.size() - Done.NumWithoutLibTorch, "program")
         << " analysed in whole: "
         << counted(Whole.Findings.size() - Before, "more finding") << '\n';
}

} // namespace torchtidy::tool
