// The identifiers in the text of the user's files: also in code that no
// instantiation, no configuration and no error leaves in the AST.
#ifndef TORCHTIDY_FLOW_WORDS_H
#define TORCHTIDY_FLOW_WORDS_H

#include "flow/Functions.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace torchtidy::flow {

class Words {
public:
  Words(const UserFunctions &Functions, const clang::ASTContext &Context);

  /// Where Name stands; not in comments and not in strings.
  llvm::ArrayRef<clang::SourceLocation> places(llvm::StringRef Name) const;

private:
  void add(clang::FileID File, const clang::SourceManager &SM,
           const clang::LangOptions &Language);

  llvm::StringMap<llvm::SmallVector<clang::SourceLocation, 2>> Places;
};

} // namespace torchtidy::flow

#endif
