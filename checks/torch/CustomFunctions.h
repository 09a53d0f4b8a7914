// Operations with a backward() of their own, and what their context keeps:
// torch/csrc/autograd/custom_function.h. Null is answered by no.
#ifndef TORCHTIDY_TORCH_CUSTOMFUNCTIONS_H
#define TORCHTIDY_TORCH_CUSTOMFUNCTIONS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"

namespace torchtidy::torch {

/// A class that derives from torch::autograd::Function.
bool isCustomFunction(const clang::CXXRecordDecl *Class);
/// The context that forward() and backward() are given.
bool isContext(clang::QualType Type);
/// saved_data of a context, or a copy of it: ctx->saved_data.
bool isSavedData(const clang::Expr *E);
/// mark_non_differentiable: its arguments get no gradient.
bool marksNonDifferentiable(const clang::FunctionDecl *Member);
/// save_for_backward.
bool savesForBackward(const clang::FunctionDecl *Member);
/// Of a map: gives an element a value, and takes none away. insert, emplace.
bool addsToMap(const clang::FunctionDecl *Member);
/// Of a map: nothing in it changes. [], at, find, count, size.
bool looksIntoMap(const clang::FunctionDecl *Member);

} // namespace torchtidy::torch

#endif
