#include "EntryHeaders.h"
#include "headers/Includes.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

bool isOfLibTorch(StringRef Header) {
  return Header.starts_with("torch/") || Header.starts_with("ATen/") ||
         Header.starts_with("c10/");
}

/// Those that hold nearly all that the others of a file do.
bool isUmbrella(StringRef Header) {
  return Header == "torch/torch.h" || Header == "torch/all.h" ||
         Header == "torch/script.h" || Header == "torch/extension.h" ||
         Header == "ATen/ATen.h";
}

class IncludeScanner {
public:
  IncludeScanner(const HeaderSearchOptions &Search, vfs::FileSystem &FS)
      : Search(Search), FS(FS) {}

  std::vector<std::string> run(ArrayRef<std::string> Before, StringRef Source) {
    for (const std::string &Name : Before) {
      if (isOfLibTorch(Name))
        return {"<" + Name + ">"};
      // Clang looks for it from the folder it runs in.
      visit(resolve(Name, ""), 0);
      if (!Found.empty())
        return std::move(Found);
    }
    visit(Source, 0);
    return std::move(Found);
  }

private:
  /// More is no source file that anybody would wait for.
  static constexpr unsigned MaxFiles = 2000, MaxDepth = 64;

  void visit(StringRef Path, unsigned Depth) {
    if (Depth > MaxDepth || Seen.size() > MaxFiles || !Seen.insert(Path).second)
      return;
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text = FS.getBufferForFile(Path);
    if (!Text)
      return;
    std::vector<std::string> All, Umbrellas;
    for (const std::string &Include : includesOf((*Text)->getBuffer())) {
      const StringRef Name = StringRef(Include).drop_front().drop_back();
      if (isOfLibTorch(Name)) {
        All.push_back(Include);
        if (isUmbrella(Name) && !is_contained(Umbrellas, Include))
          Umbrellas.push_back(Include);
        continue;
      }
      // Only what comes before LibTorch may enter it earlier.
      if (!All.empty() || Include.front() != '"')
        continue;
      if (std::string Next = resolve(Name, Path); !Next.empty())
        visit(Next, Depth + 1);
      if (!Found.empty())
        return;
    }
    if (!Umbrellas.empty())
      Found = std::move(Umbrellas);
    else if (!All.empty())
      Found = {All.front()};
  }

  std::string resolve(StringRef Name, StringRef From) {
    SmallString<256> Path(sys::path::parent_path(From));
    sys::path::append(Path, Name);
    if (FS.exists(Path))
      return std::string(Path);
    for (const HeaderSearchOptions::Entry &Folder : Search.UserEntries) {
      if (Folder.Group == frontend::ExternCSystem ||
          Folder.Group == frontend::CXXSystem ||
          Folder.Group == frontend::CSystem)
        continue;
      Path = Folder.Path;
      sys::path::append(Path, Name);
      if (FS.exists(Path))
        return std::string(Path);
    }
    return {};
  }

  const HeaderSearchOptions &Search;
  vfs::FileSystem &FS;
  StringSet<> Seen;
  std::vector<std::string> Found;
};

} // namespace

std::vector<std::string> entryHeaders(StringRef Source,
                                      const CompilerInvocation &Command,
                                      vfs::FileSystem &FS) {
  return IncludeScanner(Command.getHeaderSearchOpts(), FS)
      .run(Command.getPreprocessorOpts().Includes, Source);
}

} // namespace torchtidy::tool
