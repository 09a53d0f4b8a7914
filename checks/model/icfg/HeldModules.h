// What the file puts into containers of modules that run what they hold
// (Sequential, AnyModule), in the order in which it runs: by declaration,
// wherever it is written.
#ifndef TORCHTIDY_ICFG_HELDMODULES_H
#define TORCHTIDY_ICFG_HELDMODULES_H

#include "flow/Functions.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::model {

struct Frame;

/// Modules of which each gets what the one before returns, as they were given.
using ModuleChain = llvm::SmallVector<const clang::Expr *, 4>;

class HeldModules {
public:
  explicit HeldModules(const flow::UserFunctions &Functions);

  /// The chains of which a call runs one: more than one where the file fills
  /// the object in several ways, none where that is not known. Without a frame
  /// nothing is known of parameters.
  llvm::SmallVector<ModuleChain, 2> runBy(const Frame *F,
                                          const clang::CallExpr *Call) const;

  /// The user's forward() that module Number of a chain runs; null for those of
  /// LibTorch, and of classes that are not known.
  static const clang::CXXMethodDecl *forwardOf(const clang::CallExpr *Call,
                                               const ModuleChain &Chain,
                                               unsigned Number);

private:
  class Collector;
  class Search;

  struct Content {
    /// What it is assigned, or initialized with by a constructor.
    llvm::SmallVector<const clang::Expr *, 2> Wholes;
    /// What is added to it: push_back().
    llvm::SmallVector<const clang::Expr *, 4> Added;
  };

  const flow::UserFunctions &Functions;
  llvm::DenseMap<const clang::ValueDecl *, Content> Contents;
};

} // namespace torchtidy::model

#endif
