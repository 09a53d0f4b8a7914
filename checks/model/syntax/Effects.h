// What calls do besides returning a value. Part of the syntactic engine: see
// Variables.h.
#ifndef TORCHTIDY_SYNTAX_EFFECTS_H
#define TORCHTIDY_SYNTAX_EFFECTS_H

#include "model/icfg/Supergraph.h"
#include "torch/Api.h"

namespace torchtidy::model {

class Effects {
public:
  explicit Effects(Code &User) : User(User) {}

  /// A tensor operation that only returns a result: it writes nothing, and
  /// draws no random numbers. A factory is not pure: it may start a device.
  static bool isPure(const clang::CallExpr *Call, const torch::Operation *Op);

  /// A call of a function of the user's that only computes what it returns. It
  /// has a body here, and nothing in it writes to what is not its own.
  bool onlyReturns(const clang::CallExpr *Call);

  /// Reads a clock or waits for the device, itself or by a function of the
  /// user's: what lies before is measured.
  bool measures(const clang::Stmt *S);

private:
  bool onlyReturns(const clang::FunctionDecl *F);
  /// S itself, whatever is below it, may do more than compute what In returns.
  bool isHarmful(const clang::Stmt *S, const clang::FunctionDecl *In);
  bool isHarmlessCall(const clang::CallExpr *Call,
                      const clang::FunctionDecl *In);
  bool containsMeasurement(const clang::Stmt *S);

  Code &User;
  /// False while a function is looked at, so that a recursion is.
  llvm::DenseMap<const clang::FunctionDecl *, bool> Returning, Measuring;
};

} // namespace torchtidy::model

#endif
