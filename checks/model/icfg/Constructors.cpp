#include "model/icfg/Constructors.h"
#include "ast/Expressions.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace torchtidy::model {

/// Of one class, or of a class and its base.
static bool isFittingArgument(const ParmVarDecl *Parameter, const Expr *Given) {
  const QualType To = Parameter->getType().getNonReferenceType();
  const QualType From = Given->getType();
  if (To->isDependentType() || From->isDependentType())
    return false;
  const CXXRecordDecl *Class = To->getAsCXXRecordDecl();
  const CXXRecordDecl *Of = From->getAsCXXRecordDecl();
  if (!Class || !Of)
    return !Class == !Of && To->isPointerType() == From->isPointerType();
  return Class->getCanonicalDecl() == Of->getCanonicalDecl() ||
         (Of->hasDefinition() && Class->hasDefinition() &&
          Of->isDerivedFrom(Class));
}

const CXXConstructorDecl *
constructorFor(const CXXRecordDecl *Record,
               llvm::ArrayRef<const Expr *> Arguments) {
  const CXXRecordDecl *Class = Record ? Record->getDefinition() : nullptr;
  if (!Class)
    return nullptr;
  llvm::SmallVector<const CXXConstructorDecl *, 4> Viable, Fitting;
  for (const CXXConstructorDecl *Constructor : Class->ctors())
    if (!Constructor->isCopyOrMoveConstructor() &&
        Constructor->getMinRequiredArguments() <= Arguments.size() &&
        Arguments.size() <= Constructor->getNumParams())
      Viable.push_back(Constructor);
  if (Viable.size() == 1)
    return Viable.front();
  llvm::copy_if(Viable, std::back_inserter(Fitting), [&](const auto *Each) {
    for (unsigned I = 0; I < Arguments.size(); ++I)
      if (!isFittingArgument(Each->getParamDecl(I), Arguments[I]))
        return false;
    return true;
  });
  return Fitting.size() == 1 ? Fitting.front() : nullptr;
}

const CXXConstructorDecl *
constructorOfElement(QualType Element, llvm::ArrayRef<const Expr *> Arguments) {
  const CXXRecordDecl *Class =
      Element.isNull() ? nullptr : torch::recordOf(Element);
  if (!Class || torch::kindOf(Element) != torch::TypeKind::Other ||
      torch::isStd(Class) || torch::isLibTorch(Class))
    return nullptr;
  const CXXRecordDecl *Given =
      Arguments.size() == 1 ? Arguments.front()->getType()->getAsCXXRecordDecl()
                            : nullptr;
  if (Given && (Given->getCanonicalDecl() == Class->getCanonicalDecl() ||
                (Given->hasDefinition() && Given->isDerivedFrom(Class))))
    return nullptr;
  return constructorFor(Class, Arguments);
}

/// The user's module that a holder makes when it is constructed, with the
/// holder's arguments; null for a holder of what is there already.
static const CXXRecordDecl *madeByHolder(const CXXConstructExpr *Construct) {
  const CXXConstructorDecl *Constructor = Construct->getConstructor();
  if (torch::kindOf(Constructor->getParent()) !=
          torch::TypeKind::ModuleHolder ||
      Constructor->isCopyOrMoveConstructor())
    return nullptr;
  const CXXRecordDecl *Class = torch::moduleClass(Construct->getType());
  if (!Class || torch::isLibTorch(Class))
    return nullptr;
  if (Construct->getNumArgs() != 1)
    return Class;
  const QualType Given = Construct->getArg(0)->getType();
  const CXXRecordDecl *Of = torch::moduleClass(Given);
  const bool IsHeld =
      Given->isNullPtrType() ||
      (Of && Of->getCanonicalDecl() == Class->getCanonicalDecl());
  return IsHeld ? nullptr : Class;
}

const CXXConstructorDecl *constructorRunBy(const CXXConstructExpr *Construct) {
  // TORCH_MODULE(Net): the constructor of NetImpl, which fills the holder.
  if (const CXXRecordDecl *Made = madeByHolder(Construct))
    return constructorFor(
        Made, llvm::SmallVector<const Expr *, 4>(Construct->arguments()));
  const CXXConstructorDecl *Constructor = Construct->getConstructor();
  return Constructor->getInheritedConstructor() &&
                 torch::kindOf(Constructor->getParent()) ==
                     torch::TypeKind::ModuleHolder
             ? nullptr
             : Constructor;
}

const CXXConstructorDecl *constructorOf(const VarDecl *V) {
  if (V->getType()->isReferenceType())
    return nullptr;
  const auto *Made =
      dyn_cast_or_null<CXXConstructExpr>(ast::strip(V->getInit()));
  return Made ? constructorRunBy(Made) : nullptr;
}

} // namespace torchtidy::model
