#include "report/Fixes.h"
#include "Messages.h"
#include "inputs/Tree.h"
#include "clang/Format/Format.h"
#include "clang/Tooling/Core/Replacement.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace clang;
using namespace clang::tidy;
using namespace llvm;

namespace torchtidy::tool {
namespace {

enum class Added {
  Alone,
  /// In the place of what an earlier one has put there.
  Over,
  LeftOut
};

/// As clang-tidy does: of two edits that touch, the later is put where the
/// earlier one has moved it, or left out.
Added add(tooling::Replacements &To, const tooling::Replacement &Edit) {
  Error Conflict = To.add(Edit);
  if (!Conflict)
    return Added::Alone;
  consumeError(std::move(Conflict));
  const unsigned Begin = To.getShiftedCodePosition(Edit.getOffset());
  const unsigned Length =
      To.getShiftedCodePosition(Edit.getOffset() + Edit.getLength()) - Begin;
  if (Length != Edit.getLength())
    return Added::LeftOut;
  To = To.merge(tooling::Replacements(tooling::Replacement(
      Edit.getFilePath(), Begin, Length, Edit.getReplacementText())));
  return Length ? Added::Over : Added::Alone;
}

std::optional<std::string> changed(StringRef File, StringRef Text,
                                   const tooling::Replacements &Wanted,
                                   ClangTidyContext &Context) {
  Expected<format::FormatStyle> Style = format::getStyle(
      *Context.getOptionsForFile(File).FormatStyle, File, "none");
  if (!Style) {
    error() << toString(Style.takeError()) << '\n';
    return std::nullopt;
  }
  Expected<tooling::Replacements> Clean =
      format::cleanupAroundReplacements(Text, Wanted, *Style);
  if (Clean)
    Clean = format::formatReplacements(Text, *Clean, *Style);
  Expected<std::string> Result =
      Clean ? tooling::applyAllReplacements(Text, *Clean)
            : Expected<std::string>(Clean.takeError());
  if (Result)
    return std::move(*Result);
  error() << "the fixes of '" << File
          << "' cannot be shown: " << toString(Result.takeError()) << '\n';
  return std::nullopt;
}

/// A temporary file that goes with the scope.
class Scratch {
public:
  explicit Scratch(StringRef Text) {
    int File = -1;
    if (sys::fs::createTemporaryFile("torch-tidy", "cpp", File, Path))
      return;
    raw_fd_ostream OS(File, /*shouldClose=*/true);
    OS << Text;
  }
  ~Scratch() { sys::fs::remove(Path); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  SmallString<128> Path;
};

/// As git does.
void printColored(StringRef Diff) {
  // A line of the file may begin with dashes too.
  bool IsHead = true;
  for (const StringRef Line : llvm::split(Diff.rtrim('\n'), '\n')) {
    IsHead &= !Line.starts_with("@@");
    if (IsHead)
      outs().changeColor(raw_ostream::SAVEDCOLOR, /*Bold=*/true);
    else if (Line.starts_with("@@"))
      outs().changeColor(raw_ostream::CYAN);
    else if (Line.starts_with("-"))
      outs().changeColor(raw_ostream::RED);
    else if (Line.starts_with("+"))
      outs().changeColor(raw_ostream::GREEN);
    outs() << Line;
    outs().resetColor() << '\n';
  }
}

bool printDiff(StringRef File, StringRef Before, StringRef After,
               bool HasColors) {
  const ErrorOr<std::string> Diff = sys::findProgramByName("diff");
  if (!Diff) {
    error() << "--show-fixes needs the program 'diff', which was not found\n";
    return false;
  }
  SmallString<256> Folder;
  sys::fs::current_path(Folder);
  Folder += '/';
  StringRef Name = File;
  Name.consume_front(Folder);
  // For a file elsewhere the path as a whole: git's own have no "/" in front.
  Name.consume_front("/");
  const Scratch Old(Before), New(After);
  // patch(1) takes a name with a space where a tab ends it.
  const char *End = Name.contains(' ') ? "\t" : "";
  const std::string OldName = ("a/" + Name + End).str(),
                    NewName = ("b/" + Name + End).str();
  outs().flush();
  // Not every diff(1) has colours of its own.
  const Scratch Written("");
  const std::optional<StringRef> ToFile[] = {
      std::nullopt, StringRef(Written.Path), std::nullopt};
  // 1: they differ.
  const StringRef Words[] = {*Diff,     "-u",    "--label", OldName,
                             "--label", NewName, Old.Path,  New.Path};
  const int Code = sys::ExecuteAndWait(
      *Diff, Words, /*Env=*/std::nullopt,
      HasColors ? ArrayRef(ToFile) : ArrayRef<std::optional<StringRef>>());
  if (Code == 0 || Code == 1) {
    if (!HasColors)
      return true;
    if (const ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
            MemoryBuffer::getFile(Written.Path)) {
      printColored((*Text)->getBuffer());
      return true;
    }
  }
  error() << "'" << *Diff << "' failed for '" << File << "' (--show-fixes)\n";
  return false;
}

} // namespace

Edits::Edits(const Findings &All, bool FromNotes) {
  for (const ClangTidyError &Finding : All) {
    const auto *Fix = fixOf(Finding, FromNotes);
    bool IsWhole = Fix != nullptr;
    if (Fix)
      for (const auto &File : *Fix)
        for (const tooling::Replacement &Each : File.second) {
          // With the folder that paths of the finding are relative to.
          SmallString<256> Path = Each.getFilePath();
          sys::fs::make_absolute(Finding.BuildDirectory, Path);
          const std::string Whole = comparablePath(Path);
          const Added How =
              Each.isApplicable()
                  ? add(ByFile[Whole],
                        tooling::Replacement(Whole, Each.getOffset(),
                                             Each.getLength(),
                                             Each.getReplacementText()))
                  : Added::LeftOut;
          ++(How == Added::LeftOut ? NumLeftOut : NumMade);
          // Of two of which one is over the other only one is there.
          IsWhole &= How == Added::Alone;
        }
    Fixed.push_back(IsWhole);
  }
}

const StringMap<tooling::Replacements> *fixOf(const ClangTidyError &Finding,
                                              bool FromNotes) {
  if (!Finding.Message.Fix.empty())
    return &Finding.Message.Fix;
  const StringMap<tooling::Replacements> *Result = nullptr;
  if (FromNotes)
    for (const tooling::DiagnosticMessage &Note : Finding.Notes) {
      if (Note.Fix.empty())
        continue;
      if (Result)
        return nullptr;
      Result = &Note.Fix;
    }
  return Result;
}

static const char *remain(size_t Number) {
  return Number == 1 ? " remains\n" : " remain\n";
}

/// Printed before anything is fixed.
static void tellPreview(const Edits &Wanted, bool IsRefused) {
  const size_t Number = Wanted.Fixed.size();
  const size_t NumFixed = llvm::count(Wanted.Fixed, true);
  if (!Number)
    return;
  if (!Wanted.NumMade) {
    note() << "no finding has a fix: " << Number << remain(Number);
    return;
  }
  note() << counted(NumFixed, "finding") << " would be fixed by "
         << counted(Wanted.NumMade, "edit") << ", " << Number - NumFixed
         << remain(Number - NumFixed);
  if (Wanted.NumLeftOut)
    note() << Wanted.NumLeftOut << " of "
           << counted(Wanted.NumMade + Wanted.NumLeftOut, "edit")
           << " would not be made: they touch the same text as others\n";
  if (IsRefused)
    note() << "where there are compile errors --fix changes nothing; "
              "--fix-errors does\n";
}

bool showFixes(const Findings &All, const Options &Line, bool CompileErrors,
               ClangTidyContext &Context,
               IntrusiveRefCntPtr<vfs::OverlayFileSystem> FS) {
  const Edits Wanted(All, Line.FixNotes);
  for (const auto &[File, Here] : Wanted.ByFile) {
    const ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
        FS->getBufferForFile(File);
    if (!Text) {
      error() << "cannot read '" << File << "': " << Text.getError().message()
              << '\n';
      return false;
    }
    const StringRef Before = (*Text)->getBuffer();
    const std::optional<std::string> After =
        changed(File, Before, Here, Context);
    if (!After || (*After != Before &&
                   !printDiff(File, Before, *After,
                              Context.getOptions().UseColor.value_or(false))))
      return false;
  }
  outs().flush();
  if (!Line.Quiet)
    tellPreview(Wanted, CompileErrors && !Line.FixErrors);
  return true;
}

void concludeFixes(StringRef Said, Findings &All, const Edits &Wanted,
                   bool Quiet) {
  static const Regex Count(
      "^clang-tidy applied ([0-9]+) of ([0-9]+) suggested fixes[.]$");
  std::string Made, Of;
  SmallVector<StringRef> Lines;
  Said.split(Lines, '\n');
  for (StringRef Line : Lines) {
    SmallVector<StringRef> Parts;
    if (Count.match(Line, &Parts)) {
      Made = Parts[1];
      Of = Parts[2];
    } else if (!Line.empty()) {
      errs() << Line << '\n';
    }
  }
  if (Made.empty())
    return;
  if (Made != Of)
    note() << Made << " of " << Of
           << " edits were made: the others touch the same text; run it again "
              "for them\n";
  // Where clang-tidy has made others, nobody knows of which findings they are.
  if (Made != std::to_string(Wanted.NumMade))
    return;
  const size_t Before = All.size();
  Findings Left;
  for (size_t I = 0; I < Before; ++I)
    if (!Wanted.Fixed[I])
      Left.push_back(std::move(All[I]));
  All = std::move(Left);
  if (!Quiet)
    note() << counted(Before - All.size(), "finding") << " fixed by "
           << counted(std::stoul(Made), "edit") << ", " << All.size()
           << remain(All.size());
}

} // namespace torchtidy::tool
