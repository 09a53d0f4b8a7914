#include "torch/Options.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

static StringRef enumName(QualType Type) {
  const auto *Enum = Type->getAs<EnumType>();
  return Enum ? ast::nameOf(Enum->getDecl()) : StringRef();
}

std::optional<DeviceKind> deviceOf(const ValueDecl *Constant) {
  if (const auto Named =
          llvm::StringSwitch<std::optional<DeviceKind>>(ast::nameOf(Constant))
              .Cases("kCPU", "CPU", DeviceKind::CPU)
              .Cases("kCUDA", "CUDA", DeviceKind::CUDA)
              .Cases("kMPS", "kXPU", "kHIP", DeviceKind::Other)
              .Default(std::nullopt))
    return Named;
  // kMeta, DeviceType::Vulkan; no variable that somebody sets.
  const bool IsDevice = Constant && isLibTorch(Constant) &&
                        enumName(Constant->getType()) == "DeviceType";
  return IsDevice && !isa<ParmVarDecl>(Constant)
             ? std::optional(DeviceKind::Other)
             : std::nullopt;
}

std::optional<ScalarKind> scalarKindOf(const ValueDecl *Constant) {
  return llvm::StringSwitch<std::optional<ScalarKind>>(ast::nameOf(Constant))
      .StartsWith("kInt", ScalarKind::Integral)
      .StartsWith("kLong", ScalarKind::Integral)
      .StartsWith("kUInt", ScalarKind::Integral)
      .Cases("kByte", "kChar", "kShort", ScalarKind::Integral)
      .Case("kBool", ScalarKind::Bool)
      .StartsWith("kFloat", ScalarKind::Floating)
      .Cases("kDouble", "kHalf", "kBFloat16", ScalarKind::Floating)
      .StartsWith("kComplex", ScalarKind::Complex)
      .Default(std::nullopt);
}

bool saysWhere(QualType Type) {
  const CXXRecordDecl *Record = recordOf(Type);
  if (!Record || !Record->getIdentifier())
    return Type->isEnumeralType();
  return llvm::StringSwitch<bool>(Record->getName())
      .Cases("Device", "TensorOptions", "optional", "ScalarType", true)
      .Default(false);
}

bool saysDeviceOnly(QualType Type) {
  return isDevice(Type) || Type->isBooleanType() ||
         enumName(Type) == "DeviceType";
}

bool saysNoScalar(QualType Type) {
  const StringRef Name =
      Type->getAs<EnumType>() ? enumName(Type) : ast::nameOf(recordOf(Type));
  return llvm::StringSwitch<bool>(Name)
      .Cases("Device", "DeviceType", "Layout", "MemoryFormat", true)
      .Default(false);
}

bool isScalarType(QualType Type) { return enumName(Type) == "ScalarType"; }

bool isTypeMeta(QualType Type) {
  return ast::nameOf(recordOf(Type)) == "TypeMeta";
}

bool saysScalarType(const FunctionDecl *F) { return ast::nameOf(F) == "dtype"; }

bool saysRequiresGrad(const FunctionDecl *F) {
  return ast::nameOf(F) == "requires_grad";
}

bool saysOtherOption(const FunctionDecl *F) {
  return saysRequiresGrad(F) ||
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("device", "device_index", "layout", true)
             .Cases("pinned_memory", "memory_format", true)
             .Default(false);
}

bool saysDeviceOption(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  return Name == "device" || Name == "device_index";
}

bool isNonBlockingFlag(const ParmVarDecl *Parameter) {
  return ast::nameOf(Parameter) == "non_blocking";
}

bool isStrides(const ParmVarDecl *Parameter) {
  return ast::nameOf(Parameter) == "strides";
}

bool isCopyFlag(const ParmVarDecl *Parameter) {
  return ast::nameOf(Parameter) == "copy";
}

bool hasInplace(const CXXRecordDecl *Options) {
  return Options && Options->hasDefinition() &&
         llvm::any_of(Options->methods(), [](const CXXMethodDecl *Method) {
           return ast::nameOf(Method) == "inplace";
         });
}

} // namespace torchtidy::torch
