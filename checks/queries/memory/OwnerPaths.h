// Query: what owns what along a path of members, by what one function says.
#ifndef TORCHTIDY_QUERIES_MEMORY_OWNERPATHS_H
#define TORCHTIDY_QUERIES_MEMORY_OWNERPATHS_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace torchtidy::model {

/// A variable, or this, and the members that lead from it to a part.
struct OwnerPath {
  /// Null for this.
  const clang::ValueDecl *Root = nullptr;
  llvm::SmallVector<const clang::FieldDecl *, 4> Members;

  bool beginsWith(const OwnerPath &Other) const {
    return Root == Other.Root && Members.size() >= Other.Members.size() &&
           std::equal(Other.Members.begin(), Other.Members.end(),
                      Members.begin());
  }
};

/// The paths that a function's expressions name. A variable that gets another
/// value anywhere in it, or is moved from, is on none.
class OwnerPaths {
public:
  explicit OwnerPaths(const clang::FunctionDecl *F);

  /// The path to what \p E names: each step goes through what owns the next.
  std::optional<OwnerPath> find(const clang::Expr *E) const;

private:
  llvm::DenseSet<const clang::ValueDecl *> Changed;

  std::optional<OwnerPath> find(const clang::Expr *E, unsigned Depth) const;
  std::optional<OwnerPath> ofVariable(const clang::VarDecl *V,
                                      unsigned Depth) const;
};

/// \p E without casts between pointers and copies of them.
const clang::Expr *stripPointerCasts(const clang::Expr *E);

/// The pointer is one of several that share what it points to.
bool isSharedPointer(const clang::Expr *Pointer);

} // namespace torchtidy::model

#endif
