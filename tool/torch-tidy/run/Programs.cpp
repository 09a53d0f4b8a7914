#include "run/Programs.h"
#include "Messages.h"
#include "Registry.h"
#include "inputs/Tree.h"
#include "run/Merge.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

void addNew(RunResult &Whole, RunResult &Done) {
  std::set<FindingPlace> Known, New;
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
    if (New.count(placeOf(Each)))
      Whole.Evidences.push_back(std::move(Each));
  addShortfalls(Whole, std::move(Done.Shortfalls));
}

/// Which code is known in whole, with all that runs it: sources of programs,
/// and headers that these alone include.
class KnownCode {
public:
  KnownCode(const ContextMaker &MakeContext, ArrayRef<SourceProgram> Programs,
            const RunResult &Alone, const RunResult &Done) {
    const std::unique_ptr<tidy::ClangTidyContext> Context = MakeContext();
    const auto Configuration = [&](StringRef File) {
      return tidy::configurationAsText(Context->getOptionsForFile(File));
    };
    StringSet<> Failed;
    for (const RunResult::Failure &Each : Done.Failures)
      Failed.insert(Each.Source);
    for (const SourceProgram &Each : Programs) {
      const bool IsKnown = !Each.IsCut && !Failed.contains(Each.Source);
      const std::string Asked = Configuration(Each.Source);
      add(comparablePath(Each.Source), IsKnown);
      for (const std::string &Part : Each.Companions)
        add(Part, IsKnown && Configuration(Part) == Asked);
    }
    leaveOut(Alone, Done);
    // What a source includes that could not be analysed is not known.
    if (Alone.Failures.empty())
      addHeaders(Alone);
  }

  bool contains(StringRef File) const {
    return Files.lookup(comparablePath(File));
  }

private:
  void add(StringRef File, bool IsKnown) {
    Files.try_emplace(File, true).first->second &= IsKnown;
  }

  /// Where the sources clash, or a function is too large in whole.
  void leaveOut(const RunResult &Alone, const RunResult &Done) {
    std::set<FindingPlace> Errors;
    for (const tidy::ClangTidyError &Each : Alone.Findings)
      if (Each.DiagLevel == tidy::ClangTidyError::Error)
        Errors.insert(placeOf(Each));
    for (const tidy::ClangTidyError &Each : Done.Findings)
      if (Each.DiagLevel == tidy::ClangTidyError::Error &&
          !Errors.count(placeOf(Each)))
        add(comparablePath(Each.Message.FilePath), false);
    for (const Shortfall &Each : Done.Shortfalls)
      add(comparablePath(StringRef(Each.Place).rsplit(':').first), false);
  }

  void addHeaders(const RunResult &Alone) {
    StringMap<bool> Headers;
    for (const auto &[Source, Included] : Alone.UserFiles) {
      const bool IsKnown = contains(Source);
      for (const std::string &Each : Included)
        if (const std::string Path = comparablePath(Each); !Files.count(Path))
          Headers.try_emplace(Path, true).first->second &= IsKnown;
    }
    for (const auto &Each : Headers)
      add(Each.first(), Each.second);
  }

  /// False where one of its programs is not known, or something in it.
  StringMap<bool> Files;
};

/// A source alone does not know who runs it, and how: what costs something
/// there may have a guard around it in another file, or never run.
size_t dropRefuted(RunResult &Whole, const RunResult &Done,
                   const KnownCode &Known) {
  // Also what a filter has left out of the findings, and what a note of one
  // says: of one cause there is one.
  std::set<FindingPlace> Shown;
  for (const Evidence &Each : Done.Evidences) {
    Shown.insert(placeOf(Each));
    for (const NoteEvidence &Note : Each.Notes)
      Shown.insert({Note.FilePath, Note.FileOffset, Each.Check});
  }
  return dropFindings(Whole, [&](const tidy::ClangTidyError &Each) {
    const CheckInfo *Ours = findCheck(Each.DiagnosticName);
    return Ours && Ours->Level > 0 && Known.contains(Each.Message.FilePath) &&
           !Shown.count(placeOf(Each));
  });
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
  Settings.Analysis.IsTree = false;
  const auto Commands = commandsOfPrograms(Database, Programs);
  RunResult Done = runChecks(MakeContext, *Commands, Sources, FS, Settings);
  for (const auto &[Source, Reason] : Done.Failures)
    note() << "'" << Source
           << "' could not be analysed with its other sources: " << Reason
           << '\n';
  Whole.Signal = Done.Signal;
  // After a signal not all were looked at: what is known by now is no proof of
  // what is not.
  const size_t Refuted =
      Done.Signal ? 0
                  : dropRefuted(Whole, Done,
                                KnownCode(MakeContext, Programs, Whole, Done));
  for (const auto &[Source, Files] : Done.UserFiles)
    llvm::append_range(Whole.UserFiles[Source], Files);
  const size_t Before = Whole.Findings.size();
  addNew(Whole, Done);
  if (Done.Signal)
    return;
  raw_ostream &Told =
      note() << counted(Programs.size() - Done.NumWithoutLibTorch, "program")
             << " analysed in whole: "
             << counted(Whole.Findings.size() - Before, "more finding");
  if (Refuted)
    Told << ", " << Refuted << " fewer";
  Told << '\n';
}

} // namespace torchtidy::tool
