// Which of the user's methods a virtual call may run.
#ifndef TORCHTIDY_FLOW_OVERRIDERS_H
#define TORCHTIDY_FLOW_OVERRIDERS_H

#include "flow/Functions.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/SmallVector.h"

namespace torchtidy::flow {

class Overriders {
public:
  explicit Overriders(const UserFunctions &Functions);

  /// The methods with a body in this file that override Method, directly or
  /// not, in source order.
  llvm::ArrayRef<const clang::CXXMethodDecl *>
  of(const clang::CXXMethodDecl *Method) const;

private:
  llvm::DenseMap<const clang::CXXMethodDecl *,
                 llvm::SmallVector<const clang::CXXMethodDecl *, 2>>
      ByMethod;
};

} // namespace torchtidy::flow

#endif
