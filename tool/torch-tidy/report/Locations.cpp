#include "report/Locations.h"
#include "inputs/Tree.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace clang;
using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {

Locations::Locations(StringRef Root, IntrusiveRefCntPtr<vfs::FileSystem> FS)
    : Root(comparablePath(Root)), Texts(std::move(FS)) {}

std::string Locations::whole(StringRef Path, StringRef Folder) {
  return sys::path::is_absolute(Path) || Folder.empty()
             ? comparablePath(Path)
             : comparablePath(below(Folder, Path));
}

std::string Locations::belowRoot(StringRef Path, StringRef Folder) const {
  return relativeTo(Root, whole(Path, Folder));
}

std::string Locations::name(StringRef Path, StringRef Folder) const {
  std::string Relative = belowRoot(Path, Folder);
  return Relative.empty() ? whole(Path, Folder) : Relative;
}

SourcePlace Locations::place(StringRef Path, StringRef Folder,
                             unsigned Offset) {
  return Texts.of(whole(Path, Folder)).place(Offset);
}

tooling::FileByteRange
Locations::marked(const tooling::DiagnosticMessage &At) const {
  tooling::FileByteRange Result;
  Result.FilePath = At.FilePath;
  Result.FileOffset = At.FileOffset;
  Result.Length = 0;
  for (const tooling::FileByteRange &Range : At.Ranges)
    if (Range.FilePath == At.FilePath && Range.FileOffset <= At.FileOffset &&
        At.FileOffset < Range.FileOffset + Range.Length) {
      Result.Length = Range.FileOffset + Range.Length - At.FileOffset;
      break;
    }
  return Result;
}

std::string Locations::line(const ClangTidyError &Finding) {
  const SourceText &Text =
      Texts.of(whole(Finding.Message.FilePath, Finding.BuildDirectory));
  SmallVector<StringRef, 16> Words;
  SplitString(Text.line(Text.place(Finding.Message.FileOffset).Line), Words,
              " \t");
  return llvm::join(Words, " ");
}

std::string Fingerprints::of(const ClangTidyError &Finding, Locations &Where) {
  const std::string Key =
      Finding.DiagnosticName + '\n' +
      Where.name(Finding.Message.FilePath, Finding.BuildDirectory) + '\n' +
      Where.line(Finding);
  return utohexstr(xxh3_64bits(Key), /*LowerCase=*/true, /*Width=*/16) + ":" +
         utostr(++Met[Key]);
}

} // namespace torchtidy::tool
