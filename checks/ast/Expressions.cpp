#include "ast/Expressions.h"

using namespace clang;

namespace torchtidy::ast {

const Expr *strip(const Expr *E) {
  while (E) {
    const Expr *Inner = E;
    if (const auto *P = dyn_cast<ParenExpr>(E))
      Inner = P->getSubExpr();
    else if (const auto *F = dyn_cast<FullExpr>(E))
      Inner = F->getSubExpr();
    else if (const auto *T = dyn_cast<MaterializeTemporaryExpr>(E))
      Inner = T->getSubExpr();
    else if (const auto *B = dyn_cast<CXXBindTemporaryExpr>(E))
      Inner = B->getSubExpr();
    else if (const auto *C = dyn_cast<CastExpr>(E))
      // The operand of a converting construction is that construction, and of a
      // conversion function its call: both are elements of their own.
      Inner = C->getSubExpr();
    else if (const auto *D = dyn_cast<CXXDefaultArgExpr>(E))
      Inner = D->getExpr();
    else if (const auto *I = dyn_cast<CXXDefaultInitExpr>(E))
      Inner = I->getExpr();
    else if (const auto *S = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      Inner = S->getReplacement();
    if (Inner == E)
      return E;
    E = Inner;
  }
  return E;
}

const Expr *madeFrom(const Expr *E) {
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  if (!Construct || Construct->getNumArgs() == 0 ||
      !llvm::all_of(llvm::drop_begin(Construct->arguments()),
                    llvm::IsaPred<CXXDefaultArgExpr>))
    return nullptr;
  return strip(Construct->getArg(0));
}

const Expr *stripCopies(const Expr *E) {
  E = strip(E);
  while (const Expr *From = madeFrom(E))
    E = From;
  return E;
}

const Expr *objectOf(const CallExpr *Call) {
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    return Member->getImplicitObjectArgument();
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call))
    if (isa_and_nonnull<CXXMethodDecl>(Operator->getDirectCallee()))
      return Operator->getArg(0);
  if (const auto *Dependent = dyn_cast<CXXDependentScopeMemberExpr>(
          Call->getCallee()->IgnoreParenImpCasts()))
    return Dependent->isImplicitAccess() ? nullptr : Dependent->getBase();
  return nullptr;
}

const Expr *firstOperand(const CallExpr *Call) {
  if (const Expr *Object = objectOf(Call))
    return Object;
  return Call->getNumArgs() ? Call->getArg(0) : nullptr;
}

llvm::SmallVector<const Expr *, 4> argumentsOf(const CallExpr *Call) {
  llvm::SmallVector<const Expr *, 4> Arguments(Call->arg_begin(),
                                               Call->arg_end());
  if (isa<CXXOperatorCallExpr>(Call) && objectOf(Call))
    Arguments.erase(Arguments.begin());
  return Arguments;
}

std::optional<llvm::SmallVector<const Expr *, 4>> listed(const Expr *E) {
  for (unsigned Hop = 0; E && Hop < 16; ++Hop) {
    E = strip(E);
    if (const auto *List = dyn_cast<InitListExpr>(E))
      return llvm::SmallVector<const Expr *, 4>(List->inits());
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
      E = List->getSubExpr();
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      E = Construct->getNumArgs() ? Construct->getArg(0) : nullptr;
    else
      break;
  }
  return std::nullopt;
}

std::optional<bool> boolAt(const Expr *E, bool Default) {
  if (!E || isa<CXXDefaultArgExpr>(E))
    return Default;
  // std::optional<bool>(true)
  const Expr *Inner = stripCopies(E);
  if (const auto *Literal = dyn_cast<CXXBoolLiteralExpr>(Inner))
    return Literal->getValue();
  if (const auto *Literal = dyn_cast<IntegerLiteral>(Inner))
    return Literal->getValue() != 0;
  return std::nullopt;
}

std::optional<unsigned> tupleIndex(const FunctionDecl *Callee) {
  const TemplateArgumentList *Arguments =
      Callee->getTemplateSpecializationArgs();
  if (!Arguments || Arguments->size() == 0 ||
      (*Arguments)[0].getKind() != TemplateArgument::Integral)
    return std::nullopt;
  return (*Arguments)[0].getAsIntegral().getZExtValue();
}

} // namespace torchtidy::ast
