// Which methods a virtual call runs, by what the code around it says of the
// object.
#ifndef TORCHTIDY_ICFG_RECEIVERS_H
#define TORCHTIDY_ICFG_RECEIVERS_H

#include "model/icfg/Supergraph.h"

namespace torchtidy::model {

/// The class of an object, or one that it is derived from.
struct DynamicType {
  const clang::CXXRecordDecl *Class = nullptr;
  bool IsExact = false;
};

/// Of the object that E names or leads to in F: followed to the variable, `new`
/// or make_unique that it was made by, through arguments and `this`. Pointers
/// are taken to be what they were initialized with. Class is null where E has
/// none.
DynamicType dynamicTypeOf(const Frame *F, const clang::Expr *E);

/// The methods that a virtual call of Method runs: Method itself and the
/// overriders in this file that the object may have. Null stands for `this`.
llvm::SmallVector<const clang::CXXMethodDecl *, 2>
methodsRunBy(const flow::Overriders &Overriding, const Frame *F,
             const clang::CXXMethodDecl *Method, const clang::Expr *Object);

} // namespace torchtidy::model

#endif
