// What templates of the standard library, and those of LibTorch that do no
// more, call of the types that they are given.
#ifndef TORCHTIDY_TORCH_STDREQUIREMENTS_H
#define TORCHTIDY_TORCH_STDREQUIREMENTS_H

#include "clang/AST/Decl.h"

namespace torchtidy::torch {

/// Of a class of the user's: a constructor, an operator, a conversion, or a
/// name that the C++ standard requires of such types ([utility], [container],
/// [iterator], [allocator], [char.traits], [thread.mutex], [rand],
/// [time.clock], [format]), or load() and save(). They call nothing else.
bool mayBeCalledByStd(const clang::FunctionDecl *Method);

/// A template of the standard library, or one of LibTorch's that keeps, casts,
/// copies or saves the module that it is given (register_module, ModuleHolder,
/// Cloneable, torch::load) and calls no more of it (torch/nn/module.h, pimpl.h,
/// cloneable.h, torch/serialize.h). What ModuleHolder::operator() calls is part
/// of what torch-tidy's headers keep.
bool callsAsStdDoes(const clang::NamedDecl *Template);

} // namespace torchtidy::torch

#endif
