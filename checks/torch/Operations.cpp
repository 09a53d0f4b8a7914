#include "torch/Operations.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchtidy::torch {

using namespace operation;

static constexpr Tri No = Tri::No, Maybe = Tri::Maybe, Yes = Tri::Yes;

static constexpr Operation Table[] = {
#define OPERATION(Name, Variants, Returns, View, Writes, Differentiable, Sync, \
                  Flags)                                                       \
  {Name, Variants, Returns, View, Writes, Differentiable, Sync, Flags},
#include "torch/OperationTable.inc"
#undef OPERATION
};

const Operation *findOperation(llvm::StringRef Name, Variant Variant) {
  static const llvm::StringMap<const Operation *> Index = [] {
    llvm::StringMap<const Operation *> Result(std::size(Table));
    for (const Operation &Row : Table)
      Result[Row.Name] = &Row;
    return Result;
  }();
  const Operation *Row = Index.lookup(Name);
  return Row && (Row->Variants & Variant) ? Row : nullptr;
}

Transfer transferOf(const Operation &Op) {
  return llvm::StringSwitch<Transfer>(Op.Name)
      .Case("to", Transfer::To)
      .Case("toType", Transfer::ToType)
      .Case("cpu", Transfer::Cpu)
      .Case("cuda", Transfer::Cuda)
      .Default(Transfer::None);
}

bool isElementwise(const Operation &Op) {
  llvm::StringRef Name = Op.Name;
  Name.consume_back("_");
  return llvm::StringSwitch<bool>(Name)
      .Cases("add", "sub", "mul", "div", "pow", "fmod", "remainder", true)
      .Cases("eq", "ne", "lt", "le", "gt", "ge", true)
      .Cases("maximum", "minimum", "atan2", "hypot", "lerp", true)
      .Cases("addcmul", "addcdiv", true)
      .Cases("logical_and", "logical_or", "logical_xor", true)
      .Default(false);
}

bool takesHostNumber(const Operation &Op) {
  return isElementwise(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("where", "masked_fill", "masked_fill_", true)
             .Cases("mse_loss", "l1_loss", "smooth_l1_loss", true)
             .Cases("huber_loss", "kl_div", "soft_margin_loss", true)
             .Case("binary_cross_entropy", true)
             .Case("binary_cross_entropy_with_logits", true)
             .Default(false);
}

bool needsOneDevice(const Operation &Op) {
  return takesHostNumber(Op) || isConcatenation(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("mm", "matmul", "bmm", "mv", "dot", "addmm", "addmv", true)
             .Cases("baddbmm", "linear", "bilinear", "outer", "einsum", true)
             .Cases("conv1d", "conv2d", "conv3d", "convolution", true)
             .Cases("nll_loss", "nll_loss2d", "cross_entropy_loss", true)
             .Cases("gather", "index_select", "embedding", true)
             .Default(false);
}

bool takesShape(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("view", "reshape", "expand", "repeat", true)
      .Default(false);
}

bool pinsMemory(const Operation &Op) { return Op.Name == "pin_memory"; }

const Operation *inPlaceOf(const Operation &Op) {
  return findOperation((Op.Name + "_").str(), operation::Method);
}

const Operation &anyLoss() {
  return *findOperation("mse_loss", operation::Function);
}

bool keepsDimensions(const Operation &Op) {
  return isElementwise(Op) || isTransfer(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("clone", "contiguous", "detach", "data", true)
             .Cases("pin_memory", "unsqueeze", "neg", "relu", "exp", true)
             .Cases("softmax", "log_softmax", "sigmoid", "tanh", true)
             .Cases("narrow", "slice", "transpose", "permute", "flip", true)
             .Default(false);
}

bool isFromBlob(const Operation &Op) { return Op.Name == "from_blob"; }

bool makesContiguous(const Operation &Op) { return Op.Name == "contiguous"; }

bool laysOutAnew(const Operation &Op) {
  return Op.Name == "softmax" || Op.Name == "log_softmax";
}

bool changesShape(const Operation &Op) {
  return (Op.View == Tri::Yes && !isDetach(Op) && Op.Name != "alias") ||
         (keepsOrder(Op) && !isTransfer(Op) && !Op.has(DiscardsHistory));
}

bool reordersDimensions(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("t", "mT", "numpy_T", true)
      .Cases("transpose", "swapaxes", "swapdims", true)
      .Cases("permute", "movedim", "moveaxis", true)
      .Default(false);
}

bool keepsOrder(const Operation &Op) {
  return isTransfer(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("view", "view_as", "unsqueeze", "squeeze", true)
             .Cases("reshape", "reshape_as", "flatten", "unflatten", true)
             .Cases("detach", "data", true)
             .Default(false);
}

bool mayReturnItself(const Operation &Op) {
  return Op.Name == "contiguous" || Op.Name == "flatten" ||
         Op.Name == "pin_memory";
}

bool sharesContiguous(const Operation &Op) {
  return Op.Name == "contiguous" || Op.Name == "reshape" ||
         Op.Name == "flatten";
}

bool isSet(const Operation &Op) { return Op.Name == "set_"; }

bool replacesStorage(const Operation &Op) {
  return Op.has(Resizes) || isSet(Op);
}

bool isIndexing(const Operation &Op) { return Op.Name == "index"; }

llvm::StringRef writingInstead(const Operation &Op) {
  return llvm::StringSwitch<llvm::StringRef>(Op.Name)
      .Case("index", "index_put_()")
      .Case("masked_select", "masked_fill_()")
      .Case("index_select", "index_copy_()")
      .Cases("gather", "take_along_dim", "scatter_()")
      .Case("take", "put_()")
      .Default("");
}

bool replacesContent(const Operation &Op) {
  return isZeroing(Op) || isSet(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("fill_", "copy_", "normal_", "uniform_", "random_", true)
             .Default(false);
}

bool copiesInto(const Operation &Op) { return Op.Name == "copy_"; }

bool isZeroing(const Operation &Op) { return Op.Name == "zero_"; }

bool isAccumulating(const Operation &Op) {
  return Op.Name == "add_" || Op.Name == "sub_";
}

bool changesNoData(const Operation &Op) {
  return Op.Name == "retain_grad" || Op.Name == "set_data" ||
         Op.Name == "rename_";
}

bool changesHistoryOnly(const Operation &Op) {
  return isDetachInPlace(Op) || Op.Name == "requires_grad_";
}

bool isDetachInPlace(const Operation &Op) { return Op.Name == "detach_"; }

bool isDetach(const Operation &Op) {
  return Op.Name == "detach" || isDetachInPlace(Op);
}

bool writesLastArgument(const Operation &Op) {
  return Op.Name.ends_with("_outf");
}

bool returnsIndices(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("max", "min", "topk", "sort", "kthvalue", "mode", "median", true)
      .Cases("nanmedian", "cummax", "cummin", true)
      .Cases("max_pool1d_with_indices", "max_pool2d_with_indices",
             "max_pool3d_with_indices", "adaptive_max_pool1d",
             "adaptive_max_pool2d", "adaptive_max_pool3d", true)
      .Default(false);
}

bool returnsBool(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("eq", "ne", "lt", "le", "gt", "ge", true)
      .Cases("not_equal", "less", "less_equal", "greater", "greater_equal",
             true)
      .Cases("isnan", "isinf", "isfinite", "isposinf", "isneginf", "isclose",
             true)
      .Cases("logical_and", "logical_or", "logical_not", "logical_xor", true)
      .Default(false);
}

bool isBitwise(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", true)
      .Default(false);
}

bool isConcatenation(const Operation &Op) {
  return llvm::StringSwitch<bool>(Op.Name)
      .Cases("cat", "concat", "concatenate", "stack", true)
      .Cases("hstack", "vstack", "dstack", true)
      .Cases("row_stack", "column_stack", true)
      .Default(false);
}

bool isSum(const Operation &Op) { return Op.Name == "add" || Op.Name == "sub"; }

bool isScaling(const Operation &Op) {
  return Op.Name == "mul" || Op.Name == "div";
}

} // namespace torchtidy::torch
