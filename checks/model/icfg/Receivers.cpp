#include "model/icfg/Receivers.h"
#include "ast/Expressions.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ASTLambda.h"

using namespace clang;

namespace torchtidy::model {

static DynamicType follow(const Frame *F, const Expr *E, unsigned Hops);

/// Of `this` in F.
static DynamicType receiver(const Frame *F, unsigned Hops) {
  while (F &&
         isLambdaCallOperator(static_cast<const DeclContext *>(F->Function)))
    F = F->Caller;
  const auto *Method = F ? dyn_cast<CXXMethodDecl>(F->Function) : nullptr;
  if (!Method)
    return {};
  // While a constructor runs, the object is of its class.
  DynamicType Result = {Method->getParent(), isa<CXXConstructorDecl>(Method)};
  if (Result.IsExact || !F->Object || !F->Caller)
    return Result;
  const DynamicType Given = follow(F->Caller, F->Object, Hops + 1);
  if (Given.Class &&
      (Given.Class == Result.Class || Given.Class->isDerivedFrom(Result.Class)))
    return Given;
  return Result;
}

static DynamicType ofVariable(const Frame *F, const VarDecl *V, QualType Type,
                              unsigned Hops) {
  const bool LeadsElsewhere =
      V->getType()->isReferenceType() || V->getType()->isPointerType() ||
      torch::kindOf(V->getType()) == torch::TypeKind::Pointer;
  if (!LeadsElsewhere)
    return {torch::recordOf(Type), true};
  const Expr *From = V->getAnyInitializer();
  if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
    const Supergraph::Passed Given = Supergraph::passed(F, Parameter);
    if (!Given.Argument)
      return {};
    From = Given.Argument;
    F = Given.To->Caller;
  }
  return From ? follow(F, From, Hops + 1) : DynamicType();
}

/// Without what the type of E itself says.
static DynamicType lookBehind(const Frame *F, const Expr *E, unsigned Hops) {
  if (isa<CXXThisExpr>(E))
    return receiver(F, Hops);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V ? ofVariable(F, V, E->getType(), Hops) : DynamicType();
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return Unary->getOpcode() == UO_AddrOf || Unary->getOpcode() == UO_Deref
               ? follow(F, Unary->getSubExpr(), Hops + 1)
               : DynamicType();
  if (const auto *New = dyn_cast<CXXNewExpr>(E))
    return {torch::recordOf(New->getAllocatedType()), true};
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
    const Expr *From = ast::madeFrom(Construct);
    const bool IsPointer =
        torch::kindOf(E->getType()) == torch::TypeKind::Pointer;
    if (IsPointer)
      return From ? follow(F, From, Hops + 1) : DynamicType();
    return {torch::recordOf(E->getType()), true};
  }
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee || !torch::isStd(Callee))
      return {};
    if (torch::makesByConstructor(Callee))
      return {torch::recordOf(torch::pointee(E->getType())), true};
    const Expr *From = ast::objectOf(Call);
    if (!From && Call->getNumArgs() == 1)
      From = Call->getArg(0);
    // An element may be anything that was put there.
    return From && torch::kindOf(From->getType()) != torch::TypeKind::Container
               ? follow(F, From, Hops + 1)
               : DynamicType();
  }
  return {};
}

static DynamicType follow(const Frame *F, const Expr *E, unsigned Hops) {
  E = ast::strip(E);
  if (!E || E->getType().isNull() || Hops > 8)
    return {};
  const CXXRecordDecl *Static = torch::recordOf(torch::pointee(E->getType()));
  const DynamicType Behind = lookBehind(F, E, Hops);
  return Behind.Class ? Behind : DynamicType{Static, false};
}

DynamicType dynamicTypeOf(const Frame *F, const Expr *E) {
  return E ? follow(F, E, 0) : receiver(F, 0);
}

static const CXXRecordDecl *definitionOf(const CXXRecordDecl *Class) {
  return Class ? Class->getDefinition() : nullptr;
}

llvm::SmallVector<const CXXMethodDecl *, 2>
methodsRunBy(const flow::Overriders &Overriding, const Frame *F,
             const CXXMethodDecl *Method, const Expr *Object) {
  llvm::SmallVector<const CXXMethodDecl *, 2> Result = {Method};
  const llvm::ArrayRef<const CXXMethodDecl *> Overriders =
      Overriding.of(Method);
  if (Overriders.empty())
    return Result;
  const DynamicType Type = dynamicTypeOf(F, Object);
  const CXXRecordDecl *Class = definitionOf(Type.Class);
  if (Class && Class != Method->getParent() &&
      !Class->isDerivedFrom(Method->getParent()))
    Class = nullptr;
  if (Class) {
    // What the class itself runs stands for the method.
    auto *Own =
        const_cast<CXXMethodDecl *>(Method)->getCorrespondingMethodInClass(
            Class);
    if (Own)
      Result.front() = Own;
    if (Type.IsExact && Own)
      return Result;
  }
  for (const CXXMethodDecl *Overrider : Overriders)
    if (Overrider != Result.front() &&
        (!Class || Overrider->getParent()->isDerivedFrom(Class)))
      Result.push_back(Overrider);
  return Result;
}

} // namespace torchtidy::model
