// Which calls may make the host wait for a device, as far as their text says.
#ifndef TORCHTIDY_QUERIES_DEVICES_UNSEENWAITS_H
#define TORCHTIDY_QUERIES_DEVICES_UNSEENWAITS_H

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"

namespace torchtidy::model {

/// Which calls that are not followed may wait for a device. A function of the
/// file does so where something in it may.
class UnseenWaits {
public:
  explicit UnseenWaits(clang::ASTContext &Context) : Context(Context) {}

  /// Site: a call or a construction.
  bool mayWait(const clang::Expr *Site);

private:
  bool mayWaitIn(const clang::FunctionDecl *Callee);
  bool isDoubtful(const clang::Stmt *S);

  clang::ASTContext &Context;
  llvm::DenseMap<const clang::FunctionDecl *, bool> Known;
};

} // namespace torchtidy::model

#endif
