#include "torch/Devices.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

namespace torchtidy::torch {

bool maySayDevice(clang::QualType Type) {
  if (Type.isNull() || Type->isDependentType())
    return false;
  Type = Type.getNonReferenceType();
  const clang::QualType Held = isOptional(Type) ? pointee(Type) : Type;
  return !Held.isNull() &&
         (isDevice(Held) || isTensorOptions(Held) || isDeviceType(Held));
}

DeviceKind deviceNamed(llvm::StringRef Text) {
  return llvm::StringSwitch<DeviceKind>(Text.split(':').first)
      .Case("cpu", DeviceKind::CPU)
      .Case("cuda", DeviceKind::CUDA)
      .Default(DeviceKind::Other);
}

bool replacesParameters(const clang::FunctionDecl *Method) {
  const llvm::StringRef Name = ast::nameOf(Method);
  return Name == "load" || Name == "apply";
}

bool isLossOfOneDevice(const clang::CXXRecordDecl *Module) {
  llvm::StringRef Name = ast::nameOf(Module);
  Name.consume_back("Impl");
  return Module && isLibTorch(Module) && Name.ends_with("Loss") &&
         Name != "CTCLoss";
}

bool asksForDevice(const clang::FunctionDecl *F) {
  return F && isLibTorch(F) &&
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("is_available", "cudnn_is_available", "device_count", true)
             .Cases("hasCUDA", "hasMPS", "hasXPU", "hasHIP", true)
             .Cases("is_cuda", "is_cpu", "is_mps", "is_xpu", true)
             .Default(false);
}

std::optional<DeviceKind> askedKind(const clang::FunctionDecl *F) {
  if (!F || !isLibTorch(F))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<DeviceKind>>(ast::nameOf(F))
      .Case("is_cuda", DeviceKind::CUDA)
      .Case("is_cpu", DeviceKind::CPU)
      .Default(std::nullopt);
}

/// Declared by hand, where the headers of CUDA are not at hand.
static bool isDeclaredAllocator(const clang::FunctionDecl *F) {
  const auto *In = llvm::dyn_cast<clang::NamespaceDecl>(F->getDeclContext());
  return In && !F->isDefined() && ast::outermostNamespace(F) == "c10" &&
         ast::nameOf(In) == "CUDACachingAllocator";
}

bool emptiesCache(const clang::FunctionDecl *F) {
  return F && (isLibTorch(F) || isDeclaredAllocator(F)) &&
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("emptyCache", "empty_cache", true)
             .Case("CachingHostAllocator_emptyCache", true)
             .Default(false);
}

bool asksForMemory(const clang::FunctionDecl *F) {
  if (!F)
    return false;
  const llvm::StringRef Name = ast::nameOf(F);
  if (!isLibTorch(F))
    return Name == "cudaMemGetInfo";
  return llvm::StringSwitch<bool>(Name)
      .Cases("getDeviceStats", "getMemoryInfo", "snapshot", true)
      .Cases("resetPeakStats", "resetAccumulatedStats", true)
      .Default(false);
}

bool pinsGivenMemory(const clang::FunctionDecl *F) {
  return F && llvm::StringSwitch<bool>(ast::nameOf(F))
                  .Cases("cudaHostRegister", "hipHostRegister", true)
                  .Case("cuMemHostRegister", true)
                  .Default(false);
}

} // namespace torchtidy::torch
