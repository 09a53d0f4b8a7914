#include "torch/Gradients.h"
#include "ast/Names.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::torch {

bool isBackwardName(StringRef Name) { return Name == "backward"; }

bool givesGradientAway(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "mutable_grad" && isLibTorch(Member);
}

bool asksForSparseGradient(const FunctionDecl *Member) {
  return ast::nameOf(Member) == "sparse" && Member->getNumParams() == 1 &&
         isLibTorch(Member);
}

static bool isInC10d(const Decl *D) {
  for (const DeclContext *Context = D->getDeclContext(); Context;
       Context = Context->getParent())
    if (const auto *Space = dyn_cast<NamespaceDecl>(Context);
        Space && Space->getName() == "c10d")
      return true;
  return false;
}

bool isCollective(const FunctionDecl *F) {
  const StringRef Name = ast::nameOf(F);
  return F &&
         (isInC10d(F) || Name.starts_with("nccl") || Name.starts_with("MPI_"));
}

bool keepsAddresses(const CXXRecordDecl *Class) {
  return Class && (isInC10d(Class) ||
                   (ast::nameOf(Class) == "CUDAGraph" && isLibTorch(Class)));
}

bool setsToNone(const FunctionDecl *ZeroGrad) {
  if (!ZeroGrad || ZeroGrad->getNumParams() != 1 ||
      !ZeroGrad->getParamDecl(0)->hasDefaultArg())
    return false;
  const auto *Default = dyn_cast<CXXBoolLiteralExpr>(
      ZeroGrad->getParamDecl(0)->getDefaultArg()->IgnoreParenImpCasts());
  return Default && Default->getValue();
}

} // namespace torchtidy::torch
