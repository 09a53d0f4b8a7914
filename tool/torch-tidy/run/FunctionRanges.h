// How much of a file was analysed: functions that hold compile errors are not.
#ifndef TORCHTIDY_TOOL_RUN_FUNCTIONRANGES_H
#define TORCHTIDY_TOOL_RUN_FUNCTIONRANGES_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "clang/AST/Decl.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// The functions that the user has written with a body, templates once,
/// lambdas as a part of what they are written in.
class FunctionRanges {
public:
  void collect(clang::ASTContext &Context, llvm::ArrayRef<clang::Decl *> Scope);

  unsigned count() const { return Ranges.size(); }
  /// How many hold a compile error, or are invalid as a whole.
  unsigned
  countWithErrors(llvm::ArrayRef<clang::tidy::ClangTidyError> Findings) const;

private:
  struct Range {
    std::string Path;
    unsigned Begin, End;
    bool IsInvalid;
  };
  std::vector<Range> Ranges;
};

} // namespace torchtidy::tool

#endif
