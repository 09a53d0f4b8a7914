#include "headers/Includes.h"
#include "clang/Lex/DependencyDirectivesScanner.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

namespace scan = clang::dependency_directives_scan;

/// Whether there are only blanks and comments in the text.
static bool isBlank(StringRef Text) {
  while (true) {
    Text = Text.ltrim();
    if (Text.empty())
      return true;
    size_t End = StringRef::npos;
    if (Text.starts_with("//"))
      End = Text.find('\n');
    else if (Text.starts_with("/*"))
      End = Text.find("*/", 2);
    else
      return false;
    if (End == StringRef::npos)
      return true;
    Text = Text.drop_front(Text[End] == '*' ? End + 2 : End);
  }
}

bool isOfLibTorch(StringRef Header) {
  return Header.starts_with("torch/") || Header.starts_with("ATen/") ||
         Header.starts_with("c10/");
}

bool needsPython(StringRef Header) {
  return Header == "torch/extension.h" || Header == "torch/python.h" ||
         (isOfLibTorch(Header) &&
          (Header.contains("python") || Header.contains("pybind")));
}

StringRef missingHeader(StringRef Message) {
  return Message.consume_back("' file not found") && Message.consume_front("'")
             ? Message
             : StringRef();
}

bool includesByMacro(StringRef Text) {
  // No regular expression: this is asked of every header of every source.
  constexpr llvm::StringLiteral Word = "include";
  for (size_t At = Text.find(Word); At != StringRef::npos;
       At = Text.find(Word, At + 1)) {
    StringRef Before = Text.take_front(At).rtrim(" \t");
    const bool IsDirective = Before.consume_back("#");
    Before = Before.rtrim(" \t");
    const StringRef After = Text.drop_front(At + Word.size());
    const StringRef Name = After.ltrim(" \t");
    if (IsDirective && (Before.empty() || Before.back() == '\n') &&
        Name.size() < After.size() && !Name.empty() &&
        (isAlpha(Name.front()) || Name.front() == '_'))
      return true;
  }
  return false;
}

bool declaresModule(StringRef Text) {
  if (!Text.contains("module"))
    return false;
  SmallVector<scan::Token, 128> Tokens;
  SmallVector<scan::Directive, 32> Directives;
  if (scanSourceForDependencyDirectives(Text, Tokens, Directives))
    return false;
  return llvm::any_of(Directives, [](const scan::Directive &D) {
    return D.Kind == scan::cxx_module_decl ||
           D.Kind == scan::cxx_export_module_decl;
  });
}

std::vector<Include> includesOf(StringRef Text) {
  SmallVector<scan::Token, 128> Tokens;
  SmallVector<scan::Directive, 32> Directives;
  std::vector<Include> Result;
  if (scanSourceForDependencyDirectives(Text, Tokens, Directives))
    return Result;
  // Where the last include ends.
  constexpr size_t None = StringRef::npos;
  size_t Last = None;
  for (const scan::Directive &D : Directives) {
    if (D.Kind != scan::pp_include && D.Kind != scan::pp_import)
      continue;
    const scan::Token &First = D.Tokens.front(), &Final = D.Tokens.back();
    const StringRef Line =
        Text.slice(First.Offset, Final.Offset + Final.Length).rtrim();
    const size_t Begin = Line.find_first_of("<\"");
    const size_t End =
        Begin == StringRef::npos
            ? StringRef::npos
            : Line.find(Line[Begin] == '<' ? '>' : '"', Begin + 1);
    if (End == StringRef::npos) { // by a macro
      Last = None;
      continue;
    }
    const bool Follows =
        Last != None && isBlank(Text.slice(Last, First.Offset));
    Result.push_back({Line.slice(Begin, End + 1).str(), Follows});
    Last = First.Offset + End + 1;
  }
  return Result;
}

} // namespace torchtidy::tool
