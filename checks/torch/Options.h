// What says where a tensor is, of which type it is and how it lies: constants,
// torch::TensorOptions and the parameters of factories and of to(). Source:
// c10/core/DeviceType.h, c10/core/ScalarType.h, torch/types.h,
// c10/core/TensorOptions.h.
#ifndef TORCHTIDY_TORCH_OPTIONS_H
#define TORCHTIDY_TORCH_OPTIONS_H

#include "clang/AST/Expr.h"
#include <optional>

namespace torchtidy::torch {

enum class DeviceKind : uint8_t { CPU, CUDA, Other };
enum class ScalarKind : uint8_t { Floating, Integral, Bool, Complex };

/// Of a constant: kCPU, kCUDA, DeviceType::CUDA. Nothing for other expressions.
std::optional<DeviceKind> deviceOf(const clang::ValueDecl *Constant);
/// Of such a constant: the devices of tensors there have an index. Those of
/// kCPU and kMeta have none.
bool hasIndexedTensors(const clang::ValueDecl *Constant);
/// c10::DeviceType, the enumeration.
bool isDeviceType(clang::QualType Type);
/// A function or member of options whose result is on the device that its
/// object or its only argument says: dtype, device, layout. Not device_index.
bool keepsDeviceIndex(const clang::FunctionDecl *F);
/// == or != of two torch::Device.
bool comparesDevices(const clang::FunctionDecl *F);

/// What a text names: torch::Device("cuda"), Device("cuda:0").
struct NamedDevice {
  DeviceKind Kind;
  /// It says which of them.
  bool HasIndex;
};
/// Nothing where E is no text, or another one.
std::optional<NamedDevice> namedDevice(const clang::Expr *E);
/// is_cuda, is_mps: asks a tensor or a device whether it is of this kind.
/// Empty for CPU and others that have no such question.
llvm::StringRef questionFor(const clang::ValueDecl *Constant);
/// Of torch::cuda, c10::cuda, torch::mps ...: who calls it has such a device,
/// or asks for one. Null is answered by no.
bool isOfAccelerator(const clang::FunctionDecl *F);
/// Of these what only asks whether there is such a device: is_available,
/// device_count. Who asks has put nothing there.
bool asksForAccelerator(const clang::FunctionDecl *F);

/// Of a constant: kFloat, kInt64, kBool. LibTorch's name of it is scalarName()
/// of the constant's.
std::optional<ScalarKind> scalarKindOf(const clang::ValueDecl *Constant);

/// An argument of this type says on which device, or of which type, the result
/// is: Device, TensorOptions, an optional, ScalarType, an enumeration.
bool saysWhere(clang::QualType Type);
/// An argument of this type of to() says no scalar type: torch::Device,
/// DeviceType, and its flags.
bool saysDeviceOnly(clang::QualType Type);
/// TensorOptions that are made of this say no scalar type: Device, DeviceType,
/// Layout, MemoryFormat.
bool saysNoScalar(clang::QualType Type);
/// device(), device_index(), as functions or of TensorOptions.
bool saysDeviceOption(const clang::FunctionDecl *F);
/// A parameter of to(), copy_() and their like: the host does not wait.
bool isNonBlockingFlag(const clang::ParmVarDecl *Parameter);
/// What a call gives for that flag, which may be a default; null where it has
/// none.
const clang::Expr *nonBlockingArgument(const clang::CallExpr *Call);
/// pinned_memory, as a function or of TensorOptions.
bool saysPinnedMemory(const clang::FunctionDecl *F);
/// LibTorch's ScalarType, the enumeration, and caffe2::TypeMeta.
bool isScalarType(clang::QualType Type);
bool isTypeMeta(clang::QualType Type);

/// dtype(), as a function or of TensorOptions.
bool saysScalarType(const clang::FunctionDecl *F);
/// device, layout, requires_grad, pinned_memory ...: functions, and members of
/// TensorOptions, that say something other than the scalar type.
bool saysOtherOption(const clang::FunctionDecl *F);
/// requires_grad, as a function or of TensorOptions; of tensors it only asks.
bool saysRequiresGrad(const clang::FunctionDecl *F);

/// A parameter of from_blob(): the tensor may lie with gaps.
bool isStrides(const clang::ParmVarDecl *Parameter);
/// A parameter of to(): a copy is made whatever else is said.
bool isCopyFlag(const clang::ParmVarDecl *Parameter);

/// Options of torch::nn::functional that say whether the function writes into
/// its argument: such as have an inplace().
bool hasInplace(const clang::CXXRecordDecl *Options);

} // namespace torchtidy::torch

#endif
