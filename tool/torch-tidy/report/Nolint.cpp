#include "report/Nolint.h"
#include "Messages.h"
#include "inputs/Tree.h"
#include "report/Locations.h"
#include "report/Replace.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <set>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

constexpr llvm::StringLiteral Begin = "// NOLINTNEXTLINE(";

/// A file as lines, with their ends.
class Text {
public:
  explicit Text(StringRef All) : All(All) {
    for (size_t At = 0; At < All.size();) {
      Starts.push_back(At);
      const size_t End = All.find('\n', At);
      At = End == StringRef::npos ? All.size() : End + 1;
    }
    findBroken();
  }

  size_t size() const { return Starts.size(); }
  /// From 0.
  StringRef line(size_t Number) const {
    const size_t End =
        Number + 1 < Starts.size() ? Starts[Number + 1] : All.size();
    return All.slice(Starts[Number], End);
  }
  /// A token, or a line of the preprocessor, goes on at its start.
  bool isBroken(size_t Number) const { return Broken.count(Number); }

private:
  void findBroken() {
    LangOptions Language;
    Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus17 = true;
    Lexer Tokens(SourceLocation(), Language, All.begin(), All.begin(),
                 All.end());
    Tokens.SetKeepWhitespaceMode(false);
    Tokens.SetCommentRetentionState(true);
    Token Each;
    size_t Number = 0;
    while (!Tokens.LexFromRawLexer(Each)) {
      const size_t End = size_t(Tokens.getBufferLocation() - All.begin());
      const size_t From = End - Each.getLength();
      while (Number + 1 < Starts.size() && Starts[Number + 1] <= From)
        ++Number;
      for (size_t N = Number + 1; N < Starts.size() && Starts[N] < End; ++N)
        Broken.insert(N);
    }
    for (size_t N = 0; N + 1 < size(); ++N)
      if (line(N).rtrim("\r\n").ends_with("\\"))
        Broken.insert(N + 1);
  }

  StringRef All;
  std::vector<size_t> Starts;
  std::set<size_t> Broken;
};

/// Where the list of a comment that silences the next line ends, in whatever
/// way it is written; npos where there is none.
size_t listEnd(StringRef Line) {
  const size_t At = Line.find("NOLINTNEXTLINE(");
  const StringRef Before = Line.take_front(At);
  if (At == StringRef::npos ||
      (!Before.contains("//") && !Before.contains("/*")))
    return StringRef::npos;
  return Line.find(')', At);
}

/// Checks by line, from 0.
using ByLine = std::map<size_t, std::set<std::string>>;

/// The file with the comments; Left counts the lines where none can stand.
std::string commented(StringRef Name, const Text &Of, const ByLine &Wanted,
                      StringRef Reason, unsigned &Left) {
  std::string Result;
  for (size_t N = 0; N < Of.size(); ++N) {
    const StringRef Line = Of.line(N);
    // That of the next line may stand here already.
    const auto Next = Wanted.find(N + 1);
    const size_t Close = listEnd(Line);
    if (Next != Wanted.end() && Close != StringRef::npos) {
      Result += Line.take_front(Close);
      for (const std::string &Check : Next->second)
        Result += "," + Check;
      Result += Line.drop_front(Close);
      continue;
    }
    const auto Here = Wanted.find(N);
    const bool IsThere = N && listEnd(Of.line(N - 1)) != StringRef::npos;
    if (Here != Wanted.end() && !IsThere) {
      if (Of.isBroken(N)) {
        note() << Name << ':' << N + 1
               << ": no comment can stand before this line; a NOLINT around "
                  "the whole has to be written by hand\n";
        ++Left;
      } else {
        const StringRef Indent =
            Line.take_while([](char C) { return C == ' ' || C == '\t'; });
        Result += (Indent + Begin + join(Here->second, ",") + "): " + Reason +
                   (Line.ends_with("\r\n") ? "\r\n" : "\n"))
                      .str();
      }
    }
    Result += Line;
  }
  return Result;
}

} // namespace

int addNolint(const Findings &All, StringRef Reason,
              IntrusiveRefCntPtr<vfs::FileSystem> FS) {
  Locations Where(".", FS);
  std::map<std::string, ByLine> Wanted;
  unsigned Count = 0;
  for (const clang::tidy::ClangTidyError &Finding : All) {
    if (Finding.Message.FilePath.empty() ||
        StringRef(Finding.DiagnosticName) == "clang-diagnostic-error")
      continue;
    ++Count;
    const SourcePlace At =
        Where.place(Finding.Message.FilePath, Finding.BuildDirectory,
                    Finding.Message.FileOffset);
    // A file that several links lead to is changed once.
    Wanted[behindLinks(Locations::whole(Finding.Message.FilePath,
                                        Finding.BuildDirectory))][At.Line - 1]
        .insert(Finding.DiagnosticName);
  }
  unsigned Left = 0;
  for (const auto &[File, Lines] : Wanted) {
    const ErrorOr<std::unique_ptr<MemoryBuffer>> Source =
        FS->getBufferForFile(File);
    if (!Source) {
      error() << "cannot read '" << File << "': " << Source.getError().message()
              << '\n';
      return 1;
    }
    const std::string Result =
        commented(Where.name(File, ""), Text((*Source)->getBuffer()), Lines,
                  Reason, Left);
    if (Error Failure = replaceText(File, Result)) {
      error() << "cannot write '" << File
              << "': " << toString(std::move(Failure)) << '\n';
      return 1;
    }
  }
  note() << counted(Count, "finding") << " in "
         << counted(Wanted.size(), "file") << (Count == 1 ? " is" : " are")
         << " silenced" << (Left ? ", but for those told above" : "") << '\n';
  return Left ? 1 : 0;
}

} // namespace torchtidy::tool
