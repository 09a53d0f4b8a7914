#include "torch/Api.h"
#include "ast/Expressions.h"
#include "torch/Options.h"
#include "torch/Types.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

static Api tensorMember(StringRef Name) {
  return llvm::StringSwitch<Api>(Name)
      .Case("backward", Api::Backward)
      .Cases("grad", "mutable_grad", Api::GradAccess)
      .Cases("requires_grad_", "set_requires_grad", Api::RequiresGrad)
      .Case("grad_fn", Api::GradFn)
      .Default(Api::Operation);
}

static Api optimizerMember(StringRef Name) {
  return llvm::StringSwitch<Api>(Name)
      .Case("step", Api::OptimizerStep)
      .Case("zero_grad", Api::OptimizerZeroGrad)
      .Cases("add_param_group", "add_parameters", Api::OptimizerAdd)
      .Cases("param_groups", "parameters", Api::OptimizerParameters)
      .Default(Api::NoEffect);
}

static Api moduleMember(StringRef Name) {
  return llvm::StringSwitch<Api>(Name)
      .Cases("forward", "operator()", "any_forward", Api::ModuleForward)
      .Case("run_method", Api::ModuleForward)
      .Case("zero_grad", Api::ModuleZeroGrad)
      .Cases("parameters", "named_parameters", Api::ModuleParameters)
      .Case("train", Api::ModuleTrain)
      .Case("eval", Api::ModuleEval)
      .Cases("register_module", "replace_module", Api::RegisterModule)
      .Case("register_parameter", Api::RegisterParameter)
      .Case("register_buffer", Api::RegisterBuffer)
      .Default(Api::NoEffect);
}

static std::string nameOf(const FunctionDecl *F) {
  if (F->getOverloadedOperator() == OO_Call)
    return "operator()";
  if (const IdentifierInfo *Identifier = F->getIdentifier())
    return Identifier->getName().str();
  return F->getNameAsString();
}

/// The operation that an operator of tensors stands for: += is add_.
static const Operation *operatorOperation(OverloadedOperatorKind Kind,
                                          unsigned Operands) {
  StringRef Name = [&]() -> StringRef {
    switch (Kind) {
    case OO_Plus:
      return "add";
    case OO_Minus:
      return Operands == 1 ? "neg" : "sub";
    case OO_Star:
      return "mul";
    case OO_Slash:
      return "div";
    case OO_Percent:
      return "remainder";
    case OO_PlusEqual:
      return "add_";
    case OO_MinusEqual:
      return "sub_";
    case OO_StarEqual:
      return "mul_";
    case OO_SlashEqual:
      return "div_";
    case OO_EqualEqual:
      return "eq";
    case OO_ExclaimEqual:
      return "ne";
    case OO_Less:
      return "lt";
    case OO_Greater:
      return "gt";
    case OO_LessEqual:
      return "le";
    case OO_GreaterEqual:
      return "ge";
    case OO_Exclaim:
    case OO_Tilde:
      return "logical_not";
    case OO_Amp:
    case OO_Pipe:
    case OO_Caret:
      return "logical_and";
    case OO_Subscript:
      return "select";
    default:
      return "";
    }
  }();
  if (Name.empty())
    return nullptr;
  const Operation *Op = findOperation(Name, operation::Method);
  return Op ? Op : findOperation(Name, operation::Function);
}

static bool isInNamespace(const Decl *D, StringRef Name) {
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (const auto *N = dyn_cast<NamespaceDecl>(C))
      if (N->getIdentifier() && N->getName() == Name)
        return true;
  return false;
}

static Call classifyMember(const CXXMethodDecl *Method) {
  std::string Name = nameOf(Method);
  const CXXRecordDecl *Record = Method->getParent();
  // OptimizerParamGroup is no optimizer but leads to its parameters.
  if (Record->getIdentifier() && Record->getName() == "OptimizerParamGroup")
    return {Name == "params" ? Api::OptimizerParameters : Api::NoEffect};
  if (Record->getIdentifier() &&
      ((Record->getName() == "GradMode" && Name == "set_enabled") ||
       (Record->getName() == "AutogradState" && Name == "set_grad_mode")))
    return {Api::SetGradMode};
  switch (kindOf(Record)) {
  case TypeKind::Tensor: {
    if (const Operation *Op = operatorOperation(Method->getOverloadedOperator(),
                                                Method->getNumParams() + 1))
      return {Api::Operation, Op};
    Api Kind = tensorMember(Name);
    if (Kind != Api::Operation)
      return {Kind};
    if (const Operation *Op = findOperation(Name, operation::Method))
      return {Api::Operation, Op};
    return {Api::Library};
  }
  case TypeKind::Optimizer:
    return {optimizerMember(Name)};
  case TypeKind::Module:
  case TypeKind::ScriptModule:
    return {moduleMember(Name)};
  case TypeKind::ModuleHolder:
    if (Name == "forward" || Name == "operator()" || Name == "any_forward")
      return {Api::ModuleForward};
    return {Api::Library};
  default:
    return {Api::Library};
  }
}

Call classify(const FunctionDecl *Callee) {
  if (!Callee)
    return {Api::Foreign};
  if (isStd(Callee))
    return {Api::Std};
  if (!isLibTorch(Callee)) {
    // A user's module or optimizer: what it overrides is what it is.
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee)) {
      std::string Name = nameOf(Method);
      TypeKind Kind = kindOf(Method->getParent());
      if (Kind == TypeKind::Module &&
          (Name == "forward" || Name == "operator()"))
        return {Api::ModuleForward};
      if (Kind == TypeKind::Optimizer && Name == "step")
        return {Api::OptimizerStep};
      // Whose body is seen does what that says. (Not train(): many a module
      // has a training loop of that name.)
      if (Name == "zero_grad" && !Method->isDefined()) {
        if (Kind == TypeKind::Module)
          return {Api::ModuleZeroGrad};
        if (Kind == TypeKind::Optimizer)
          return {Api::OptimizerZeroGrad};
      }
    }
    return {Api::Foreign};
  }
  if (const auto *Method = dyn_cast<CXXMethodDecl>(Callee))
    return classifyMember(Method);

  std::string Name = nameOf(Callee);
  if (isInNamespace(Callee, "autograd")) {
    if (Name == "backward")
      return {Api::Backward};
    if (Name == "grad")
      return {Api::Grad};
  }
  if (isInNamespace(Callee, "jit")) {
    if (Name == "load" || Name == "import_ir_module")
      return {Api::Load};
    if (Name == "freeze" || Name == "optimize_for_inference" ||
        Name == "freeze_module")
      return {Api::Freeze};
  }
  if (isInNamespace(Callee, "init"))
    return {Api::Initialize};
  if (Callee->isOverloadedOperator()) {
    if (const Operation *Op = operatorOperation(Callee->getOverloadedOperator(),
                                                Callee->getNumParams()))
      return {Api::Operation, Op};
    return {Api::Library};
  }
  if (Name == "load")
    return {Api::Load};
  if (const Operation *Op = findOperation(Name, operation::Function))
    return {Api::Operation, Op};
  return {Api::Library};
}

static bool isFunctional(const FunctionDecl *Callee) {
  return Callee && !isa<CXXMethodDecl>(Callee) && isLibTorch(Callee) &&
         isInNamespace(Callee, "functional");
}

const Operation *functionalOperation(const FunctionDecl *Callee) {
  if (!isFunctional(Callee))
    return nullptr;
  const std::string Name = nameOf(Callee);
  return findOperation(Name == "cross_entropy" ? "cross_entropy_loss" : Name,
                       operation::Function);
}

/// The options may say where the result goes: F::ReLUFuncOptions().inplace(b),
/// F::NormalizeFuncOptions().out(t), or a variable that has them.
static bool mayNameTarget(const Expr *Options) {
  const Expr *E = ast::stripCopies(Options);
  while (const auto *Set = dyn_cast<CXXMemberCallExpr>(E)) {
    const std::string Name = nameOf(Set->getMethodDecl());
    if (Name == "inplace" || Name == "out")
      return true;
    E = ast::stripCopies(Set->getImplicitObjectArgument());
  }
  return isa<DeclRefExpr, MemberExpr, CallExpr>(E) && recordOf(E->getType());
}

bool functionalMakesTensor(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!isFunctional(Callee) || !isTensor(Callee->getReturnType()))
    return false;
  const Operation *Op = functionalOperation(Callee);
  if (Op && Op->View == Tri::Maybe)
    return false;
  for (const auto [Argument, Parameter] :
       llvm::zip(Call->arguments(), Callee->parameters())) {
    const QualType Type = Parameter->getType().getNonReferenceType();
    const CXXRecordDecl *Options = isTensor(Type) ? nullptr : recordOf(Type);
    if (!Options || !isLibTorch(Options))
      continue;
    // Each dropout has inplace(), and returns its operand in eval mode.
    if (!Op && hasInplace(Options))
      return false;
    if (!isa<CXXDefaultArgExpr>(Argument) && mayNameTarget(Argument))
      return false;
  }
  return true;
}

Call classify(const CallExpr *Call) {
  if (const FunctionDecl *Callee = Call->getDirectCallee())
    return classify(Callee);
  const Expr *Callee = Call->getCallee()->IgnoreParenImpCasts();
  if (const auto *Member = dyn_cast<CXXDependentScopeMemberExpr>(Callee)) {
    std::string Name = Member->getMember().getAsString();
    return {llvm::StringSwitch<Api>(Name)
                .Case("zero_grad", Api::ModuleZeroGrad)
                .Case("backward", Api::Backward)
                .Case("forward", Api::ModuleForward)
                .Default(Api::Foreign)};
  }
  return {Api::Foreign};
}

} // namespace torchtidy::torch
