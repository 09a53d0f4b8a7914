#include "torch/Shapes.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Arithmetic.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchtidy::torch {

bool isPointwise(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("abs", "neg", "sign", "floor", "ceil", "round", "square", true)
      .Cases("sqrt", "rsqrt", "reciprocal", "exp", "expm1", true)
      .Cases("log", "log1p", "sin", "cos", "tan", "erf", true)
      .Cases("relu", "sigmoid", "tanh", "gelu", "silu", "elu", true)
      .Cases("leaky_relu", "softplus", "clamp", "clip", true)
      .Cases("clamp_min", "clamp_max", "isnan", "isinf", "isfinite", true)
      .Cases("logical_not", "bitwise_not", true)
      .Default(false);
}

bool broadcasts(const Operation &Op) {
  llvm::StringRef Name = Op.Name;
  Name.consume_back("_");
  return isElementwise(Op) || copiesInto(Op) ||
         llvm::StringSwitch<bool>(Name)
             .Cases("where", "masked_fill", "rsub", true)
             .Cases("bitwise_and", "bitwise_or", "bitwise_xor", true)
             .Cases("divide", "multiply", "subtract", true)
             .Cases("true_divide", "floor_divide", true)
             .Default(false);
}

bool broadcastsInto(const Operation &Op) {
  llvm::StringRef Name = Op.Name;
  if (Op.Writes != operation::Out ||
      !(Name.consume_back("_out") || Name.consume_back("_outf")))
    return false;
  const Operation *Same = findOperation(Name, operation::Function);
  return Same && broadcasts(*Same);
}

const clang::Expr *keepsDimensionsArgument(const clang::CallExpr *Call) {
  const clang::FunctionDecl *Callee = Call->getDirectCallee();
  const auto Arguments = ast::argumentsOf(Call);
  for (size_t I = 0;
       Callee && I < std::min<size_t>(Callee->getNumParams(), Arguments.size());
       ++I)
    if (ast::nameOf(Callee->getParamDecl(I)) == "keepdim")
      return Arguments[I];
  return nullptr;
}

bool reduces(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("sum", "nansum", "mean", "prod", "std", "var", "norm", true)
      .Cases("max", "min", "amax", "amin", "any", "all", true)
      .Default(false);
}

bool splits(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("split", "chunk", "tensor_split", "unbind", true)
      .Default(false);
}

bool rearranges(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
             .Cases("index_select", "gather", "take", "take_along_dim", true)
             .Cases("masked_select", "flip", "roll", "rot90", true)
             .Default(false) ||
         isConcatenation(Op) || repeats(Op);
}

bool repeats(const Operation &Op) {
  return Op.Name == "repeat" || Op.Name == "tile" ||
         Op.Name == "repeat_interleave";
}

bool repeatsEachDimension(const Operation &Op) { return Op.Name == "repeat"; }

bool takesTimesAndDimension(const Operation &Op) {
  return Op.Name == "repeat_interleave";
}

static ShapeRule ruleOf(llvm::StringRef Name) {
  return llvm::StringSwitch<ShapeRule>(Name)
      .Cases("view", "reshape", ShapeRule::Listed)
      .Case("expand", ShapeRule::Expanded)
      .Cases("repeat", "tile", ShapeRule::Repeated)
      .Case("unsqueeze", ShapeRule::Unsqueezed)
      .Cases("t", "mT", "numpy_T", ShapeRule::Transposed)
      .Cases("transpose", "swapaxes", "swapdims", ShapeRule::Swapped)
      .Case("permute", ShapeRule::Permuted)
      .Case("select", ShapeRule::Selected)
      .Cases("narrow", "slice", "index_select", ShapeRule::Resized)
      .Case("index", ShapeRule::Indexed)
      .Cases("cat", "concat", "concatenate", "stack", ShapeRule::AtLeastOne)
      .Cases("hstack", "vstack", "dstack", ShapeRule::AtLeastOne)
      .Cases("flatten", "ravel", ShapeRule::AtLeastOne)
      .Cases("multinomial", "nonzero", "masked_select", ShapeRule::AtLeastOne)
      .Case("mm", ShapeRule::MatrixProduct)
      .Case("bmm", ShapeRule::BatchedProduct)
      .Case("matmul", ShapeRule::AnyProduct)
      .Cases("sum", "nansum", "mean", "prod", ShapeRule::Reduced)
      .Cases("max", "min", "amax", "amin", ShapeRule::Reduced)
      .Cases("any", "all", "std", "var", ShapeRule::Reduced)
      .Case("logsumexp", ShapeRule::Reduced)
      .Default(ShapeRule::Unknown);
}

static bool keepsShape(const Operation &Op) {
  return isTransfer(Op) || isPointwise(Op) || makesContiguous(Op) ||
         isDetach(Op) || pinsMemory(Op) || Op.has(operation::LikeFactory) ||
         Op.Name == "clone" || Op.Name == "data";
}

ShapeRule shapeRule(const Operation &Op) {
  if (Op.has(operation::InplaceView) || Op.has(operation::Resizes))
    return ShapeRule::Unknown;
  // What is written keeps its shape.
  if (Op.Writes == operation::Self)
    return isSet(Op) ? ShapeRule::Unknown : ShapeRule::Same;
  if (Op.Writes != operation::NoArgument)
    return ShapeRule::Unknown;
  if (Op.has(operation::Factory))
    return ShapeRule::Listed;
  // new_zeros({2, 3}) is no image of its object.
  if (Op.Name.starts_with("new_"))
    return ShapeRule::Listed;
  if (keepsShape(Op))
    return ShapeRule::Same;
  if (broadcasts(Op))
    return ShapeRule::Broadcast;
  if (returnsNumber(Op))
    return ShapeRule::Number;
  return ruleOf(Op.Name);
}

bool countsElements(const clang::FunctionDecl *Member) {
  return ast::nameOf(Member) == "numel";
}

} // namespace torchtidy::torch
