#include "inputs/Unbuilt.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Written by hand they are smaller; data is not.
constexpr uint64_t MostOfText = 1u << 20;
/// A tree with more is not gone through: all of it is meant.
constexpr uint64_t MostOfTree = 64u << 20;

/// A build system, or a package, that compiles what lies in its folder without
/// naming it: cgo, Unreal's, Swift's, R's, PlatformIO's.
bool buildsItsFolder(StringRef Path) {
  static constexpr StringRef Names[] = {"Package.swift", "DESCRIPTION",
                                        "Makevars", "Makevars.in",
                                        "platformio.ini"};
  return Path.ends_with(".go") || Path.ends_with(".Build.cs") ||
         is_contained(Names, sys::path::filename(Path));
}

/// What may say how something is built.
bool mayNameSources(StringRef Path) {
  static constexpr StringRef Endings[] = {
      ".txt", ".sh",   ".bash", ".bat", ".cmd", ".ps1", ".py",        ".json",
      ".yml", ".yaml", ".toml", ".cfg", ".ini", ".in",  ".ac",        ".lua",
      ".rb",  ".nix",  ".xml",  ".md",  ".rst", ".rs",  ".dockerfile"};
  return isBuildFile(Path) || sys::path::extension(Path).empty() ||
         is_contained(Endings, sys::path::extension(Path));
}

/// Without the lines that are nothing else: "# add_executable(old old.cpp)".
std::string withoutComments(StringRef Text) {
  std::string Result;
  while (!Text.empty()) {
    const auto [Line, Rest] = Text.split('\n');
    if (!Line.ltrim().starts_with("#"))
      (Result += Line) += '\n';
    Text = Rest;
  }
  return Result;
}

/// The next name of a file, or of what is made of one, in Text.
StringRef nextName(StringRef &Text) {
  const auto IsPart = [](char C) {
    return isAlnum(C) || StringRef("_.+-").contains(C);
  };
  Text = Text.drop_until(IsPart);
  const StringRef Name = Text.take_while(IsPart);
  Text = Text.drop_front(Name.size());
  return Name;
}

/// The sources of one project, by what may stand for them. Paths are those of
/// filesBelow().
class ProjectSources {
public:
  void add(StringRef Path) {
    ++Count;
    Left.insert(Path);
    ByName[sys::path::filename(Path)].push_back(Path.str());
    ByStem[sys::path::stem(Path)].push_back(Path.str());
  }

  void read(ArrayRef<std::string> Files, vfs::FileSystem &FS) {
    for (const std::string &Path : Files) {
      if (buildsItsFolder(Path))
        removeMany(sys::path::parent_path(Path));
      if (mayNameSources(Path))
        if (const auto Text = textOf(Path, FS))
          readBuild(Path, Text->getBuffer());
    }
    for (const std::string &Path : Files)
      if (AreNamed && !Left.empty() && isCode(Path))
        if (const auto Text = textOf(Path, FS))
          readIncludes(Text->getBuffer());
    // Nobody leaves most of a project over: it is built in another way.
    if (!AreNamed || Read > MostOfTree || size_t{2} * Left.size() > Count)
      Left.clear();
  }

  StringSet<> takeLeft() { return std::move(Left); }

private:
  std::unique_ptr<MemoryBuffer> textOf(StringRef Path, vfs::FileSystem &FS) {
    const auto Status = FS.status(Path);
    if (!Status || !Status->isRegularFile() || Status->getSize() > MostOfText ||
        Read > MostOfTree)
      return nullptr;
    Read += Status->getSize();
    auto Text = FS.getBufferForFile(Path);
    return Text ? std::move(*Text) : nullptr;
  }

  void readBuild(StringRef Path, StringRef Text) {
    const bool Builds = isBuildFile(Path);
    std::string Said;
    if (Builds) {
      Said = withoutComments(Text);
      Text = Said;
      readPatterns(sys::path::parent_path(Path), Text);
    }
    while (!Text.empty()) {
      const StringRef Name = nextName(Text);
      remove(ByName, Name, Builds);
      // add_executable(${each} ${each}.cpp), main.o: of a header it says
      // nothing.
      if (Builds &&
          is_contained({"", ".o", ".obj", ".lo"}, sys::path::extension(Name)))
        remove(ByStem, sys::path::stem(Name), Builds);
    }
  }

  void readIncludes(StringRef Text) {
    for (size_t At = Text.find("include"); At != StringRef::npos;
         At = Text.find("include", At + 1)) {
      StringRef Line =
          Text.substr(At).take_until([](char C) { return C == '\n'; });
      while (!Line.empty())
        remove(ByName, nextName(Line), /*Builds=*/false);
    }
  }

  /// *.cpp, aux_source_directory(src ALL): of what lies below the build file,
  /// unless they lead out of its folder. So may what a Makefile includes of
  /// another project: include $(FRAMEWORK)/app.mk.
  void readPatterns(StringRef Folder, StringRef Text) {
    const auto EndsWord = [](char C) {
      return isSpace(C) || StringRef("\"'();,<>").contains(C);
    };
    StringRef Before;
    while (!Text.empty()) {
      const StringRef Word = Text.take_until(EndsWord);
      Text = Text.drop_front(Word.size()).drop_while(EndsWord);
      if (isPattern(Word) || Before == "aux_source_directory")
        removeMany(leadsOut(Word) ? "" : Folder);
      if (Before == "include" && Word == "$")
        removeMany(Folder);
      if (!Word.empty())
        Before = Word;
    }
  }

  /// Not include/*.h, nor *args.
  static bool isPattern(StringRef Word) {
    const StringRef Ending = Word.rsplit('.').second;
    return Word.contains("*") &&
           (Word.ends_with("/*") || Ending.starts_with_insensitive("c") ||
            Ending.starts_with("*"));
  }

  static bool leadsOut(StringRef Word) {
    for (StringRef Here :
         {"${CMAKE_CURRENT_SOURCE_DIR}", "${CMAKE_CURRENT_LIST_DIR}"})
      if (Word.consume_front(Here))
        break;
    return Word.contains("$") || Word.contains("..");
  }

  /// All below Folder; of an empty one, all.
  void removeMany(StringRef Folder) {
    std::vector<std::string> Meant;
    for (const auto &Each : Left)
      if (Folder.empty() || !relativeTo(Folder, Each.first()).empty())
        Meant.push_back(Each.first().str());
    AreNamed |= !Meant.empty();
    for (const std::string &Each : Meant)
      Left.erase(Each);
  }

  void remove(const StringMap<std::vector<std::string>> &By, StringRef Name,
              bool Builds) {
    const auto Found = By.find(Name);
    if (Found == By.end())
      return;
    AreNamed |= Builds;
    for (const std::string &Path : Found->second)
      Left.erase(Path);
  }

  StringSet<> Left;
  StringMap<std::vector<std::string>> ByName, ByStem;
  /// A build file names one of the sources at least.
  bool AreNamed = false;
  size_t Count = 0;
  uint64_t Read = 0;
};

StringSet<> unbuiltOf(StringRef Root, vfs::FileSystem &FS) {
  const std::vector<std::string> Files = filesBelow(Root, FS);
  ProjectSources Project;
  for (const std::string &Path : Files)
    if (isSourceName(Path))
      Project.add(Path);
  Project.read(Files, FS);
  return Project.takeLeft();
}

} // namespace

UnbuiltSources::UnbuiltSources(IntrusiveRefCntPtr<vfs::FileSystem> FS)
    : FS(std::move(FS)) {}

bool UnbuiltSources::contains(StringRef Path) {
  const StringRef Folder = sys::path::parent_path(Path);
  std::string &Root = Roots[Folder];
  if (Root.empty())
    Root = projectRoot(Folder, *FS);
  const auto [Known, IsNew] = Unbuilt.try_emplace(Root);
  if (IsNew)
    Known->second = unbuiltOf(Root, *FS);
  return Known->second.contains(Path);
}

} // namespace torchtidy::tool
