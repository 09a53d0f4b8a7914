// The identifiers in the text of the user's files: also in code that no
// instantiation, no configuration and no error leaves in the AST.
#ifndef TORCHTIDY_FLOW_WORDS_H
#define TORCHTIDY_FLOW_WORDS_H

#include "flow/Functions.h"
#include "clang/Basic/LangOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace torchtidy::flow {

/// Each identifier of a file's text, in order, with where it begins in it; not
/// those in comments and strings. The character behind Text is zero.
void forEachWord(
    llvm::StringRef Text, const clang::LangOptions &Language,
    llvm::function_ref<void(llvm::StringRef Word, unsigned Offset)> Meet);

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
