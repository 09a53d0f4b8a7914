// What optimizers keep from one step() to the next. Source:
// torch/csrc/api/include/torch/optim/*.h (the classes ...ParamState and
// ...Options) and what step() does with them in torch/csrc/api/src/optim/*.cpp.
#ifndef TORCHTIDY_TORCH_OPTIMIZERS_H
#define TORCHTIDY_TORCH_OPTIMIZERS_H

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"

namespace torchtidy::torch {

/// An optimizer of this class, constructed with Arguments, is known to adapt
/// its steps to those before: Adam, AdamW, RMSprop and Adagrad always, SGD with
/// a momentum. Not LBFGS, one step() of which is an optimisation of its own,
/// nor classes derived from these.
bool keepsState(clang::QualType Optimizer,
                llvm::ArrayRef<const clang::Expr *> Arguments,
                const clang::ASTContext &Context);

/// Whether step() of an optimizer raises the versions of the weights that it
/// writes: Adam, AdamW, RMSprop and Adagrad write under a guard, which
/// backward() notices; SGD writes through data(), which it does not.
enum class Versions { Raised, Kept, Unknown };
Versions versionsOf(clang::QualType Optimizer);

/// load() and state() of an optimizer: what it keeps is, or may be, brought
/// from elsewhere.
bool bringsState(const clang::FunctionDecl *Member);

} // namespace torchtidy::torch

#endif
