// Which part of a translation unit is analysed: all of it, as stock clang-tidy
// does, or the user's code alone where only torch checks run. LibTorch's
// headers declare some 200,000 nodes that no torch check has a question about.
#ifndef TORCHTIDY_TOOL_USERSCOPE_H
#define TORCHTIDY_TOOL_USERSCOPE_H

#include "clang/AST/ASTConsumer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <memory>

namespace clang::tidy {
class ClangTidyContext;
}

namespace torchtidy::tool {

/// areTorchChecksAlone, which asks every check there is for its name, once for
/// each configuration.
class TorchOnly {
public:
  bool operator()(const clang::tidy::ClangTidyContext &Context);

private:
  /// Files with one configuration have one answer.
  llvm::StringMap<bool> Answers;
};

/// Seen is told which declarations are the user's. Limits: takes the AST down
/// to these before Next sees it, and lets Clang go on after an error that it
/// takes for fatal, such as a missing header.
std::unique_ptr<clang::ASTConsumer> withUserCode(
    std::unique_ptr<clang::ASTConsumer> Next, bool Limits,
    std::function<void(clang::ASTContext &, llvm::ArrayRef<clang::Decl *>)>
        Seen);

} // namespace torchtidy::tool

#endif
