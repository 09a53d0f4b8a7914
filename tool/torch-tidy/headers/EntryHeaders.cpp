#include "EntryHeaders.h"
#include "headers/Includes.h"
#include "torch/Text.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <algorithm>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

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

  EntryHeaders run(ArrayRef<std::string> Before, StringRef Source) {
    if (ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
            FS.getBufferForFile(Source);
        Text && declaresModule((*Text)->getBuffer()))
      return {};
    for (const std::string &Name : Before) {
      if (isOfLibTorch(Name)) {
        Found.LibTorch = {"<" + Name + ">"};
        return std::move(Found);
      }
      // Clang looks for it from the folder it runs in.
      visit(resolve(Name, ""), 0);
      if (!Found.LibTorch.empty())
        return std::move(Found);
    }
    visit(Source, 0);
    return std::move(Found);
  }

  bool mayUse(ArrayRef<std::string> Before, StringRef Source) {
    std::vector<std::string> Work = {Source.str()};
    for (const std::string &Name : Before) {
      if (isOfLibTorch(Name))
        return true;
      Work.push_back(resolve(Name, ""));
    }
    while (!Work.empty()) {
      const std::string Path = std::move(Work.back());
      Work.pop_back();
      if (Path.empty() || !Seen.insert(Path).second)
        continue;
      if (Seen.size() > MaxFiles)
        return true;
      ErrorOr<std::unique_ptr<MemoryBuffer>> File = FS.getBufferForFile(Path);
      if (!File)
        continue;
      const StringRef Text = (*File)->getBuffer();
      // Boost has an "at::" of its own, and includes by macros.
      if (!isOfPackage(Path) &&
          (includesByMacro(Text) || torch::isUsedIn(Text)))
        return true;
      for (const Include &Each : includesOf(Text)) {
        if (isOfLibTorch(Each.name()))
          return true;
        Work.push_back(Each.isQuoted() ? resolve(Each.name(), Path)
                                       : resolveInFolders(Each.name()));
      }
    }
    return false;
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
    const std::vector<Include> Includes = includesOf((*Text)->getBuffer());
    size_t First = 0;
    for (size_t I = 0; I < Includes.size(); ++I) {
      const Include &Each = Includes[I];
      const StringRef Name = Each.name();
      if (isOfLibTorch(Name)) {
        if (All.empty())
          First = I;
        All.push_back(Each.Text);
        if (isUmbrella(Name) && !is_contained(Umbrellas, Each.Text))
          Umbrellas.push_back(Each.Text);
        continue;
      }
      // Only what comes before LibTorch may enter it earlier.
      if (!All.empty())
        continue;
      if (std::string Next =
              Each.isQuoted() ? resolve(Name, Path) : resolveInFolders(Name);
          !Next.empty())
        visit(Next, Depth + 1);
      if (!Found.LibTorch.empty())
        return;
    }
    if (!Umbrellas.empty()) {
      // LibTorch's headers mean the same in any order; with the largest first,
      // sources that have them in different orders share it.
      const auto Largest = llvm::find_if(Umbrellas, [](StringRef Text) {
        return Text.trim("<>\"") == "torch/torch.h";
      });
      if (Largest != Umbrellas.end())
        std::rotate(Umbrellas.begin(), Largest, Largest + 1);
      Found.LibTorch = std::move(Umbrellas);
    } else if (!All.empty()) {
      Found.LibTorch = {All.front()};
    } else {
      return;
    }
    addCompanions(Includes, First);
  }

  /// Of the block of includes around the first of LibTorch.
  void addCompanions(ArrayRef<Include> Includes, size_t First) {
    size_t Begin = First, End = First + 1;
    while (Begin && Includes[Begin].FollowsInclude &&
           !Includes[Begin - 1].isQuoted())
      --Begin;
    while (End < Includes.size() && Includes[End].FollowsInclude &&
           !Includes[End].isQuoted())
      ++End;
    for (const Include &Each : Includes.slice(Begin, End - Begin)) {
      if (isOfLibTorch(Each.name()))
        continue;
      if (std::string File = resolveSystem(Each.name()); !File.empty()) {
        Found.Companions.push_back(Each.Text);
        Found.CompanionFiles.push_back(std::move(File));
      }
    }
  }

  static bool isSystem(const HeaderSearchOptions::Entry &Folder) {
    return Folder.Group != frontend::Quoted &&
           Folder.Group != frontend::Angled && Folder.Group != frontend::After;
  }

  /// Empty where a folder of the user's has it first.
  std::string resolveSystem(StringRef Name) {
    for (bool OfSystem : {false, true})
      for (const HeaderSearchOptions::Entry &Folder : Search.UserEntries) {
        SmallString<256> Path(Folder.Path);
        sys::path::append(Path, Name);
        if (isSystem(Folder) == OfSystem && FS.exists(Path))
          return OfSystem ? std::string(Path) : std::string();
      }
    return {};
  }

  /// It lies in a folder that is given with -isystem.
  bool isOfPackage(StringRef Path) const {
    return llvm::any_of(Search.UserEntries, [&](const auto &Folder) {
      StringRef Rest = Path;
      return Folder.Group == frontend::System &&
             Rest.consume_front(Folder.Path) && Rest.starts_with("/");
    });
  }

  std::string resolve(StringRef Name, StringRef From) {
    if (sys::path::is_absolute(Name))
      return resolveInFolders(Name);
    SmallString<256> Path(sys::path::parent_path(From));
    sys::path::append(Path, Name);
    return FS.exists(Path) ? std::string(Path) : resolveInFolders(Name);
  }

  /// In those of the user, among which -isystem counts: what a project fetches
  /// for itself is given so.
  std::string resolveInFolders(StringRef Name) {
    // So the sources of a unity build are included.
    if (sys::path::is_absolute(Name))
      return FS.exists(Name) ? Name.str() : "";
    for (const HeaderSearchOptions::Entry &Folder : Search.UserEntries) {
      if (Folder.Group == frontend::ExternCSystem ||
          Folder.Group == frontend::CXXSystem ||
          Folder.Group == frontend::CSystem)
        continue;
      SmallString<256> Path(Folder.Path);
      sys::path::append(Path, Name);
      if (FS.exists(Path))
        return std::string(Path);
    }
    return {};
  }

  const HeaderSearchOptions &Search;
  vfs::FileSystem &FS;
  StringSet<> Seen;
  EntryHeaders Found;
};

} // namespace

EntryHeaders entryHeaders(StringRef Source, const CompilerInvocation &Command,
                          vfs::FileSystem &FS) {
  return IncludeScanner(Command.getHeaderSearchOpts(), FS)
      .run(Command.getPreprocessorOpts().Includes, Source);
}

bool mayUseLibTorch(StringRef Source, const CompilerInvocation &Command,
                    vfs::FileSystem &FS) {
  const PreprocessorOptions &Options = Command.getPreprocessorOpts();
  return !Options.ImplicitPCHInclude.empty() ||
         !Options.MacroIncludes.empty() ||
         IncludeScanner(Command.getHeaderSearchOpts(), FS)
             .mayUse(Options.Includes, Source);
}

} // namespace torchtidy::tool
