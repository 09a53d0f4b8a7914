#include "torch/LayerOptions.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool leavesOut(const CallExpr *Option, const FieldDecl *Member) {
  const FunctionDecl *Named = Option->getDirectCallee();
  if (!Named || !isLibTorch(Named) || Option->getNumArgs() != 1 ||
      ast::boolAt(Option->getArg(0), true) != false)
    return false;
  const StringRef Of = ast::nameOf(Member);
  return llvm::StringSwitch<bool>(ast::nameOf(Named))
      .Case("bias", Of == "bias")
      .Cases("affine", "elementwise_affine", Of == "bias" || Of == "weight")
      .Default(false);
}

} // namespace torchtidy::torch
