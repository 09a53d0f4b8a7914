// A call as the semantics see it.
#ifndef TORCHTIDY_SEMANTICS_CALLSITE_H
#define TORCHTIDY_SEMANTICS_CALLSITE_H

#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Types.h"

namespace torchtidy::model {

struct CallSite {
  const clang::CallExpr *Call;
  /// What it means to LibTorch.
  torch::Call Kind;
  /// The object of a method, or null.
  const clang::Expr *Object;
  /// Without the object; default arguments are among them.
  llvm::SmallVector<const clang::Expr *, 4> Arguments;

  explicit CallSite(const clang::CallExpr *Call)
      : Call(Call), Kind(torch::classify(Call)), Object(ast::objectOf(Call)),
        Arguments(ast::argumentsOf(Call)) {}

  const clang::FunctionDecl *callee() const { return Call->getDirectCallee(); }
  /// Null where there is none, or where it is not written.
  const clang::Expr *written(unsigned I) const {
    return I < Arguments.size() &&
                   !llvm::isa<clang::CXXDefaultArgExpr>(Arguments[I])
               ? Arguments[I]
               : nullptr;
  }
  /// The first argument, written or not.
  const clang::Expr *first() const {
    return Arguments.empty() ? nullptr : Arguments.front();
  }
  torch::TypeKind objectKind() const {
    return Object ? torch::kindOf(Object->getType()) : torch::TypeKind::Other;
  }
  /// What a method works on: what its object is a handle to, or this.
  PlaceSet self(Machine &M) const {
    return Object ? M.identity(Object) : M.thisObject();
  }
};

/// What a call does to the state, and what it denotes.
using Meaning = Denotation (*)(Machine &, const CallSite &);

} // namespace torchtidy::model

#endif
