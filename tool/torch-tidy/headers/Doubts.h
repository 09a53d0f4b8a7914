// Whether a source file means the same with LibTorch's headers precompiled as
// without. A precompiled header stands before the first line of the source;
// there, nothing must have been before LibTorch's headers that they, or what
// came before them, could have seen otherwise.
#ifndef TORCHTIDY_TOOL_HEADERS_DOUBTS_H
#define TORCHTIDY_TOOL_HEADERS_DOUBTS_H

#include "clang/AST/ASTConsumer.h"
#include "clang/Lex/PPCallbacks.h"
#include <memory>
#include <string>
#include <vector>

namespace clang {
class Preprocessor;
}

namespace torchtidy::tool {

/// Watches one parse. Ask when it is over.
class Doubts {
public:
  /// Entries: the files that the precompiled header includes. Inputs: all that
  /// it was made of. Graphs: IncludeGraphs, encoded, which of them includes
  /// which.
  Doubts(std::vector<std::string> Entries, std::vector<std::string> Inputs,
         std::vector<std::string> Graphs)
      : Entries(std::move(Entries)), Inputs(std::move(Inputs)),
        Graphs(std::move(Graphs)) {}

  /// To be called before the parse begins.
  void watch(clang::Preprocessor &PP);
  /// Looks at the user's declarations, Scope, when all are parsed.
  void judge(clang::ASTContext &Context, llvm::ArrayRef<clang::Decl *> Scope);

  /// In words, what makes the result doubtful; empty when nothing does.
  const std::string &reason() const { return Reason; }

private:
  class Watcher;

  void doubt(const llvm::Twine &Why) {
    if (Reason.empty())
      Reason = Why.str();
  }

  std::vector<std::string> Entries, Inputs, Graphs;
  /// Where the last of the entries is included first.
  clang::SourceLocation Entered;
  std::string Reason;
};

} // namespace torchtidy::tool

#endif
