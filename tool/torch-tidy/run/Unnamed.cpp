#include "run/Unnamed.h"
#include "Messages.h"
#include "Registry.h"
#include "flow/Words.h"
#include "inputs/Tree.h"
#include "report/SourceText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <set>
#include <tuple>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

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

/// What bears one name.
struct Candidate {
  bool HasFunction = false, HasClass = false, WasMentioned = false;
  /// How often they are declared.
  unsigned Declarations = 0;
  /// The words that name it: its name, and of a holder's class that of the
  /// holder.
  std::set<std::string> Words;
};

/// All functions and classes, by name, as long as nothing is known to run one
/// of them.
class Candidates {
public:
  void add(const WrittenName &Each, RealPaths &Paths) {
    Candidate &Of = All[Each.Name];
    (Each.IsClass ? Of.HasClass : Of.HasFunction) = true;
    Of.WasMentioned |= Each.IsMentioned;
    for (const std::string *Word : {&Each.Name, &Each.Stem})
      if (!Word->empty()) {
        Of.Words.insert(*Word);
        Words.insert(*Word);
      }
    for (const tooling::FileByteRange &Written : Each.Declarations) {
      const unsigned End = Written.FileOffset + Written.Length;
      if (Parts[Paths.of(Written.FilePath)]
              .insert({Written.FileOffset, End, Each.Name})
              .second)
        ++Of.Declarations;
    }
  }

  /// Who wants to know whether a candidate is named has to look for the word.
  bool areNamedBy(StringRef Word) const { return Words.contains(Word); }
  const Candidate &operator[](StringRef Name) const {
    return All.find(Name)->second;
  }
  void remove(StringRef Name) { All.erase(Name); }

  std::vector<std::string> names() const {
    std::vector<std::string> Result;
    for (const auto &Each : All)
      Result.push_back(Each.first().str());
    return Result;
  }

  void removeAllOf(function_ref<bool(StringRef Path)> IsOther) {
    for (const auto &File : Parts)
      if (IsOther(File.first()))
        for (const Part &Each : File.second)
          remove(Each.Name);
  }

  /// Whether it stands in one of them.
  bool hold(StringRef Path, unsigned Offset) const {
    return isIn(Path, Offset,
                [&](StringRef Name) { return All.contains(Name); });
  }
  /// Whether it stands in one of that name.
  bool hold(StringRef Path, unsigned Offset, StringRef Name) const {
    return isIn(Path, Offset, [&](StringRef Each) { return Each == Name; });
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

  bool isIn(StringRef Path, unsigned Offset,
            function_ref<bool(StringRef Name)> IsMeant) const {
    const auto File = Parts.find(Path);
    return File != Parts.end() && any_of(File->second, [&](const Part &Each) {
             return Each.Begin <= Offset && Offset <= Each.End &&
                    IsMeant(Each.Name);
           });
  }

  StringMap<std::set<Part>> Parts;
  StringMap<Candidate> All;
  StringSet<> Words;
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
               [&](StringRef Each) { return !isCode(Each) || read(Each); });
  }

  bool read(StringRef Path) { return !Known.insert(Path).second || add(Path); }

  bool haveMain() const { return HaveMain; }
  bool isOfQt(StringRef Path) const { return OfQt.contains(Path); }
  std::vector<Place> places(StringRef Name) const {
    return Places.lookup(Name);
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
                        if (Of.areNamedBy(Word))
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
  const Candidate &Of = All[Name];
  std::vector<TreeWords::Place> Places;
  for (const std::string &Word : Of.Words)
    append_range(Places, Words.places(Word));
  if (any_of(Places, [&](const TreeWords::Place &Word) {
        return !All.hold(Word.Path, Word.Offset);
      }))
    return true;
  // What mentions it without a word (a macro that makes names) is not known.
  if (!Of.WasMentioned)
    return false;
  return (Of.HasFunction && Places.size() <= Of.Declarations) ||
         (Of.HasClass && all_of(Places, [&](const TreeWords::Place &Word) {
            return All.hold(Word.Path, Word.Offset, Name);
          }));
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
                 IntrusiveRefCntPtr<vfs::FileSystem> System) {
  vfs::FileSystem &FS = *System;
  RealPaths Paths(FS);
  Candidates All;
  for (const WrittenName &Each : Whole.Written)
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

  SourceTexts Texts(System);
  // Defects are told all the same, in one line.
  std::set<std::string> Defects;
  const size_t Dropped =
      dropFindings(Whole, [&](const tidy::ClangTidyError &Finding) {
        const CheckInfo *Ours = findCheck(Finding.DiagnosticName);
        const std::string &Path = Finding.Message.FilePath;
        const unsigned Offset = Finding.Message.FileOffset;
        if (!Ours || !All.hold(Paths.of(Path), Offset))
          return false;
        if (Ours->Level == 0)
          Defects.insert((Path + ":" +
                          Twine(Texts.of(Path).place(Offset).Line) + " " +
                          Finding.DiagnosticName)
                             .str());
        return true;
      });
  if (!Dropped)
    return;
  note() << counted(Dropped, "finding")
         << " fewer: in code that no line of the source tree names";
  if (!Defects.empty())
    errs() << "; of level 0: " << join(Defects, ", ");
  errs() << '\n';
}

} // namespace torchtidy::tool
