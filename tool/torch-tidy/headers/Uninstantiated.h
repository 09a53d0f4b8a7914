// The user's code that a parse without the bodies of library functions may
// lack.
#ifndef TORCHTIDY_TOOL_HEADERS_UNINSTANTIATED_H
#define TORCHTIDY_TOOL_HEADERS_UNINSTANTIATED_H

#include "clang/AST/ASTContext.h"
#include <string>

namespace torchtidy::tool {

/// Looks among the user's declarations for a generic lambda, or a member of one
/// of the user's templates, that has no instantiation and may have one in a
/// parse in full: a body that was skipped may be what would have called it.
///
/// It can do so only where the library knows the type: as an argument of one of
/// its templates, or as a base or field of such an argument. What no library
/// template is given has as few instantiations in full. Templates of the
/// standard library call constructors, operators and what the standard names
/// (torch::mayBeCalledByStd), no serialize(). And it matters only
/// where LibTorch is involved: the instantiation of a comparison of strings
/// changes nothing that a check could see.
///
/// Returns what was found, in words, or an empty string.
std::string findUninstantiated(clang::ASTContext &Context,
                               llvm::ArrayRef<clang::Decl *> Scope);

} // namespace torchtidy::tool

#endif
