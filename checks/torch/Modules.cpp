#include "torch/Modules.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isForward(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "forward";
}

bool isCalledByTemplates(const FunctionDecl *F) {
  return isForward(F) ||
         llvm::StringSwitch<bool>(ast::nameOf(F))
             .Cases("backward", "apply", "apply_batch", "get", "get_batch",
                    true)
             .Cases("begin", "end", "cbegin", "cend", "rbegin", "rend", "size",
                    "empty", "data", "swap", true)
             .Default(false);
}

/// The methods called forward of the class that declares some: those of bases
/// are hidden by it.
static llvm::SmallVector<const CXXMethodDecl *, 2>
forwardsOf(const CXXRecordDecl *Class) {
  llvm::SmallVector<const CXXMethodDecl *, 2> Result;
  for (const Decl *Member : Class->decls()) {
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Member)) {
      if (isForward(Method))
        Result.push_back(Method);
    } else if (const auto *Template = dyn_cast<FunctionTemplateDecl>(Member)) {
      for (const FunctionDecl *F : Template->specializations())
        if (isForward(F))
          Result.push_back(cast<CXXMethodDecl>(F));
    }
  }
  if (Result.empty())
    for (const CXXBaseSpecifier &Base : Class->bases())
      if (const CXXRecordDecl *Record = recordOf(Base.getType()))
        if (const CXXRecordDecl *Definition = Record->getDefinition())
          Result.append(forwardsOf(Definition));
  return Result;
}

const CXXMethodDecl *forwardOf(const CXXRecordDecl *Module,
                               unsigned Arguments) {
  Module = Module ? Module->getDefinition() : nullptr;
  if (!Module || isLibTorch(Module))
    return nullptr;
  const CXXMethodDecl *Only = nullptr;
  for (const CXXMethodDecl *Method : forwardsOf(Module)) {
    if (Method->getMinRequiredArguments() > Arguments ||
        Arguments > Method->getNumParams())
      continue;
    if (Only)
      return nullptr;
    Only = Method;
  }
  return Only && !isLibTorch(Only) ? Only : nullptr;
}

const CXXMethodDecl *forwardRunBy(const CallExpr *Call) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  const Expr *Object = ast::objectOf(Call);
  if (!Method || !Object || Method->getOverloadedOperator() != OO_Call ||
      kindOf(Method->getParent()) != TypeKind::ModuleHolder)
    return nullptr;
  return forwardOf(moduleClass(Object->getType()),
                   ast::argumentsOf(Call).size());
}

bool registersNewName(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("register_module", "register_parameter", "register_buffer", true)
      .Default(false);
}

bool unregisters(const FunctionDecl *F) {
  return ast::nameOf(F) == "unregister_module";
}

bool movesParameters(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "to";
}

bool asksForMode(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "is_training";
}

const Stmt *bodyOfTrain(const CXXRecordDecl *Class) {
  Class = Class ? Class->getDefinition() : nullptr;
  if (!Class || isLibTorch(Class))
    return nullptr;
  for (const CXXMethodDecl *Method : Class->methods())
    if (ast::nameOf(Method) == "train" && Method->isVirtual())
      return Method->getBody();
  for (const CXXBaseSpecifier &Base : Class->bases())
    if (const Stmt *Body = bodyOfTrain(Base.getType()->getAsCXXRecordDecl()))
      return Body;
  return nullptr;
}

static bool returnsUnnamed(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "parameters" ||
         ast::nameOf(Method) == "buffers";
}

bool returnsTensorVector(const CallExpr *Call) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call->getDirectCallee());
  const CXXRecordDecl *Record = recordOf(Call->getType());
  return !Call->isGLValue() && Method && isLibTorch(Method) &&
         returnsUnnamed(Method) && Record && isStd(Record);
}

bool returnsRegistered(const FunctionDecl *Method) {
  return Method && isLibTorch(Method) &&
         (returnsUnnamed(Method) || ast::nameOf(Method) == "named_parameters" ||
          ast::nameOf(Method) == "named_buffers");
}

bool readsRegistered(const FunctionDecl *F) {
  if (returnsRegistered(F) || partAccess(F) == PartAccess::All)
    return true;
  if (!isa<CXXMethodDecl>(F))
    return !F->isOverloadedOperator() ||
           F->getOverloadedOperator() == OO_LessLess;
  return llvm::StringSwitch<bool>(ast::nameOf(F))
      .Cases("children", "named_children", "apply", "clone", true)
      .Cases("to", "save", "load", "zero_grad", "train", "eval", true)
      .Default(false);
}

PartAccess partAccess(const FunctionDecl *Method) {
  if (Method && Method->getOverloadedOperator() == OO_Subscript)
    return PartAccess::One;
  return llvm::StringSwitch<PartAccess>(ast::nameOf(Method))
      .Case("as", PartAccess::Itself)
      .Cases("at", "ptr", "pop", PartAccess::One)
      .Cases("children", "named_children", PartAccess::Several)
      .Cases("begin", "end", "items", "values", PartAccess::Several)
      .Cases("modules", "named_modules", PartAccess::All)
      .Default(PartAccess::None);
}

bool addsParts(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("push_back", "extend", "insert", "update", true)
      .Default(false);
}

StringRef layerName(const CXXRecordDecl *Class) {
  StringRef Name = ast::nameOf(Class);
  Name.consume_back("Impl");
  return Name;
}

bool computesAnew(const CXXRecordDecl *Class) {
  if (!Class || !isLibTorch(Class))
    return false;
  const StringRef Name = layerName(Class);
  return Name.starts_with("Conv") || Name.starts_with("BatchNorm") ||
         Name.starts_with("Embedding") ||
         llvm::StringSwitch<bool>(Name)
             .Cases("Linear", "Bilinear", "LSTM", "GRU", "RNN", true)
             .Cases("LayerNorm", "GroupNorm", true)
             .Default(false);
}

bool isModuleContainer(const CXXRecordDecl *Class) {
  if (!Class)
    return false;
  return isLibTorch(Class) && llvm::StringSwitch<bool>(layerName(Class))
                                  .Cases("Sequential", "ModuleList", true)
                                  .Case("ModuleDict", true)
                                  .Default(false);
}

bool returnsMethod(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "get_method";
}

bool runsAnyMethod(const FunctionDecl *Method) {
  const auto *Member = dyn_cast_or_null<CXXMethodDecl>(Method);
  if (!Member || kindOf(Member->getParent()) != TypeKind::ScriptModule)
    return false;
  return Member->getOverloadedOperator() == OO_Call
             ? ast::nameOf(Member->getParent()) == "Method"
             : ast::nameOf(Member) == "run_method";
}

static bool isDerivative(StringRef Word) {
  return llvm::StringSwitch<bool>(Word.lower())
      .Cases("force", "forces", "virial", "virials", true)
      .Cases("stress", "stresses", "hessian", "jacobian", true)
      .Cases("grad", "grads", "gradient", "gradients", true)
      .Cases("derivative", "derivatives", true)
      .Default(false);
}

bool namesDerivative(StringRef Name) {
  // no_grad and requires_grad say whether there is one.
  if (Name.contains_insensitive("no_grad") ||
      Name.contains_insensitive("nograd") ||
      Name.contains_insensitive("requires_grad"))
    return false;
  size_t Begin = 0;
  for (size_t I = 0; I <= Name.size(); ++I) {
    const bool IsEnd = I == Name.size() || !llvm::isAlpha(Name[I]);
    const bool IsHump = !IsEnd && I > Begin && llvm::isUpper(Name[I]) &&
                        llvm::isLower(Name[I - 1]);
    if (!IsEnd && !IsHump)
      continue;
    if (isDerivative(Name.slice(Begin, I)))
      return true;
    Begin = IsEnd ? I + 1 : I;
  }
  return false;
}

bool appendsOne(const FunctionDecl *Method) {
  return ast::nameOf(Method) == "push_back";
}

bool addsElements(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("push_back", "emplace_back", "append", "insert", true)
      .Default(false);
}

bool leadsToElements(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("begin", "end", "cbegin", "cend", true)
      .Cases("back", "front", "at", "get", true)
      .Default(false);
}

bool registersAnew(const FunctionDecl *Method) {
  const auto *Own = dyn_cast<CXXMethodDecl>(Method);
  return Own && ast::nameOf(Own) == "reset" &&
         llvm::any_of(Own->overridden_methods(), [](const CXXMethodDecl *Each) {
           return isLibTorch(Each);
         });
}

bool keepsAsIs(const FunctionDecl *Method) {
  return llvm::StringSwitch<bool>(ast::nameOf(Method))
      .Cases("is_empty", "size", "empty", "reserve", true)
      .Cases("is_training", "name", "pretty_print", true)
      .Cases("reset", "reset_parameters", "to", true)
      .Default(false);
}

llvm::StringRef moduleListFor(QualType Container) {
  const CXXRecordDecl *Record = recordOf(Container);
  return Record && ast::nameOf(Record).ends_with("map")
             ? "torch::nn::ModuleDict"
             : "torch::nn::ModuleList";
}

bool isStatistic(const FieldDecl *Member) {
  const StringRef Name = ast::nameOf(Member);
  return Name.starts_with("running_") || Name == "num_batches_tracked";
}

} // namespace torchtidy::torch
