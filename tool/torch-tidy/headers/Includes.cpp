#include "headers/Includes.h"
#include "clang/Lex/DependencyDirectivesScanner.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {

namespace scan = clang::dependency_directives_scan;

std::vector<std::string> includesOf(StringRef Text) {
  SmallVector<scan::Token, 128> Tokens;
  SmallVector<scan::Directive, 32> Directives;
  std::vector<std::string> Result;
  if (scanSourceForDependencyDirectives(Text, Tokens, Directives))
    return Result;
  for (const scan::Directive &D : Directives) {
    if (D.Kind != scan::pp_include && D.Kind != scan::pp_import)
      continue;
    const scan::Token &First = D.Tokens.front(), &Last = D.Tokens.back();
    const StringRef Line =
        Text.slice(First.Offset, Last.Offset + Last.Length).rtrim();
    const size_t Begin = Line.find_first_of("<\"");
    if (Begin == StringRef::npos)
      continue; // by a macro
    const size_t End = Line.find(Line[Begin] == '<' ? '>' : '"', Begin + 1);
    if (End != StringRef::npos)
      Result.push_back(Line.slice(Begin, End + 1).str());
  }
  return Result;
}

} // namespace torchtidy::tool
