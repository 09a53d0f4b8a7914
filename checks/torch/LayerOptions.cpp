#include "torch/LayerOptions.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "ast/Walk.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace torchtidy::torch {

bool isLayerOptions(QualType Type) {
  if (Type.isNull())
    return false;
  const CXXRecordDecl *Class = recordOf(Type.getNonReferenceType());
  if (!Class || !isLibTorch(Class) || !ast::nameOf(Class).ends_with("Options"))
    return false;
  for (const DeclContext *C = Class->getDeclContext(); C; C = C->getParent())
    if (const auto *Space = dyn_cast<NamespaceDecl>(C);
        Space && ast::nameOf(Space) == "nn")
      return true;
  return false;
}

static bool sets(const CallExpr *Option, const FieldDecl *Member) {
  const FunctionDecl *Named = Option->getDirectCallee();
  if (!Named || !isLibTorch(Named) || Option->getNumArgs() != 1 ||
      ast::boolAt(Option->getArg(0), true) != false)
    return false;
  const StringRef Of = ast::nameOf(Member);
  return llvm::StringSwitch<bool>(ast::nameOf(Named))
      .Case("bias", Of == "bias")
      .Cases("affine", "elementwise_affine", Of == "bias" || Of == "weight")
      .Default(false);
}

static bool saysSo(const Expr *Options, const FieldDecl *Member,
                   unsigned Hops) {
  return ast::anyStmt(
      Options,
      [&](const Stmt *S) {
        if (const auto *Call = dyn_cast<CallExpr>(S))
          return sets(Call, Member);
        const auto *Ref = dyn_cast<DeclRefExpr>(S);
        const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
        return V && V->getInit() && Hops < 2 &&
               saysSo(V->getInit(), Member, Hops + 1);
      },
      ast::Lambdas::Skip);
}

bool leavesOut(const Expr *Options, const FieldDecl *Member) {
  return saysSo(Options, Member, /*Hops=*/0);
}

} // namespace torchtidy::torch
