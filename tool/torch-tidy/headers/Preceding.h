// The user's declarations before LibTorch's headers.
#ifndef TORCHTIDY_TOOL_HEADERS_PRECEDING_H
#define TORCHTIDY_TOOL_HEADERS_PRECEDING_H

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceLocation.h"
#include <string>

namespace torchtidy::tool {

/// Looks, among the declarations of Scope that stand before Entered, for one
/// that the precompiled header could mean something to, or that could mean
/// another thing without it: one of a name that it declares at global scope
/// too, one in a namespace or of a template of its. Others it cannot find: its
/// names are all found further inside, or it would not have compiled alone.
///
/// Returns what was found, in words, or an empty string.
std::string findPreceding(clang::ASTContext &Context,
                          llvm::ArrayRef<clang::Decl *> Scope,
                          clang::SourceLocation Entered);

} // namespace torchtidy::tool

#endif
