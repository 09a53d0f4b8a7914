#include "model/icfg/Targets.h"
#include "ast/Expressions.h"
#include "model/icfg/Constructors.h"
#include "model/icfg/HeldModules.h"
#include "model/icfg/Receivers.h"
#include "torch/Callbacks.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

std::vector<Target> Resolver::targets(const CFGElement &Element) {
  std::vector<Target> Targets;
  if (std::optional<CFGStmt> S = Element.getAs<CFGStmt>()) {
    if (const auto *Call = dyn_cast<CallExpr>(S->getStmt()))
      resolveCall(Call, Targets);
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S->getStmt()))
      resolveConstruction(Construct, Targets);
  } else if (std::optional<CFGAutomaticObjDtor> D =
                 Element.getAs<CFGAutomaticObjDtor>()) {
    const CXXDestructorDecl *Destructor = D->getDestructorDecl(User.context());
    if (const FunctionDecl *Definition =
            Destructor ? Expandable(Destructor) : nullptr) {
      Target T;
      T.Function = Definition;
      T.Destroyed = D->getVarDecl();
      T.Site = Definition->getBody();
      Targets.push_back(T);
    }
  }
  return Targets;
}

void Resolver::resolveMethod(const CXXMethodDecl *Method, const Target &Call,
                             bool IsVirtual, std::vector<Target> &Targets) {
  llvm::SmallVector<const CXXMethodDecl *, 2> Methods = {Method};
  if (IsVirtual && Method->isVirtual())
    Methods = methodsRunBy(User.calls().overriders(), F, Method, Call.Object);
  // Of a class that nobody makes there is no object.
  Methods.erase(std::remove_if(Methods.begin() + 1, Methods.end(),
                               [&](const CXXMethodDecl *Each) {
                                 return User.unreached().contains(Each);
                               }),
                Methods.end());
  if (Methods.size() > MaxTargets)
    Methods = {Method};
  for (const CXXMethodDecl *Each : Methods)
    if (const FunctionDecl *Definition = Expandable(Each)) {
      Target T = Call;
      T.Function = Definition;
      Targets.push_back(T);
    }
}

void Resolver::resolveCall(const CallExpr *Call, std::vector<Target> &Targets) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  llvm::SmallVector<const Expr *, 4> Arguments(Call->arg_begin(),
                                               Call->arg_end());
  Target T;
  T.Site = Call;
  if (!Callee) {
    // A pointer to a function, or a dependent call.
    resolveCallable(Call->getCallee(), Arguments, T, Targets);
    return;
  }
  const bool IsLibrary = torch::isStd(Callee) || torch::isLibTorch(Callee);
  const CXXMethodDecl *Method =
      IsLibrary ? torch::forwardRunBy(Call) : dyn_cast<CXXMethodDecl>(Callee);
  if (Method) {
    T.Object = ast::objectOf(Call);
    T.Arguments = ast::argumentsOf(Call);
    const auto *Named =
        dyn_cast<MemberExpr>(Call->getCallee()->IgnoreParenImpCasts());
    // net->NetImpl::forward(x) is no virtual call.
    return resolveMethod(Method, T, !Named || !Named->hasQualifier(), Targets);
  }
  if (const FunctionDecl *Definition = Expandable(Callee)) {
    T.Function = Definition;
    T.Arguments = Arguments;
    Targets.push_back(T);
    return;
  }
  if (isa<CXXOperatorCallExpr>(Call) &&
      Callee->getOverloadedOperator() == OO_Call && !Arguments.empty() &&
      torch::kindOf(Arguments.front()->getType()) ==
          torch::TypeKind::Callable) {
    resolveCallable(Arguments.front(), llvm::ArrayRef(Arguments).drop_front(),
                    T, Targets);
    return;
  }
  if (!IsLibrary)
    return;
  resolveChains(Call, Targets);
  if (!Targets.empty())
    return;
  if (torch::makesByConstructor(Callee)) {
    const CXXConstructorDecl *Constructor = constructorFor(
        torch::recordOf(torch::pointee(Call->getType())), Arguments);
    if (const FunctionDecl *Definition =
            Constructor ? Expandable(Constructor) : nullptr) {
      T.Function = Definition;
      T.Arguments = Arguments;
      Targets.push_back(T);
    }
    return;
  }
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
      Member && torch::constructsLast(Callee)) {
    const QualType Element =
        torch::elementType(Member->getImplicitObjectArgument()->getType());
    if (torch::kindOf(Element) == torch::TypeKind::Thread &&
        !Arguments.empty()) {
      T.IsThread = true;
      resolveCallable(Arguments.front(), llvm::ArrayRef(Arguments).drop_front(),
                      T, Targets);
      return;
    }
    const CXXConstructorDecl *Constructor =
        constructorOfElement(Element, Arguments);
    if (const FunctionDecl *Definition =
            Constructor ? Expandable(Constructor) : nullptr) {
      T.Function = Definition;
      T.Arguments = Arguments;
      Targets.push_back(T);
    }
    return;
  }
  const std::optional<torch::Callback> Called =
      torch::callbackOf(Callee, Arguments);
  if (!Called)
    return;
  T.Repeats = Called->Repeats;
  T.IsThread = Called->IsThread;
  T.IsSpread = Called->IsSpread;
  T.IsAnyInstance = Called->Unpacks;
  llvm::ArrayRef<const Expr *> Rest;
  if (T.Repeats && torch::isStd(Callee))
    T.Range = Arguments.front();
  else if (!T.Repeats)
    Rest = llvm::ArrayRef(Arguments).drop_front(Called->Position + 1);
  resolveCallable(Arguments[Called->Position], Rest, T, Targets);
}

void Resolver::resolveChains(const CallExpr *Call,
                             std::vector<Target> &Targets) {
  for (const ModuleChain &Chain : User.heldModules().runBy(F, Call)) {
    const size_t First = Targets.size();
    ChainLink Link;
    for (unsigned I = 0; I < Chain.size(); ++I) {
      const CXXMethodDecl *Forward = HeldModules::forwardOf(Call, Chain, I);
      const FunctionDecl *Definition = Forward && Targets.size() < MaxTargets
                                           ? Expandable(Forward)
                                           : nullptr;
      if (!Definition) {
        Link.Unseen.push_back(torch::moduleClass(Chain[I]->getType()));
        continue;
      }
      Target T;
      T.Site = Call;
      T.Function = Definition;
      T.Object = ast::objectOf(Call);
      if (I == 0)
        T.Arguments = ast::argumentsOf(Call);
      T.Follows = Targets.size() > First;
      Link.Module = Chain[I];
      T.Link = std::exchange(Link, ChainLink());
      Targets.push_back(T);
    }
    if (Targets.size() > First) {
      Targets.back().Link.IsLast = Link.Unseen.empty();
      Targets.back().Link.Behind = std::move(Link.Unseen);
    }
  }
}

void Resolver::resolveConstruction(const CXXConstructExpr *Construct,
                                   std::vector<Target> &Targets) {
  const CXXConstructorDecl *Constructor = constructorRunBy(Construct);
  if (!Constructor)
    return;
  llvm::SmallVector<const Expr *, 4> Arguments(Construct->arg_begin(),
                                               Construct->arg_end());
  Target T;
  T.Site = Construct;
  if (const FunctionDecl *Definition = Expandable(Constructor)) {
    T.Function = Definition;
    T.Arguments = Arguments;
    Targets.push_back(T);
    return;
  }
  if (torch::kindOf(Constructor->getParent()) == torch::TypeKind::Thread &&
      !Constructor->isCopyOrMoveConstructor() && !Arguments.empty()) {
    T.IsThread = true;
    resolveCallable(Arguments.front(), llvm::ArrayRef(Arguments).drop_front(),
                    T, Targets);
  }
}

} // namespace torchtidy::model
