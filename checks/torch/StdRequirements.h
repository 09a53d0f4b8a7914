// What templates of the standard library call of the types that they are given.
#ifndef TORCHTIDY_TORCH_STDREQUIREMENTS_H
#define TORCHTIDY_TORCH_STDREQUIREMENTS_H

#include "clang/AST/Decl.h"

namespace torchtidy::torch {

/// Of a class of the user's: a constructor, an operator, a conversion, or a
/// name that the C++ standard requires of such types ([utility], [container],
/// [iterator], [allocator], [char.traits], [thread.mutex], [rand],
/// [time.clock], [format]). They call nothing else.
bool mayBeCalledByStd(const clang::FunctionDecl *Method);

} // namespace torchtidy::torch

#endif
