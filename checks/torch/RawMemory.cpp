#include "torch/RawMemory.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

/// Without the name of the runtime: "Malloc" of cudaMalloc and hipMalloc. Empty
/// for what is no function of one.
static StringRef runtimeName(const FunctionDecl *F) {
  StringRef Name = ast::nameOf(F);
  if (!F || isa<CXXMethodDecl>(F) || !ast::outermostNamespace(F).empty() ||
      !(Name.consume_front("cuda") || Name.consume_front("hip")))
    return "";
  return Name;
}

const Expr *rawTarget(const CallExpr *Call) {
  const bool IsAllocation =
      llvm::StringSwitch<bool>(runtimeName(Call->getDirectCallee()))
          .Cases("Malloc", "MallocAsync", "MallocManaged", true)
          .Default(false);
  return IsAllocation && Call->getNumArgs() > 1 ? ast::strip(Call->getArg(0))
                                                : nullptr;
}

const Expr *rawFreed(const CallExpr *Call) {
  const StringRef Name = runtimeName(Call->getDirectCallee());
  return (Name == "Free" || Name == "FreeAsync") && Call->getNumArgs() > 0
             ? ast::strip(Call->getArg(0))
             : nullptr;
}

bool onlyCopiesRaw(const FunctionDecl *F) {
  return llvm::StringSwitch<bool>(runtimeName(F))
      .Cases("Memcpy", "MemcpyAsync", "Memcpy2D", "Memcpy2DAsync", true)
      .Cases("Memset", "MemsetAsync", "MemPrefetchAsync", true)
      .Default(false);
}

bool copiesBytes(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  if (!F)
    return false;
  if (isa<CXXMethodDecl>(F))
    return isStd(F) && (Name == "write" || Name == "read");
  const bool IsOfC = (isStd(F) || F->isExternC()) &&
                     llvm::StringSwitch<bool>(Name)
                         .Cases("memcpy", "memmove", "fwrite", "fread", true)
                         .Default(false);
  return IsOfC || llvm::StringSwitch<bool>(runtimeName(F))
                      .Cases("Memcpy", "MemcpyAsync", true)
                      .Default(false);
}

bool isMemoryOfContainer(const Expr *Data) {
  const auto *Call =
      Data ? dyn_cast<CXXMemberCallExpr>(ast::strip(Data)) : nullptr;
  const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
  const auto *Container = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Method ? Method->getParent() : nullptr);
  if (!Container || !isStd(Container) || ast::nameOf(Method) != "data" ||
      !llvm::StringSwitch<bool>(ast::nameOf(Container))
           .Cases("vector", "basic_string", true)
           .Default(false))
    return false;
  const TemplateArgument &Last = Container->getTemplateArgs().asArray().back();
  const CXXRecordDecl *Allocator = Last.getKind() == TemplateArgument::Type
                                       ? recordOf(Last.getAsType())
                                       : nullptr;
  return Allocator && isStd(Allocator) && ast::nameOf(Allocator) == "allocator";
}

bool hasDeleter(const CallExpr *FromBlob) {
  return llvm::any_of(FromBlob->arguments(), [](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument) &&
           kindOf(Argument->getType()) == TypeKind::Callable;
  });
}

} // namespace torchtidy::torch
