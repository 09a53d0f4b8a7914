#include "model/icfg/HeldModules.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "model/icfg/StoredCallables.h"
#include "model/icfg/Supergraph.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

/// An object that may have been filled in more ways is not followed.
static constexpr unsigned MaxChains = 4;

/// AnyModule: a holder of which no type says what it holds.
static bool isAnyModule(QualType Type) {
  return torch::kindOf(Type) == torch::TypeKind::ModuleHolder &&
         !torch::moduleClass(Type);
}

static bool isContainer(QualType Type) {
  return torch::isModuleContainer(torch::moduleClass(Type));
}

static bool isFollowed(QualType Type) {
  return !Type.isNull() && !Type->isDependentType() &&
         (isAnyModule(Type) || isContainer(Type));
}

/// What a call hands on: the object behind a handle, a moved or registered
/// module. Null for other calls.
static const Expr *handedOnBy(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return nullptr;
  if (torch::classify(Call).Kind == torch::Api::RegisterModule) {
    const auto Arguments = ast::argumentsOf(Call);
    return Arguments.empty() ? nullptr : Arguments.back();
  }
  const bool IsLibTorch = torch::isLibTorch(Callee);
  if (!IsLibTorch && !torch::isStd(Callee))
    return nullptr;
  const Expr *Object = ast::objectOf(Call);
  if (Object)
    return torch::leadsToPointee(Callee) ? Object : nullptr;
  switch (torch::meaning(Callee)) {
  case torch::StdMeaning::Move:
  case torch::StdMeaning::Forward:
  case torch::StdMeaning::Same:
    return Call->getNumArgs() > 0 && !IsLibTorch ? Call->getArg(0) : nullptr;
  default:
    return nullptr;
  }
}

static bool isOneClass(QualType A, QualType B) {
  const CXXRecordDecl *OfA = torch::moduleClass(A),
                      *OfB = torch::moduleClass(B);
  return OfA && OfB && OfA->getCanonicalDecl() == OfB->getCanonicalDecl();
}

/// The module that E is, where it was made or is named.
static const Expr *moduleBehind(const Expr *E) {
  for (unsigned Hop = 0; Hop < 8; ++Hop) {
    E = ast::strip(E);
    const auto *Call = dyn_cast<CallExpr>(E);
    const Expr *Inner = Call ? handedOnBy(Call) : ast::madeFrom(E);
    if (!Inner || !isOneClass(E->getType(), Inner->getType()))
      return E;
    E = Inner;
  }
  return E;
}

/// The variable or the member that a handle is, or that it refers to.
static const ValueDecl *declarationOf(const Expr *E) {
  for (unsigned Hop = 0; Hop < 8 && E; ++Hop) {
    E = ast::strip(E);
    if (const auto *Call = dyn_cast_or_null<CallExpr>(E))
      if (const Expr *Inner = handedOnBy(Call)) {
        E = Inner;
        continue;
      }
    const Designated Named = designated(E);
    const auto *V = dyn_cast_or_null<VarDecl>(Named.Declaration);
    if (!V || isa<ParmVarDecl>(V) || !V->getType()->isReferenceType() ||
        !V->getInit())
      return Named.Declaration
                 ? cast<ValueDecl>(Named.Declaration->getCanonicalDecl())
                 : nullptr;
    E = V->getInit();
  }
  return nullptr;
}

class HeldModules::Collector {
public:
  explicit Collector(HeldModules &Owner) : Owner(Owner) {}

  void collect(const Stmt *Body) {
    ast::forEachStmt(
        Body, [&](const Stmt *S) { visit(S); }, ast::Lambdas::Captures);
  }

  void addWhole(const ValueDecl *D, const Expr *From) {
    if (D && From && isFollowed(D->getType()))
      Owner.Contents[cast<ValueDecl>(D->getCanonicalDecl())].Wholes.push_back(
          From);
  }

private:
  void visit(const Stmt *S) {
    const auto *Call = dyn_cast<CallExpr>(S);
    const Expr *Object = Call ? ast::objectOf(Call) : nullptr;
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Object || !Callee || !isFollowed(Object->getType()))
      return;
    const auto Arguments = ast::argumentsOf(Call);
    if (Callee->getOverloadedOperator() == OO_Equal && Arguments.size() == 1)
      return addWhole(declarationOf(Object), Arguments.front());
    if (!torch::isLibTorch(Callee) || !torch::addsParts(Callee))
      return;
    if (const ValueDecl *D = declarationOf(Object))
      for (const Expr *Argument : Arguments)
        Owner.Contents[D].Added.push_back(Argument);
  }

  HeldModules &Owner;
};

HeldModules::HeldModules(const flow::UserFunctions &Functions)
    : Functions(Functions) {
  Collector Collect(*this);
  for (const VarDecl *Global : Functions.globals())
    Collect.collect(Global->getInit());
  forEachBody(
      Functions, [&](const Stmt *Body) { Collect.collect(Body); },
      [&](const CXXCtorInitializer &Init) {
        Collect.collect(Init.getInit());
        Collect.addWhole(Init.getAnyMember(), Init.getInit());
      });
}

/// Looks up with what an expression was filled.
class HeldModules::Search {
public:
  using Chains = llvm::SmallVector<ModuleChain, 2>;

  explicit Search(const HeldModules &Held) : Held(Held) {}

  /// Each way in which E may have been filled; an empty chain where nothing was
  /// put in, none where that is not known.
  Chains follow(const Frame *F, const Expr *E) {
    E = E ? ast::strip(E) : nullptr;
    if (!E || E->getType().isNull() || Hops > 12 || ++Steps > 128)
      return {};
    ++Hops;
    Chains Result = lookInto(F, E);
    --Hops;
    return Result;
  }

private:
  Chains lookInto(const Frame *F, const Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      return V ? ofVariable(F, V) : Chains();
    }
    if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      return Field ? stored(F, Field, follow(F, Field->getInClassInitializer()))
                   : Chains();
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      return ofConstruction(F, Construct);
    if (const auto *New = dyn_cast<CXXNewExpr>(E))
      return follow(F, New->getConstructExpr());
    if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(E)) {
      Chains Result = follow(F, Choice->getTrueExpr());
      Result.append(follow(F, Choice->getFalseExpr()));
      return Result;
    }
    const auto *Call = dyn_cast<CallExpr>(E);
    return Call ? ofCall(F, Call) : Chains();
  }

  Chains ofVariable(const Frame *F, const VarDecl *V) {
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(V)) {
      const Supergraph::Passed Given =
          F ? Supergraph::passed(F, Parameter) : Supergraph::Passed();
      return Given.Argument
                 ? stored(F, V, follow(Given.To->Caller, Given.Argument))
                 : Chains();
    }
    return stored(F, V, follow(F, V->getAnyInitializer()));
  }

  /// With what the file puts into D besides.
  Chains stored(const Frame *F, const ValueDecl *D, Chains Result) {
    auto It = Held.Contents.find(cast<ValueDecl>(D->getCanonicalDecl()));
    if (It == Held.Contents.end())
      return Result;
    for (const Expr *Whole : It->second.Wholes)
      Result.append(follow(F, Whole));
    // One that is empty at first, and assigned later.
    if (Result.size() > 1)
      llvm::erase_if(Result, [](const ModuleChain &C) { return C.empty(); });
    if (Result.empty())
      Result.emplace_back();
    for (ModuleChain &Each : Result)
      for (const Expr *Added : It->second.Added)
        addGiven(F, Added, Each);
    return Result;
  }

  Chains ofConstruction(const Frame *F, const CXXConstructExpr *Construct) {
    if (Construct->getNumArgs() == 0)
      return {ModuleChain()};
    const Expr *First = ast::strip(Construct->getArg(0));
    if (First->getType()->isNullPtrType())
      return {};
    // A copy, or a holder of the same.
    if (Construct->getNumArgs() == 1 &&
        (isAnyModule(Construct->getType()) ? isAnyModule(First->getType())
                                           : isContainer(First->getType())))
      return follow(F, First);
    return {given(F, {Construct->getArgs(), Construct->getNumArgs()})};
  }

  Chains ofCall(const Frame *F, const CallExpr *Call) {
    if (const Expr *Inner = handedOnBy(Call))
      return follow(F, Inner);
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (torch::makesObject(Callee))
      return {given(F, ast::argumentsOf(Call))};
    const FunctionDecl *Definition =
        Callee ? Held.Functions.definition(Callee) : nullptr;
    Chains Result;
    if (Definition)
      ast::forEachStmt(
          Definition->getBody(),
          [&](const Stmt *S) {
            if (const auto *Return = dyn_cast<ReturnStmt>(S))
              Result.append(follow(nullptr, Return->getRetValue()));
          },
          ast::Lambdas::Skip);
    return Result;
  }

  ModuleChain given(const Frame *F, llvm::ArrayRef<const Expr *> Arguments) {
    ModuleChain Result;
    for (const Expr *Argument : Arguments)
      addGiven(F, Argument, Result);
    return Result;
  }

  /// The modules in an argument: one, a list of some, one with a name.
  void addGiven(const Frame *F, const Expr *E, ModuleChain &To) {
    E = E ? ast::strip(E) : nullptr;
    if (!E || E->getType().isNull() || isa<CXXDefaultArgExpr>(E) ||
        !torch::mayHoldTensor(E->getType()))
      return;
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
      return addGiven(F, List->getSubExpr(), To);
    if (const auto *List = dyn_cast<InitListExpr>(E)) {
      for (const Expr *Init : List->inits())
        addGiven(F, Init, To);
      return;
    }
    if (isFollowed(E->getType())) {
      const Chains Inner = follow(F, E);
      if (Inner.size() == 1)
        To.append(Inner.front());
      else
        To.push_back(E);
      return;
    }
    const auto *Construct = dyn_cast<CXXConstructExpr>(E);
    if (torch::moduleClass(E->getType()) || !Construct) {
      To.push_back(moduleBehind(E));
      return;
    }
    for (const Expr *Argument : Construct->arguments())
      addGiven(F, Argument, To);
  }

  const HeldModules &Held;
  unsigned Hops = 0, Steps = 0;
};

llvm::SmallVector<ModuleChain, 2>
HeldModules::runBy(const Frame *F, const CallExpr *Call) const {
  const FunctionDecl *Callee = Call->getDirectCallee();
  const Expr *Object = ast::objectOf(Call);
  if (!Callee || !Object || !torch::isLibTorch(Callee) ||
      !isFollowed(Object->getType()) ||
      torch::classify(Call).Kind != torch::Api::ModuleForward)
    return {};
  llvm::SmallVector<ModuleChain, 2> Result,
      Filled = Search(*this).follow(F, Object);
  for (const ModuleChain &Each : Filled)
    if (!Each.empty() && !llvm::is_contained(Result, Each))
      Result.push_back(Each);
  if (Result.size() > MaxChains)
    Result.clear();
  return Result;
}

const CXXMethodDecl *HeldModules::forwardOf(const CallExpr *Call,
                                            const ModuleChain &Chain,
                                            unsigned Number) {
  return torch::forwardOf(torch::moduleClass(Chain[Number]->getType()),
                          Number == 0 ? ast::argumentsOf(Call).size() : 1);
}

} // namespace torchtidy::model
