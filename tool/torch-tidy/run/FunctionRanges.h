// How much of a file was analysed: functions that hold compile errors are not.
#ifndef TORCHTIDY_TOOL_RUN_FUNCTIONRANGES_H
#define TORCHTIDY_TOOL_RUN_FUNCTIONRANGES_H

#include "clang-tidy/ClangTidyDiagnosticConsumer.h"
#include "clang/AST/Decl.h"
#include "clang/Tooling/Core/Diagnostic.h"
#include <string>
#include <vector>

namespace torchtidy::tool {

/// A function that somebody has to name to run it (flow/Unreached.h), or a
/// class that somebody has to name to make an object of it (flow/ClassParts.h).
struct WrittenName {
  std::string Name;
  /// Of a class another name that makes objects of it; empty where there is
  /// none.
  std::string Stem;
  bool IsClass = false;
  /// All of it: declarations, and bodies.
  std::vector<clang::tooling::FileByteRange> Declarations;
  /// The file refers to it, or has what does without its name.
  bool IsMentioned = false;
};

/// The functions that the user has written with a body, templates once,
/// lambdas as a part of what they are written in.
class FunctionRanges {
public:
  /// AreNamesAsked: takeWritten() is of use.
  void collect(clang::ASTContext &Context, llvm::ArrayRef<clang::Decl *> Scope,
               bool AreNamesAsked);

  unsigned count() const { return Ranges.size(); }
  /// Those of them that nothing but their names may run, and the classes whose
  /// methods they are.
  std::vector<WrittenName> takeWritten() { return std::move(Written); }
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
  std::vector<WrittenName> Written;
};

} // namespace torchtidy::tool

#endif
