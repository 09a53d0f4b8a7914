#include "run/Unnamed.h"
#include "Messages.h"
#include "Registry.h"
#include "flow/Words.h"
#include "inputs/Tree.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <set>
#include <tuple>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// What is written in the languages whose words a C++ lexer knows.
bool mayNameFunctions(StringRef Path) {
  static constexpr StringRef Endings[] = {
      ".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".cu",  ".m",
      ".mm",  ".h",   ".hh",  ".hpp", ".hxx", ".h++", ".H",   ".cuh",
      ".inl", ".inc", ".ipp", ".tpp", ".txx", ".tcc", ".def", ".in",
      ".pyx", ".pxd", ".y",   ".l",   ".ui",  ".cl",  ".ino", ".metal"};
  return is_contained(Endings, sys::path::extension(Path));
}

bool isForSwig(StringRef Path) {
  return is_contained({".i", ".swg"}, sys::path::extension(Path));
}

/// Whoever uses the library may call what such a header declares.
bool isForOthers(StringRef Path) {
  return is_contained(make_range(sys::path::begin(Path), sys::path::end(Path)),
                      "include");
}

/// One name for a file, however it is reached.
class RealPaths {
public:
  explicit RealPaths(vfs::FileSystem &FS) : FS(FS) {}

  const std::string &of(StringRef Path) {
    const auto [It, IsNew] = Known.try_emplace(Path);
    if (IsNew) {
      SmallString<256> Real;
      It->second =
          FS.getRealPath(Path, Real) ? comparablePath(Path) : std::string(Real);
    }
    return It->second;
  }

private:
  vfs::FileSystem &FS;
  StringMap<std::string> Known;
};

/// All functions of a name, as long as nothing is known to run one of them.
class Candidates {
public:
  void add(const WrittenFunction &Each, RealPaths &Paths) {
    WereMentioned[Each.Name] |= Each.IsMentioned;
    for (const tooling::FileByteRange &Written : Each.Declarations) {
      const unsigned End = Written.FileOffset + Written.Length;
      if (Parts[Paths.of(Written.FilePath)]
              .insert({Written.FileOffset, End, Each.Name})
              .second)
        ++Declarations[Each.Name];
    }
  }

  bool contain(StringRef Name) const { return WereMentioned.contains(Name); }
  bool wereMentioned(StringRef Name) const {
    return WereMentioned.lookup(Name);
  }
  void remove(StringRef Name) { WereMentioned.erase(Name); }

  std::vector<std::string> names() const {
    std::vector<std::string> Result;
    for (const auto &Each : WereMentioned)
      Result.push_back(Each.first().str());
    return Result;
  }

  void removeAllOf(function_ref<bool(StringRef Path)> IsOther) {
    for (const auto &File : Parts)
      if (IsOther(File.first()))
        for (const Part &Each : File.second)
          remove(Each.Name);
  }

  /// How often they are declared.
  unsigned declarations(StringRef Name) const {
    return Declarations.lookup(Name);
  }

  /// Whether it stands in one of them.
  bool hold(StringRef Path, unsigned Offset) const {
    const auto File = Parts.find(Path);
    return File != Parts.end() && any_of(File->second, [&](const Part &Each) {
             return Each.Begin <= Offset && Offset <= Each.End &&
                    contain(Each.Name);
           });
  }

private:
  /// [Begin, End].
  struct Part {
    unsigned Begin = 0, End = 0;
    std::string Name;
    bool operator<(const Part &Other) const {
      return std::tie(Begin, End, Name) <
             std::tie(Other.Begin, Other.End, Other.Name);
    }
  };
  StringMap<std::set<Part>> Parts;
  StringMap<bool> WereMentioned;
  StringMap<unsigned> Declarations;
};

/// Where the words stand that candidates are named by.
class TreeWords {
public:
  struct Place {
    std::string Path;
    unsigned Offset;
  };

  TreeWords(const Candidates &Of, vfs::FileSystem &FS) : Of(Of), FS(FS) {}

  /// False where it is not known who else may call what is in the tree.
  bool readTree(StringRef Root) {
    const std::vector<std::string> Files = filesBelow(Root, FS, MaxFiles);
    return Files.size() < MaxFiles && none_of(Files, isForSwig) &&
           all_of(
               Files,
               [&](StringRef Each) {
                 return !mayNameFunctions(Each) || read(Each);
               });
  }

  bool read(StringRef Path) { return !Known.insert(Path).second || add(Path); }

  bool haveMain() const { return HaveMain; }
  bool isOfQt(StringRef Path) const { return OfQt.contains(Path); }
  ArrayRef<Place> places(StringRef Name) const {
    const auto Found = Places.find(Name);
    if (Found == Places.end())
      return {};
    return Found->second;
  }

private:
  static constexpr size_t MaxFiles = 100000;

  bool add(StringRef Path) {
    const auto Text = FS.getBufferForFile(Path);
    // A link may lead nowhere.
    if (!Text)
      return Text.getError() == std::errc::no_such_file_or_directory;
    LangOptions Language;
    Language.CPlusPlus = Language.CPlusPlus11 = Language.LineComment = true;
    flow::forEachWord((*Text)->getBuffer(), Language,
                      [&](StringRef Word, unsigned At) {
                        HaveMain |= Word == "main";
                        if (Word == "Q_OBJECT" || Word == "Q_GADGET")
                          OfQt.insert(Path);
                        if (Of.contain(Word))
                          Places[Word].push_back({Path.str(), At});
                      });
    return true;
  }

  const Candidates &Of;
  vfs::FileSystem &FS;
  StringMap<std::vector<Place>> Places;
  StringSet<> Known, OfQt;
  bool HaveMain = false;
};

bool isNamed(StringRef Name, const TreeWords &Words, const Candidates &All) {
  const ArrayRef<TreeWords::Place> Places = Words.places(Name);
  // What mentions it without a word (a macro that makes names) is not known.
  return any_of(Places,
                [&](const TreeWords::Place &Word) {
                  return !All.hold(Word.Path, Word.Offset);
                }) ||
         (All.wereMentioned(Name) && Places.size() <= All.declarations(Name));
}

/// Takes out what is named elsewhere than in them, until nothing changes: so
/// two functions that only call each other stay.
void keepUnnamed(Candidates &All, const TreeWords &Words) {
  for (bool HasChanged = true; HasChanged;) {
    HasChanged = false;
    for (const std::string &Name : All.names())
      if (isNamed(Name, Words, All)) {
        All.remove(Name);
        HasChanged = true;
      }
  }
}

} // namespace

void dropUnnamed(RunResult &Whole, ArrayRef<std::string> Sources,
                 vfs::FileSystem &FS) {
  RealPaths Paths(FS);
  Candidates All;
  for (const WrittenFunction &Each : Whole.Written)
    All.add(Each, Paths);
  StringSet<> Roots;
  TreeWords Words(All, FS);
  for (const std::string &Source : Sources) {
    const std::string Root =
        projectRoot(sys::path::parent_path(Paths.of(absolutePath(Source))), FS);
    if (Roots.insert(Root).second && !Words.readTree(Root))
      return;
  }
  // What a build has made may lie elsewhere.
  for (const auto &[Source, Files] : Whole.UserFiles)
    for (const std::string &Each : Files)
      if (!Words.read(Paths.of(Each)))
        return;
  if (!Words.haveMain())
    return;
  All.removeAllOf(
      [&](StringRef Path) { return Words.isOfQt(Path) || isForOthers(Path); });
  keepUnnamed(All, Words);

  const size_t Dropped =
      dropFindings(Whole, [&](const tidy::ClangTidyError &Finding) {
        const CheckInfo *Ours = findCheck(Finding.DiagnosticName);
        return Ours && Ours->Level > 0 &&
               All.hold(Paths.of(Finding.Message.FilePath),
                        Finding.Message.FileOffset);
      });
  if (Dropped)
    note() << counted(Dropped, "finding")
           << " fewer: in functions that no line of the source tree names\n";
}

} // namespace torchtidy::tool
