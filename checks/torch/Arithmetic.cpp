#include "torch/Arithmetic.h"
#include "ast/Expressions.h"
#include "torch/Api.h"
#include "torch/Shapes.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isDifference(const Operation &Op) {
  return Op.Name == "sub" || Op.Name == "sub_";
}

bool isQuotient(const Operation &Op) { return Op.Name == "div"; }

bool returnsFloating(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("exp", "expm1", "log", "log2", "log10", "log1p", true)
      .Cases("sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh", true)
      .Cases("sin", "cos", "tan", "erf", "erfc", "softplus", true)
      .Cases("softmax", "log_softmax", "div", "mean", "std", "var", true)
      .Cases("rand", "randn", "rand_like", "randn_like", true)
      .Cases("conv1d", "conv2d", "conv3d", "linear", true)
      .Cases("layer_norm", "batch_norm", "gelu", "silu", "elu", true)
      .Default(false);
}

bool returnsNumber(const Operation &Op) {
  return Op.Name.ends_with("_loss") || Op.Name == "dot" ||
         Op.Name.starts_with("binary_cross_entropy");
}

bool keepsAnyType(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("relu", "neg", "abs", "square", "clamp", true)
      .Cases("clamp_min", "clamp_max", true)
      .Default(false);
}

bool takesTypeOfFirst(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("index_select", "index", "take", "take_along_dim", true)
      .Cases("gather", "masked_select", "repeat_interleave", true)
      .Case("embedding", true)
      .Default(false);
}

bool isOfOneTensor(const CallExpr *Call) {
  unsigned Tensors = 0;
  if (const Expr *Object = ast::objectOf(Call))
    Tensors += isTensor(Object->getType());
  for (const Expr *Argument : ast::argumentsOf(Call))
    Tensors += isTensor(Argument->getType());
  return Tensors == 1;
}

bool isFloatingNumber(const Expr *E) {
  return ast::stripCopies(E)->getType()->isRealFloatingType();
}

static bool makesFloatingWithin(const Expr *E, unsigned Depth) {
  const auto *Call = dyn_cast<CallExpr>(ast::stripCopies(E));
  const Operation *Op = Call ? classify(Call).Op : nullptr;
  if (!Op || Depth == 0)
    return false;
  if (returnsFloating(*Op))
    return true;
  if (returnsBool(*Op) || (!isElementwise(*Op) && !isPointwise(*Op)))
    return false;
  const Expr *Object = ast::objectOf(Call);
  if (Object && makesFloatingWithin(Object, Depth - 1))
    return true;
  return llvm::any_of(ast::argumentsOf(Call), [&](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument) &&
           (isFloatingNumber(Argument) ||
            makesFloatingWithin(Argument, Depth - 1));
  });
}

bool makesFloating(const Expr *E) { return makesFloatingWithin(E, 9); }

} // namespace torchtidy::torch
