// Objects that begin their life: the one place that says what a class is when
// it is new, whether it is declared, made by new, make_unique, make_shared,
// emplace, a member initializer, or is a temporary.
#ifndef TORCHTIDY_SEMANTICS_CONSTRUCTION_H
#define TORCHTIDY_SEMANTICS_CONSTRUCTION_H

#include "model/machine/Machine.h"
#include "torch/Types.h"

namespace torchtidy::model {

struct Construction {
  /// The CXXConstructExpr, or the call that makes the object.
  const clang::Expr *Site;
  clang::QualType Type;
  /// What is filled.
  PlaceSet Target;
  /// It ends with the expression.
  bool IsTemporary = false;
  llvm::SmallVector<const clang::Expr *, 4> Arguments;
  /// Null where it is not known which one is called: make_unique<T>(...).
  const clang::CXXConstructorDecl *Constructor = nullptr;

  torch::TypeKind kind() const { return torch::kindOf(Type); }
};

Denotation construct(Machine &M, const Construction &Made);

/// The same of what the AST has as a construction.
Denotation construct(Machine &M, const clang::CXXConstructExpr *Construct);

/// An object whose constructor was seen, or that has none: the event says only
/// that it exists.
void emitCreate(Machine &M, const clang::Expr *Site, const PlaceSet &Objects);

} // namespace torchtidy::model

#endif
