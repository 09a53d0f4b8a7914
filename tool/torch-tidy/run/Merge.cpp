#include "run/Merge.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

class Paths {
public:
  explicit Paths(vfs::FileSystem &FS) : FS(FS) {}

  /// The one path for the file that is meant; Path itself where there is none.
  std::string of(StringRef Path, StringRef Folder) {
    if (Path.empty())
      return {};
    SmallString<256> Whole(Path);
    if (sys::path::is_relative(Whole)) {
      Whole = Folder;
      sys::path::append(Whole, Path);
      if (sys::path::is_relative(Whole))
        FS.makeAbsolute(Whole);
    }
    auto [It, IsNew] = Known.try_emplace(Whole);
    if (!IsNew)
      return It->second;
    SmallString<256> Plain(Whole), Real, RealOfPlain;
    sys::path::remove_dots(Plain, /*remove_dot_dot=*/true);
    if (FS.getRealPath(Whole, Real))
      It->second = Path.str(); // no file
    else if (FS.getRealPath(Plain, RealOfPlain) || Real != RealOfPlain)
      It->second = Real.str().str(); // ".." after a symbolic link
    else
      // One file by several links: the first name that is met.
      It->second = Plainest.try_emplace(Real, Plain.str().str()).first->second;
    return It->second;
  }

private:
  vfs::FileSystem &FS;
  StringMap<std::string> Known, Plainest;
};

void rename(tooling::DiagnosticMessage &Message,
            function_ref<std::string(StringRef Path)> NewName) {
  Message.FilePath = NewName(Message.FilePath);
  for (tooling::FileByteRange &Range : Message.Ranges)
    Range.FilePath = NewName(Range.FilePath);
  StringMap<tooling::Replacements> Fixes;
  for (const auto &Entry : Message.Fix) {
    tooling::Replacements &Edits = Fixes[NewName(Entry.first())];
    for (const tooling::Replacement &Each : Entry.second)
      // They were accepted in this order before.
      cantFail(Edits.add(
          tooling::Replacement(NewName(Each.getFilePath()), Each.getOffset(),
                               Each.getLength(), Each.getReplacementText())));
  }
  Message.Fix = std::move(Fixes);
}

} // namespace

void renameFiles(tidy::ClangTidyError &Finding,
                 function_ref<std::string(StringRef Path)> NewName) {
  rename(Finding.Message, NewName);
  for (tooling::DiagnosticMessage &Note : Finding.Notes)
    rename(Note, NewName);
}

FindingPlace placeOf(const tidy::ClangTidyError &Finding) {
  return {Finding.Message.FilePath, Finding.Message.FileOffset,
          Finding.DiagnosticName};
}

FindingPlace placeOf(const Evidence &Each) {
  return {Each.FilePath, Each.FileOffset, Each.Check};
}

void unifyPaths(std::vector<tidy::ClangTidyError> &Findings,
                std::vector<Evidence> &Evidences, vfs::FileSystem &FS) {
  Paths All(FS);
  for (tidy::ClangTidyError &Finding : Findings)
    renameFiles(Finding, [&](StringRef Path) {
      return All.of(Path, Finding.BuildDirectory);
    });
  for (Evidence &Each : Evidences) {
    for (std::string *Path :
         {&Each.FilePath, &Each.Loop.FilePath, &Each.IterationSite.FilePath})
      *Path = All.of(*Path, Each.Folder);
    for (NoteEvidence &Note : Each.Notes)
      Note.FilePath = All.of(Note.FilePath, Each.Folder);
  }
}

void merge(std::vector<tidy::ClangTidyError> &Findings) {
  auto Key = [](const tidy::ClangTidyError &Finding) {
    return std::tie(Finding.Message.FilePath, Finding.Message.FileOffset,
                    Finding.DiagnosticName, Finding.Message.Message);
  };
  llvm::stable_sort(
      Findings, [&](const auto &A, const auto &B) { return Key(A) < Key(B); });
  Findings.erase(
      llvm::unique(Findings, [&](const auto &A,
                                 const auto &B) { return Key(A) == Key(B); }),
      Findings.end());
}

} // namespace torchtidy::tool
