#include "torch/Options.h"
#include "ast/Expressions.h"
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
              .Cases("kMPS", "kXPU", "kHIP", "kPrivateUse1", DeviceKind::Other)
              .Default(std::nullopt))
    return Named;
  // kMeta, DeviceType::Vulkan; no variable that somebody sets.
  const bool IsDevice = Constant && isLibTorch(Constant) &&
                        enumName(Constant->getType()) == "DeviceType";
  return IsDevice && !isa<ParmVarDecl>(Constant)
             ? std::optional(DeviceKind::Other)
             : std::nullopt;
}

bool hasIndexedTensors(const ValueDecl *Constant) {
  return llvm::StringSwitch<bool>(ast::nameOf(Constant))
      .Cases("kCUDA", "CUDA", "kMPS", "kXPU", "kHIP", "kPrivateUse1", true)
      .Default(false);
}

bool isDeviceType(QualType Type) {
  return enumName(Type) == "DeviceType" &&
         isLibTorch(Type->getAs<EnumType>()->getDecl());
}

bool keepsDeviceIndex(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("device", "device_opt", "dtype", "layout", true)
      .Cases("requires_grad", "pinned_memory", "memory_format", true)
      .Default(false);
}

bool comparesDevices(const FunctionDecl *F) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  const OverloadedOperatorKind Operator =
      Method ? Method->getOverloadedOperator() : OO_None;
  return (Operator == OO_EqualEqual || Operator == OO_ExclaimEqual) &&
         isLibTorch(Method) && ast::nameOf(Method->getParent()) == "Device";
}

std::optional<NamedDevice> namedDevice(const Expr *E) {
  const auto *Text = dyn_cast<StringLiteral>(ast::stripCopies(E));
  if (!Text || !Text->isOrdinary())
    return std::nullopt;
  const auto [Name, Index] = Text->getString().split(':');
  const auto Kind = llvm::StringSwitch<std::optional<DeviceKind>>(Name)
                        .Case("cpu", DeviceKind::CPU)
                        .Case("cuda", DeviceKind::CUDA)
                        .Cases("mps", "xpu", "hip", DeviceKind::Other)
                        .Default(std::nullopt);
  if (!Kind)
    return std::nullopt;
  return NamedDevice{*Kind, !Index.empty()};
}

StringRef questionFor(const ValueDecl *Constant) {
  return llvm::StringSwitch<StringRef>(ast::nameOf(Constant))
      .Cases("kCUDA", "CUDA", "is_cuda")
      .Case("kMPS", "is_mps")
      .Case("kXPU", "is_xpu")
      .Default("");
}

bool isOfAccelerator(const FunctionDecl *F) {
  if (!F || !isLibTorch(F))
    return false;
  for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
    if (const auto *Space = dyn_cast<NamespaceDecl>(C);
        Space && llvm::StringSwitch<bool>(ast::nameOf(Space))
                     .Cases("cuda", "mps", "xpu", "hip", "accelerator", true)
                     .Default(false))
      return true;
  return false;
}

bool asksForAccelerator(const FunctionDecl *F) {
  return isOfAccelerator(F) &&
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("is_available", "device_count", "cudnn_is_available", true)
             .Default(false);
}

std::optional<ScalarKind> scalarKindOf(const ValueDecl *Constant) {
  StringRef Name = ast::nameOf(Constant);
  // ScalarType::Float, or kFloat.
  if (!(isa_and_nonnull<EnumConstantDecl>(Constant) &&
        isScalarType(Constant->getType())) &&
      !Name.consume_front("k"))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<ScalarKind>>(Name)
      .StartsWith("Int", ScalarKind::Integral)
      .StartsWith("Long", ScalarKind::Integral)
      .StartsWith("UInt", ScalarKind::Integral)
      .Cases("Byte", "Char", "Short", ScalarKind::Integral)
      .Cases("U8", "I8", "I16", "I32", "I64", ScalarKind::Integral)
      .Case("Bool", ScalarKind::Bool)
      .StartsWith("Float", ScalarKind::Floating)
      .Cases("Double", "Half", "BFloat16", ScalarKind::Floating)
      .Cases("F16", "F32", "F64", ScalarKind::Floating)
      .StartsWith("Complex", ScalarKind::Complex)
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

bool isScalarType(QualType Type) {
  return enumName(Type) == "ScalarType" &&
         isLibTorch(Type->getAs<EnumType>()->getDecl());
}

bool isTypeMeta(QualType Type) {
  const CXXRecordDecl *Record = recordOf(Type);
  return Record && ast::nameOf(Record) == "TypeMeta" && isLibTorch(Record);
}

bool saysScalarType(const FunctionDecl *F) { return ast::nameOf(F) == "dtype"; }

bool saysRequiresGrad(const FunctionDecl *F) {
  return ast::nameOf(F) == "requires_grad";
}

bool saysPinnedMemory(const FunctionDecl *F) {
  return ast::nameOf(F) == "pinned_memory";
}

bool saysOtherOption(const FunctionDecl *F) {
  return saysRequiresGrad(F) || saysPinnedMemory(F) ||
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("device", "device_index", "layout", true)
             .Case("memory_format", true)
             .Default(false);
}

bool saysDeviceOption(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  return Name == "device" || Name == "device_index";
}

bool isNonBlockingFlag(const ParmVarDecl *Parameter) {
  return ast::nameOf(Parameter) == "non_blocking";
}

const Expr *nonBlockingArgument(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  for (unsigned I = 0;
       Callee && I < Callee->getNumParams() && I < Call->getNumArgs(); ++I)
    if (isNonBlockingFlag(Callee->getParamDecl(I)))
      return Call->getArg(I);
  return nullptr;
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
