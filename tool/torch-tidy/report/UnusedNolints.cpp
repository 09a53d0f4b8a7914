#include "report/UnusedNolints.h"
#include "CheckNames.h"
#include "clang-tidy/GlobList.h"
#include "report/Locations.h"
#include "run/Merge.h"

using namespace clang;
using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// What all sources together say of one name.
struct Joint {
  const NolintName *First;
  bool IsUnused = true, IsInHeader = false, IsError = false;
};

/// Empty where a check has the name after all: one of a plugin.
std::string wordsFor(const NolintName &Name, const StringSet<> &Known) {
  const bool IsGlob = StringRef(Name.Text).contains('*');
  if (Name.Is != NolintName::Unknown) {
    if (IsGlob)
      return "no check of '" + Name.Text +
             "' reports anything here: remove it from this " + Name.Word;
    return "'" + Name.Text + "' reports nothing here: remove it from this " +
           Name.Word;
  }
  const GlobList Glob(Name.Text);
  if (llvm::any_of(Known.keys(),
                   [&](StringRef Check) { return Glob.contains(Check); }))
    return {};
  std::string Result = (IsGlob ? "no check matches '" : "no check is called '");
  Result += Name.Text + "': in this " + Name.Word + " it silences nothing";
  const std::string Closest = IsGlob ? "" : closestCheck(Name.Text, Known);
  if (!Closest.empty())
    Result += "; did you mean '" + Closest + "'?";
  return Result;
}

} // namespace

void addUnusedNolints(RunResult &Done, const StringSet<> &Known, bool InWhole,
                      IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  std::map<std::pair<std::string, unsigned>, Joint> Names;
  for (const NolintName &Each : Done.Nolints) {
    Joint &Here =
        Names
            .try_emplace(
                {Locations::whole(Each.FilePath, Each.Folder), Each.FileOffset},
                Joint{&Each})
            .first->second;
    Here.IsUnused &=
        Each.Is == NolintName::Unused || Each.Is == NolintName::Unknown;
    Here.IsInHeader |= Each.IsInHeader;
    Here.IsError |= Each.IsError;
  }
  std::vector<ClangTidyError> Told;
  for (const auto &[Place, Here] : Names) {
    const NolintName &Name = *Here.First;
    if (!Here.IsUnused ||
        (Here.IsInHeader && !InWhole && Name.Is != NolintName::Unknown))
      continue;
    const std::string Words = wordsFor(Name, Known);
    if (Words.empty())
      continue;
    ClangTidyError &Finding = Told.emplace_back(
        UnusedNolint, ClangTidyError::Warning, Name.Folder, Here.IsError);
    Finding.Message = tooling::DiagnosticMessage(Words);
    Finding.Message.FilePath = Name.FilePath;
    Finding.Message.FileOffset = Name.FileOffset;
    tooling::FileByteRange Range;
    Range.FilePath = Name.FilePath;
    Range.FileOffset = Name.FileOffset;
    Range.Length = Name.Text.size();
    Finding.Message.Ranges.emplace_back(std::move(Range));
  }
  std::vector<Evidence> None;
  // As the paths of the other findings.
  if (Done.NumDone > 1)
    unifyPaths(Told, None, *FS);
  llvm::move(Told, std::back_inserter(Done.Findings));
  merge(Done.Findings);
}

} // namespace torchtidy::tool
