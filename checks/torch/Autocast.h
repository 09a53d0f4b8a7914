// Autocast: what switches it, and the copies that it keeps of weights. Source:
// ATen/autocast_mode.h, ATen/autocast_mode.cpp (cached_cast: of leaves in float
// that need a gradient and are no views). What is kept was run on the CPU with
// LibTorch 2.11.0: the output was the same after the weight had changed.
#ifndef TORCHTIDY_TORCH_AUTOCAST_H
#define TORCHTIDY_TORCH_AUTOCAST_H

#include "torch/Operations.h"
#include "torch/Options.h"
#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

enum class AutocastCall : uint8_t {
  None,
  /// set_autocast_enabled, set_enabled, set_cpu_enabled.
  Switch,
  /// clear_cache.
  EmptyCache,
  /// set_autocast_cache_enabled.
  SwitchCache,
  /// set_autocast_dtype, set_autocast_cpu_dtype, to another type than Half and
  /// BFloat16, or to one that is not known.
  OtherType,
};
AutocastCall autocastCall(const clang::CallExpr *Call);
/// Half and BFloat16, which autocast is for; whatever is kept is the same.
bool isReducedType(const clang::Expr *E);
/// Of an OtherType: the argument that is the type.
const clang::Expr *autocastType(const clang::CallExpr *Call);
/// Of a Switch or SwitchCache: the argument that says whether it is on.
const clang::Expr *autocastFlag(const clang::CallExpr *Call);
/// Of a Switch: the device. Nothing where that is not written as a constant.
std::optional<DeviceKind> autocastDevice(const clang::CallExpr *Call);

/// Of which weights a copy is kept while autocast is on.
enum class KeptCasts : uint8_t {
  None,
  /// On the CPU; not known of other devices.
  OnCpu,
  Everywhere,
};
/// Of leaves that the operation is given.
KeptCasts keptCasts(const Operation &Op);
/// The same of a function of torch::nn::functional: linear() gives a view of
/// the weight.
KeptCasts keptCastsOfFunctional(const Operation &Op);
/// Of the weights of a layer of LibTorch's, all of them. Linear gives a view of
/// its weight, so that only a bias is kept, and that by the shape of its input.
KeptCasts keptCasts(const clang::CXXRecordDecl *Layer);

/// LibTorch's name of the scalar type that weights and inputs are in: "Float".
bool isFloat(llvm::StringRef Scalar);
/// is_autocast_enabled, is_enabled.
bool saysAutocast(const clang::FunctionDecl *F);

// What is in half precision then: lower_precision_fp of the CPU and of CUDA.

/// Products and convolutions, whatever they are given.
bool computesReduced(const Operation &Op);
/// Computes in the type of its operands, on the CPU and on CUDA: relu, views.
bool keepsTypeUnderAutocast(const Operation &Op);
enum class LayerType : uint8_t { Other, Reduced, Kept };
/// The same of a layer of LibTorch's.
LayerType typeUnderAutocast(const clang::CXXRecordDecl *Layer);

/// What a loss says to an output in half precision, the target being in float,
/// without autocast.
enum class HalfLoss : uint8_t { Takes, Throws, ThrowsInBackward };
HalfLoss halfLossOf(const Operation &Op);
HalfLoss halfLossOf(const clang::CXXRecordDecl *Criterion);
/// data_ptr<float>(), accessor<float, 2>(): refuses a tensor of half precision.
bool readsWiderElements(const clang::FunctionDecl *Member);

} // namespace torchtidy::torch

#endif
