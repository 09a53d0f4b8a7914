// All code of the file, for those that collect what it puts where.
#ifndef TORCHTIDY_ICFG_BODIES_H
#define TORCHTIDY_ICFG_BODIES_H

#include "flow/Functions.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace torchtidy::model {

/// Calls Body with each function's body, then, of a constructor, Init with each
/// of its initializers.
inline void
forEachBody(const flow::UserFunctions &Functions,
            llvm::function_ref<void(const clang::Stmt *)> Body,
            llvm::function_ref<void(const clang::CXXCtorInitializer &)> Init) {
  for (const clang::FunctionDecl *F : Functions.all()) {
    Body(F->getBody());
    if (const auto *Constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(F))
      for (const clang::CXXCtorInitializer *Each : Constructor->inits())
        Init(*Each);
  }
}

} // namespace torchtidy::model

#endif
