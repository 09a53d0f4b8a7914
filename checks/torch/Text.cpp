#include "torch/Text.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace torchtidy::torch {

bool isUsedIn(llvm::StringRef Text) {
  // A lexer wants a terminator behind its text.
  const std::string Copy = Text.str();
  LangOptions Options;
  Options.CPlusPlus = true;
  Options.LineComment = true;
  Lexer Raw(SourceLocation(), Options, Copy.data(), Copy.data(),
            Copy.data() + Copy.size());
  llvm::StringRef Before;
  for (Token Current;;) {
    const bool IsOver = Raw.LexFromRawLexer(Current);
    // torch::nn, at::Tensor, <torch/torch.h>.
    const bool IsOfNamespace =
        Current.is(tok::coloncolon) &&
        (Before == "torch" || Before == "at" || Before == "c10");
    if (IsOfNamespace || (Current.is(tok::slash) && Before == "torch"))
      return true;
    Before = Current.is(tok::raw_identifier) ? Current.getRawIdentifier()
                                             : llvm::StringRef();
    if (IsOver)
      return false;
  }
}

llvm::StringRef namespaceIn(llvm::StringRef Name) {
  return Name.contains("at::") ? "at" : "torch";
}

} // namespace torchtidy::torch
