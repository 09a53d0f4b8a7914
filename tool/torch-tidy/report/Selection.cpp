#include "report/Selection.h"
#include "CommandLine.h"
#include "Messages.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

static Expected<ChangedLines> readChanges(StringRef Diff) {
  if (Diff != "-")
    return ChangedLines::since(Diff);
  auto Patch = MemoryBuffer::getSTDIN();
  if (!Patch)
    return createStringError(Patch.getError(),
                             "standard input: " + Patch.getError().message());
  std::vector<std::string> Folders{absolutePath(".")};
  // A patch of git names files from the top of the repository.
  if (Expected<std::string> Top = repositoryRoot())
    Folders.insert(Folders.begin(), *Top);
  else
    consumeError(Top.takeError());
  return ChangedLines::ofPatch((*Patch)->getBuffer(), Folders);
}

std::optional<Selection>
Selection::read(const Options &Line, IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  Selection Result;
  if (!Line.Diff.empty()) {
    Expected<ChangedLines> Changed = readChanges(Line.Diff);
    if (!Changed) {
      error() << "--diff=" << Line.Diff << ": " << toString(Changed.takeError())
              << '\n';
      if (Line.asksForFixes() || sys::fs::exists(Line.Diff))
        tellOfPreview();
      return std::nullopt;
    }
    Result.Changed = std::move(*Changed);
  }
  if (!Line.Baseline.empty() &&
      !Result.Known.emplace(Line.Baseline, std::move(FS)).read())
    return std::nullopt;
  return Result;
}

void Selection::apply(Findings &All, IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  if (Known)
    NumKnown = Known->subtract(All);
  if (!Changed)
    return;
  SourceTexts Texts(std::move(FS));
  const size_t Before = All.size();
  llvm::erase_if(All, [&](const ClangTidyError &Finding) {
    if (Finding.Message.FilePath.empty() ||
        Finding.DiagLevel == ClangTidyError::Error)
      return false;
    const std::string Path =
        Locations::whole(Finding.Message.FilePath, Finding.BuildDirectory);
    return !Changed->contains(
        Path, Texts.of(Path).place(Finding.Message.FileOffset).Line);
  });
  NumElsewhere = Before - All.size();
}

void Selection::explain(ArrayRef<std::string> Sources) const {
  if (NumElsewhere)
    note() << counted(NumElsewhere, "finding")
           << " in lines that did not change not shown (--diff)\n";
  if (NumKnown)
    note() << counted(NumKnown, "finding")
           << " of the baseline not shown (--baseline)\n";
  if (const unsigned Gone = Known ? Known->numGone(Sources) : 0)
    note() << counted(Gone, "finding")
           << " of the baseline no longer there: --write-baseline makes it "
              "anew\n";
}

} // namespace torchtidy::tool
