// What asks which devices there are, or on which one something is, and what it
// does with the memory of one. Source: torch/cuda.h, ATen/Context.h,
// c10/core/Device.h, ATen/core/TensorBase.h, ATen/DeviceAccelerator.h,
// c10/core/CachingDeviceAllocator.h, c10/cuda/CUDACachingAllocator.h.
#ifndef TORCHTIDY_TORCH_DEVICES_H
#define TORCHTIDY_TORCH_DEVICES_H

#include "torch/Options.h"
#include "clang/AST/DeclCXX.h"

namespace torchtidy::torch {

/// A value of this type may name a device: Device, DeviceType, TensorOptions,
/// an optional<Device>.
bool maySayDevice(clang::QualType Type);
/// Of the text that a torch::Device is made from: "cuda:0".
DeviceKind deviceNamed(llvm::StringRef Text);
/// Of a module: its parameters become others, which may lie anywhere: load from
/// an archive, apply a function.
bool replacesParameters(const clang::FunctionDecl *Method);
/// A loss of LibTorch's that needs all it is given on one device. CTCLoss takes
/// lengths on the CPU.
bool isLossOfOneDevice(const clang::CXXRecordDecl *Module);
/// torch::cuda::is_available, device_count; is_cuda, is_cpu of a tensor or of a
/// device. Null is answered by no.
bool asksForDevice(const clang::FunctionDecl *F);
/// The kind of device that F asks a tensor or a device for: is_cuda, is_cpu.
/// Nothing for others: that is_mps holds says less than that it is on MPS to
/// whom MPS is one of several others.
std::optional<DeviceKind> askedKind(const clang::FunctionDecl *F);
/// An allocator gives the memory that it keeps for later back to the driver:
/// emptyCache of c10::cuda::CUDACachingAllocator and at::accelerator,
/// empty_cache of a host allocator.
bool emptiesCache(const clang::FunctionDecl *F);
/// How much memory of a device is in use: getDeviceStats, resetPeakStats,
/// getMemoryInfo, cudaMemGetInfo.
bool asksForMemory(const clang::FunctionDecl *F);
/// Memory that is there already becomes pinned: cudaHostRegister.
bool pinsGivenMemory(const clang::FunctionDecl *F);

} // namespace torchtidy::torch

#endif
