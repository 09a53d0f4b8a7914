#include "torch/Autocast.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Modules.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

static bool isInAutocast(const FunctionDecl *F) {
  const auto *In = dyn_cast<NamespaceDecl>(F->getDeclContext());
  return In && ast::nameOf(In) == "autocast" && isLibTorch(F);
}

bool isReducedType(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(E));
  if (!Ref)
    return false;
  const StringRef Scalar = scalarName(ast::nameOf(Ref->getDecl()));
  return Scalar == "Half" || Scalar == "BFloat16";
}

static bool asksForType(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(ast::strip(E));
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && isInAutocast(Callee) &&
         ast::nameOf(Callee).starts_with("get_") &&
         ast::nameOf(Callee).ends_with("_dtype");
}

/// Each constructor that somebody has written keeps there what was in force.
static bool keepsTypeOfBefore(const FieldDecl *Member) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  if (!Class || Member->getAccess() != AS_private)
    return false;
  bool Result = false;
  for (const CXXConstructorDecl *Maker : Class->ctors()) {
    if (Maker->isCopyOrMoveConstructor() || Maker->isImplicit())
      continue;
    const auto *Body =
        dyn_cast_or_null<CXXConstructorDecl>(Maker->getDefinition());
    if (!Body || llvm::none_of(Body->inits(), [&](const auto *Each) {
          return Each->getMember() == Member && asksForType(Each->getInit());
        }))
      return false;
    Result = true;
  }
  return Result;
}

/// What get_autocast_dtype() has said before: the type that was there comes
/// back.
static bool isTypeOfBefore(const Expr *E) {
  E = ast::strip(E);
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    return Field && keepsTypeOfBefore(Field);
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->isLocalVarDecl() && V->getInit() && asksForType(V->getInit());
}

AutocastCall autocastCall(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !isInAutocast(Callee))
    return AutocastCall::None;
  const StringRef Name = ast::nameOf(Callee);
  if (Name == "clear_cache")
    return AutocastCall::EmptyCache;
  if (Name == "set_autocast_cache_enabled")
    return AutocastCall::SwitchCache;
  if (!Name.starts_with("set_") || Call->getNumArgs() == 0)
    return AutocastCall::None;
  if (Name.ends_with("_dtype")) {
    const Expr *Type = Call->getArg(Call->getNumArgs() - 1);
    return isReducedType(Type) || isTypeOfBefore(Type)
               ? AutocastCall::None
               : AutocastCall::OtherType;
  }
  return Name.ends_with("enabled") ? AutocastCall::Switch : AutocastCall::None;
}

const Expr *autocastType(const CallExpr *Call) {
  return Call->getArg(Call->getNumArgs() - 1);
}

const Expr *autocastFlag(const CallExpr *Call) {
  return Call->getArg(Call->getNumArgs() - 1);
}

std::optional<DeviceKind> autocastDevice(const CallExpr *Call) {
  const StringRef Name = ast::nameOf(Call->getDirectCallee());
  if (Name == "set_autocast_enabled") {
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(Call->getArg(0)));
    return Ref ? deviceOf(Ref->getDecl()) : std::nullopt;
  }
  return llvm::StringSwitch<DeviceKind>(Name)
      .Case("set_enabled", DeviceKind::CUDA)
      .Case("set_cpu_enabled", DeviceKind::CPU)
      .Default(DeviceKind::Other);
}

static bool isConvolution(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("conv1d", "conv2d", "conv3d", true)
      .Cases("conv_transpose1d", "conv_transpose2d", "conv_transpose3d", true)
      .Default(false);
}

bool computesReduced(const Operation &Op) {
  return isConvolution(Op.Name) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("linear", "mm", "matmul", "addmm", true)
             .Cases("bmm", "baddbmm", true)
             .Default(false);
}

KeptCasts keptCasts(const Operation &Op) {
  return computesReduced(Op) ? KeptCasts::Everywhere : KeptCasts::None;
}

KeptCasts keptCastsOfFunctional(const Operation &Op) {
  return isConvolution(Op.Name) ? KeptCasts::Everywhere : KeptCasts::None;
}

KeptCasts keptCasts(const CXXRecordDecl *Layer) {
  if (!Layer || !isLibTorch(Layer))
    return KeptCasts::None;
  // CUDA has its own functions for recurrent layers.
  return llvm::StringSwitch<KeptCasts>(layerName(Layer))
      .Cases("Conv1d", "Conv2d", "Conv3d", KeptCasts::Everywhere)
      .Cases("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
             KeptCasts::Everywhere)
      .Cases("GRU", "LSTM", "RNN", KeptCasts::OnCpu)
      .Cases("GRUCell", "LSTMCell", "RNNCell", KeptCasts::OnCpu)
      .Default(KeptCasts::None);
}

bool isFloat(StringRef Scalar) { return Scalar == "Float"; }

bool saysAutocast(const FunctionDecl *F) {
  return F && isInAutocast(F) && ast::nameOf(F).starts_with("is_") &&
         ast::nameOf(F).ends_with("enabled") &&
         !ast::nameOf(F).contains("cache");
}

bool keepsTypeUnderAutocast(const Operation &Op) {
  return Op.View == Tri::Yes || Op.has(operation::Factory) || isTransfer(Op) ||
         llvm::StringSwitch<bool>(Op.Name)
             .Cases("relu", "leaky_relu", "sigmoid", "tanh", "gelu", true)
             .Cases("dropout", "flatten", "reshape", "contiguous", true)
             .Cases("max_pool2d", "avg_pool2d", "clone", "detach", true)
             .Cases("add", "sub", "mul", "div", "neg", true)
             .Cases("mean", "amax", "amin", true)
             .Default(false);
}

LayerType typeUnderAutocast(const CXXRecordDecl *Layer) {
  if (!Layer || !isLibTorch(Layer))
    return LayerType::Other;
  const StringRef Name = layerName(Layer);
  return llvm::StringSwitch<LayerType>(Name)
      .Cases("Linear", "Conv1d", "Conv2d", "Conv3d", LayerType::Reduced)
      .Cases("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
             LayerType::Reduced)
      .Cases("ReLU", "LeakyReLU", "Sigmoid", "Tanh", "GELU", LayerType::Kept)
      .Cases("Dropout", "Flatten", "Identity", "SiLU", LayerType::Kept)
      .Cases("MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", LayerType::Kept)
      .Cases("BatchNorm1d", "BatchNorm2d", LayerType::Kept)
      .Default(LayerType::Other);
}

HalfLoss halfLossOf(const Operation &Op) {
  return llvm::StringSwitch<HalfLoss>(Op.Name)
      .Case("binary_cross_entropy", HalfLoss::Throws)
      .Cases("mse_loss", "huber_loss", HalfLoss::ThrowsInBackward)
      .Default(HalfLoss::Takes);
}

HalfLoss halfLossOf(const CXXRecordDecl *Criterion) {
  if (!Criterion || !isLibTorch(Criterion))
    return HalfLoss::Takes;
  return llvm::StringSwitch<HalfLoss>(layerName(Criterion))
      .Case("BCELoss", HalfLoss::Throws)
      .Cases("MSELoss", "HuberLoss", HalfLoss::ThrowsInBackward)
      .Default(HalfLoss::Takes);
}

bool readsWiderElements(const FunctionDecl *Member) {
  const StringRef Name = ast::nameOf(Member);
  const TemplateArgumentList *Given =
      Member ? Member->getTemplateSpecializationArgs() : nullptr;
  if (!Given || Given->size() == 0 ||
      Given->get(0).getKind() != TemplateArgument::Type ||
      !(Name.ends_with("data_ptr") || Name.contains("accessor")))
    return false;
  const QualType Element = Given->get(0).getAsType().getUnqualifiedType();
  return Element->isSpecificBuiltinType(BuiltinType::Float) ||
         Element->isSpecificBuiltinType(BuiltinType::Double);
}

} // namespace torchtidy::torch
