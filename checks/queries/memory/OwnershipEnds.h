// Query: what a file does anywhere that ends what members and hooks hold.
#ifndef TORCHTIDY_QUERIES_MEMORY_OWNERSHIPENDS_H
#define TORCHTIDY_QUERIES_MEMORY_OWNERSHIPENDS_H

#include "flow/Functions.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::model {

class OwnershipEnds {
public:
  struct Assignment {
    const clang::FunctionDecl *In;
    const clang::Stmt *Site;
  };

  explicit OwnershipEnds(const flow::UserFunctions &All);

  /// Some hook is removed by its handle, or all of a tensor's are.
  bool removesHooks() const { return RemovesHooks; }
  /// \p Member is reset, cleared, moved from or swapped.
  bool letsGo(const clang::FieldDecl *Member) const {
    return LetGo.contains(Member);
  }
  /// Where \p Member gets another value; what a constructor assigns is what
  /// there is at first, and is none.
  llvm::ArrayRef<Assignment> assignments(const clang::FieldDecl *Member) const;
  /// How often \p F is called, by name.
  unsigned calls(const clang::FunctionDecl *F) const {
    return Calls.lookup(F->getCanonicalDecl());
  }

private:
  llvm::DenseSet<const clang::FieldDecl *> LetGo;
  llvm::DenseMap<const clang::FieldDecl *, llvm::SmallVector<Assignment, 2>>
      Assigned;
  llvm::DenseMap<const clang::FunctionDecl *, unsigned> Calls;
  bool RemovesHooks = false;

  void look(const clang::FunctionDecl *F, const clang::Stmt *S);
  void letGo(const clang::Expr *E);
};

} // namespace torchtidy::model

#endif
