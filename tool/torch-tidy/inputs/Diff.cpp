#include "inputs/Diff.h"
#include "inputs/Tree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <climits>
#include <optional>

using namespace llvm;

namespace torchtidy::tool {
namespace {

Error failure(const Twine &Reason) {
  return createStringError(inconvertibleErrorCode(), Reason);
}

/// A name as git writes it: in quotes, with escapes, where it has letters that
/// are not plain; of others all up to a tab, behind which diff writes a time.
std::string nameIn(StringRef Text) {
  if (!Text.consume_front("\""))
    return Text.split('\t').first.rtrim("\r").str();
  std::string Result;
  while (!Text.empty() && Text.front() != '"') {
    if (!Text.consume_front("\\")) {
      Result += Text.front();
      Text = Text.drop_front();
      continue;
    }
    unsigned char Byte = 0;
    if (Text.size() >= 3 && !Text.take_front(3).getAsInteger(8, Byte)) {
      Result += Byte;
      Text = Text.drop_front(3);
    } else if (!Text.empty()) {
      constexpr llvm::StringLiteral Letters = "abtnvfr",
                                    Meanings = "\a\b\t\n\v\f\r";
      const size_t At = Letters.find(Text.front());
      Result += At == StringRef::npos ? Text.front() : Meanings[At];
      Text = Text.drop_front();
    }
  }
  return Result;
}

struct Hunk {
  /// The line of the new file that comes next, and how many of the old and of
  /// the new file are to come.
  unsigned Line = 0, Old = 0, New = 0;
};

/// "-12,3" or "+12": the count is 1 where it is left out.
bool readRange(StringRef Text, char Sign, unsigned &First, unsigned &Count) {
  if (Text.empty() || Text.front() != Sign)
    return false;
  auto [Begin, Length] = Text.drop_front().split(',');
  Count = 1;
  return !Begin.getAsInteger(10, First) &&
         (Length.empty() || !Length.getAsInteger(10, Count));
}

std::optional<Hunk> readHunk(StringRef Line) {
  SmallVector<StringRef, 4> Words;
  Line.split(Words, ' ', 4);
  Hunk Result;
  unsigned OldFirst;
  if (Words.size() < 4 || Words[0] != "@@" ||
      !readRange(Words[1], '-', OldFirst, Result.Old) ||
      !readRange(Words[2], '+', Result.Line, Result.New))
    return std::nullopt;
  return Result;
}

/// The standard output of git.
Expected<std::string> git(ArrayRef<StringRef> Arguments) {
  const ErrorOr<std::string> Program = sys::findProgramByName("git");
  if (!Program)
    return failure("git was not found");
  SmallString<128> OutputName, ErrorName;
  if (std::error_code Code =
          sys::fs::createTemporaryFile("torch-tidy-git", "", OutputName))
    return failure("no temporary file can be made: " + Code.message());
  FileRemover RemoveOutput(OutputName);
  if (std::error_code Code =
          sys::fs::createTemporaryFile("torch-tidy-git", "", ErrorName))
    return failure("no temporary file can be made: " + Code.message());
  FileRemover RemoveErrors(ErrorName);
  SmallVector<StringRef, 12> Words{"git"};
  append_range(Words, Arguments);
  const int ExitCode = sys::ExecuteAndWait(
      *Program, Words, std::nullopt, {StringRef(), OutputName, ErrorName});
  auto Read = [](StringRef File) {
    auto Text = MemoryBuffer::getFile(File);
    return Text ? (*Text)->getBuffer().str() : std::string();
  };
  if (ExitCode)
    return failure("git says: " + StringRef(Read(ErrorName)).trim());
  return Read(OutputName);
}

} // namespace

Expected<ChangedLines> ChangedLines::ofPatch(StringRef Patch,
                                             ArrayRef<std::string> Folders) {
  ChangedLines Result;
  std::vector<Lines> *In = nullptr;
  Hunk Now;
  bool HasFile = false, IsOfGit = false;
  unsigned Number = 0;
  auto Broken = [&](const Twine &Reason) {
    return failure("line " + Twine(Number) + " of the patch: " + Reason);
  };
  while (!Patch.empty()) {
    StringRef Line;
    std::tie(Line, Patch) = Patch.split('\n');
    ++Number;
    if (Now.Old || Now.New) {
      // An empty line of context may have lost its space on the way.
      const char Kind = Line.empty() || Line == "\r" ? ' ' : Line.front();
      if (Kind == '\\')
        continue;
      if ((Kind != ' ' && Kind != '+' && Kind != '-') ||
          (Kind != '+' && !Now.Old) || (Kind != '-' && !Now.New))
        return Broken("the lines of a hunk are missing");
      if (Kind == '+' && In) {
        if (!In->empty() && In->back().Last + 1 == Now.Line)
          In->back().Last = Now.Line;
        else
          In->push_back({Now.Line, Now.Line});
      }
      Now.Old -= Kind != '+';
      Now.New -= Kind != '-';
      Now.Line += Kind != '-';
      continue;
    }
    if (Line.consume_front("+++ ")) {
      HasFile = true;
      In = nullptr;
      const std::string Name = nameIn(Line);
      if (Name == "/dev/null")
        continue;
      const std::string Plain = StringRef(Name).split('/').second.str();
      for (const std::string &Folder : Folders) {
        const std::string Path = below(Folder, Plain);
        if (Plain.empty() || !sys::fs::exists(Path))
          continue;
        In = &Result.Files[Result.realPath(Path).str()];
        break;
      }
    } else if (Line.starts_with("@@@")) {
      return Broken("it is the diff of a merge, against several files at once");
    } else if (Line.starts_with("@@ ")) {
      const std::optional<Hunk> Next = readHunk(Line);
      if (!Next || !HasFile)
        return Broken("'" + Line + "' is no header of a hunk");
      Now = *Next;
    } else if (Line.starts_with("diff --git ")) {
      // A change of a mode, a name or a binary file has no more than that.
      IsOfGit = true;
    }
  }
  if (Now.Old || Now.New)
    return Broken("it ends within a hunk");
  if (Number && !HasFile && !IsOfGit)
    return failure("it is no unified diff, as 'git diff' and 'diff -u' make");
  return Result;
}

Expected<std::string> repositoryRoot() {
  Expected<std::string> Top = git({"rev-parse", "--show-toplevel"});
  if (Top)
    *Top = StringRef(*Top).rtrim("\n").str();
  return Top;
}

Expected<ChangedLines> ChangedLines::since(StringRef Revision) {
  Expected<std::string> Root = repositoryRoot();
  if (!Root)
    return Root.takeError();
  // What a user may have configured is set aside.
  Expected<std::string> Patch =
      git({"-c", "core.quotePath=true", "diff", "--unified=0", "--no-color",
           "--no-ext-diff", "--no-textconv", "--src-prefix=a/",
           "--dst-prefix=b/", "--no-relative", Revision, "--"});
  if (!Patch)
    return Patch.takeError();
  Expected<ChangedLines> Result = ofPatch(*Patch, *Root);
  if (!Result)
    return Result;
  Expected<std::string> New =
      git({"-C", *Root, "ls-files", "-z", "--others", "--exclude-standard"});
  if (!New)
    return New.takeError();
  SmallVector<StringRef, 16> Names;
  StringRef(*New).split(Names, '\0', -1, /*KeepEmpty=*/false);
  for (const StringRef Name : Names)
    Result->Files[Result->realPath(below(*Root, Name)).str()] = {{1, UINT_MAX}};
  return Result;
}

StringRef ChangedLines::realPath(StringRef Path) const {
  auto [It, IsNew] = RealPaths.try_emplace(Path);
  SmallString<256> Real;
  if (IsNew)
    It->second = sys::fs::real_path(Path, Real) ? comparablePath(Path)
                                                : std::string(Real);
  return It->second;
}

bool ChangedLines::contains(StringRef Path, unsigned Line) const {
  auto It = Files.find(realPath(Path));
  return It != Files.end() && any_of(It->second, [&](const Lines &Each) {
           return Each.First <= Line && Line <= Each.Last;
         });
}

bool ChangedLines::touches(StringRef Path) const {
  auto It = Files.find(realPath(Path));
  return It != Files.end() && !It->second.empty();
}

std::vector<std::string> ChangedLines::sources() const {
  std::vector<std::string> Result;
  for (const auto &[Path, Changed] : Files)
    if (isSourceName(Path) && !Changed.empty())
      Result.push_back(Path);
  return Result;
}

bool ChangedLines::touchesHeaders() const {
  return any_of(Files, [](const auto &Entry) {
    const StringRef Extension = sys::path::extension(Entry.first);
    return !Entry.second.empty() &&
           is_contained({".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh", ".inl",
                         ".inc", ".ipp", ".tpp", ".def"},
                        Extension.lower());
  });
}

} // namespace torchtidy::tool
