#include "model/icfg/StoredCallables.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/Bodies.h"
#include "model/icfg/Constructors.h"
#include "torch/Callbacks.h"
#include "torch/Std.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

bool isCallable(QualType Type) {
  for (unsigned Hop = 0; Hop < 3 && !Type.isNull(); ++Hop) {
    Type = Type.getNonReferenceType();
    if (Type->isDependentType())
      return false;
    if (Type->isFunctionPointerType() || Type->isMemberFunctionPointerType() ||
        Type->isFunctionType() ||
        torch::kindOf(Type) == torch::TypeKind::Callable)
      return true;
    if (const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
        Record && Record->isLambda())
      return true;
    const QualType Inner = torch::elementType(Type);
    if (const auto Parts = torch::tupleTypes(Type); !Parts.empty())
      // The value of a map, the element of an array.
      Type = Parts.back();
    else
      Type = Inner;
  }
  return false;
}

const Expr *calledValue(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    return Call->getCallee();
  if (!isa<CXXOperatorCallExpr>(Call) || Call->getNumArgs() == 0 ||
      Callee->getOverloadedOperator() != OO_Call ||
      torch::kindOf(Call->getArg(0)->getType()) != torch::TypeKind::Callable)
    return nullptr;
  return Call->getArg(0);
}

const VarDecl *variableOf(const Expr *E) {
  for (unsigned Hop = 0; Hop < 8; ++Hop) {
    E = ast::stripCopies(E);
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
      return dyn_cast<VarDecl>(Ref->getDecl());
    if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E))
      E = Unary->getSubExpr();
    else if (const auto *Call = dyn_cast_or_null<CallExpr>(E);
             Call && Call->getDirectCallee() &&
             torch::isStd(Call->getDirectCallee()))
      E = Call->getNumArgs() > 0 && !isa<CXXMemberCallExpr>(Call)
              ? Call->getArg(0)
              : ast::objectOf(Call);
    else
      return nullptr;
  }
  return nullptr;
}

const Expr *boundTo(const Expr *E) {
  const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E);
  const auto *Binding = Ref ? dyn_cast<BindingDecl>(Ref->getDecl()) : nullptr;
  if (!Binding)
    return nullptr;
  // Of a tuple a variable that nobody sees holds what get<I>() says.
  if (const VarDecl *Holding = Binding->getHoldingVar())
    return Holding->getInit();
  return Binding->getBinding();
}

Designated designated(const Expr *E) {
  Designated Result;
  for (unsigned Hop = 0; Hop < 8 && E; ++Hop) {
    E = ast::strip(E);
    // for (auto &[name, command] : commands)
    if (const Expr *Part = boundTo(E)) {
      E = Part;
      continue;
    }
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E)) {
      Result.Declaration = dyn_cast<VarDecl>(Ref->getDecl());
      return Result;
    }
    if (const auto *Member = dyn_cast_or_null<MemberExpr>(E)) {
      const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
      // The second of a map's pair belongs to the map.
      if (Field && torch::isPair(dyn_cast<CXXRecordDecl>(Field->getParent()))) {
        E = Member->getBase();
        continue;
      }
      Result.Declaration = Field;
      if (!isa<CXXThisExpr>(ast::strip(Member->getBase())))
        Result.Object = Member->getBase();
      return Result;
    }
    if (const auto *Subscript = dyn_cast_or_null<ArraySubscriptExpr>(E)) {
      Result.IsElement = true;
      E = Subscript->getBase();
      continue;
    }
    if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E);
        Unary && Unary->getOpcode() == UO_Deref) {
      E = Unary->getSubExpr();
      continue;
    }
    const auto *Call = dyn_cast_or_null<CallExpr>(E);
    if (!Call || !Call->getDirectCallee() ||
        !torch::isStd(Call->getDirectCallee()))
      return {};
    E = ast::objectOf(Call);
    if (!E && Call->getNumArgs() > 0)
      E = Call->getArg(0);
    // Of a table the one that is looked up is called, and not all in turn.
    Result.IsElement |=
        E && torch::kindOf(E->getType()) == torch::TypeKind::Container &&
        !torch::looksUp(Call->getDirectCallee());
  }
  return {};
}

class StoredCallables::Collector {
public:
  Collector(StoredCallables &Owner, const flow::UserFunctions &Functions)
      : Owner(Owner), Functions(Functions) {}

  void collect(const Stmt *Body) {
    ast::forEachStmt(
        Body, [&](const Stmt *S) { visit(S); }, ast::Lambdas::Captures);
  }

  /// D gets From, or what a list has in it.
  void add(const ValueDecl *D, const Expr *From, const VarDecl *Object) {
    From = ast::strip(From);
    if (!D || !From || From->getType().isNull())
      return;
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(From))
      return add(D, List->getSubExpr(), Object);
    if (const auto *List = dyn_cast<InitListExpr>(From)) {
      for (const Expr *Init : List->inits())
        add(D, Init, Object);
      return;
    }
    const auto *Construct = dyn_cast<CXXConstructExpr>(From);
    if (Construct &&
        torch::kindOf(From->getType()) != torch::TypeKind::Callable) {
      for (const Expr *Argument : Construct->arguments())
        add(D, Argument, Object);
      return;
    }
    if (isCallable(From->getType()) && !isa<CXXDefaultArgExpr>(From))
      Owner.Stores[canonical(D)].push_back({From, Object});
  }

  static const ValueDecl *canonical(const ValueDecl *D) {
    // Each declaration of a function has parameters of its own.
    return isa<ParmVarDecl>(D) ? D : cast<ValueDecl>(D->getCanonicalDecl());
  }

private:
  void addTo(const Expr *Target, const Expr *From) {
    const Designated To = designated(Target);
    if (To.Declaration && isCallable(To.Declaration->getType()))
      add(To.Declaration, From, To.Object ? variableOf(To.Object) : nullptr);
  }

  void visit(const Stmt *S) {
    if (const auto *Binary = dyn_cast<BinaryOperator>(S)) {
      if (Binary->getOpcode() == BO_Assign)
        addTo(Binary->getLHS(), Binary->getRHS());
    } else if (const auto *Declaration = dyn_cast<DeclStmt>(S)) {
      for (const Decl *D : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          addVariable(V);
    } else if (const auto *List = dyn_cast<InitListExpr>(S)) {
      addFields(List, Initialized.lookup(List));
    } else if (const auto *Call = dyn_cast<CallExpr>(S)) {
      addCall(Call);
    } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S)) {
      addArguments(Construct->getConstructor(),
                   {Construct->getArgs(), Construct->getNumArgs()},
                   Initialized.lookup(Construct));
    }
  }

public:
  void addVariable(const VarDecl *V) {
    const Expr *Init = ast::strip(V->getInit());
    if (!Init)
      return;
    Initialized[Init] = V;
    // What it is initialized with as a whole its users look up themselves.
    if (isCallable(V->getType()) &&
        torch::kindOf(V->getType()) != torch::TypeKind::Callable &&
        isa<CXXConstructExpr, InitListExpr>(Init))
      add(V, Init, nullptr);
  }

private:
  void addFields(const InitListExpr *List, const VarDecl *Object) {
    const CXXRecordDecl *Class = List->getType()->getAsCXXRecordDecl();
    if (!Class || Class->isUnion() || !Class->hasDefinition())
      return;
    auto Field = Class->field_begin();
    for (const Expr *Init : List->inits().drop_front(
             std::min(Class->getNumBases(), List->getNumInits()))) {
      if (Field == Class->field_end())
        return;
      if (isCallable(Field->getType()))
        add(*Field, Init, Object);
      ++Field;
    }
  }

  void addCall(const CallExpr *Call) {
    const FunctionDecl *Callee = Call->getDirectCallee();
    if (!Callee)
      return;
    const auto Arguments = ast::argumentsOf(Call);
    const Expr *Object = ast::objectOf(Call);
    if (Callee->getOverloadedOperator() == OO_Equal && Object &&
        Arguments.size() == 1)
      return addTo(Object, Arguments.front());
    if (torch::isStd(Callee) && torch::makesByConstructor(Callee)) {
      if (const CXXConstructorDecl *Constructor = constructorFor(
              torch::recordOf(torch::pointee(Call->getType())), Arguments))
        addArguments(Constructor, Arguments, Initialized.lookup(Call));
      return;
    }
    if (!torch::isStd(Callee))
      return addArguments(Callee, Arguments,
                          Object ? variableOf(Object) : nullptr);
    if (Object && torch::meaning(Callee) == torch::StdMeaning::Append)
      for (const Expr *Argument : Arguments)
        addTo(Object, Argument);
  }

  void addArguments(const FunctionDecl *Callee,
                    llvm::ArrayRef<const Expr *> Arguments,
                    const VarDecl *Object) {
    const FunctionDecl *Definition = Functions.definition(Callee);
    if (!Definition)
      return;
    for (auto [Parameter, Argument] :
         llvm::zip(Definition->parameters(), Arguments))
      if (isCallable(Parameter->getType()))
        add(Parameter, Argument, Object);
  }

  StoredCallables &Owner;
  const flow::UserFunctions &Functions;
  llvm::DenseMap<const Expr *, const VarDecl *> Initialized;
};

StoredCallables::StoredCallables(const flow::UserFunctions &Functions) {
  Collector Collect(*this, Functions);
  for (const VarDecl *Global : Functions.globals()) {
    Collect.addVariable(Global);
    Collect.collect(Global->getInit());
  }
  forEachBody(
      Functions, [&](const Stmt *Body) { Collect.collect(Body); },
      [&](const CXXCtorInitializer &Init) {
        Collect.collect(Init.getInit());
        if (const FieldDecl *Field = Init.getAnyMember();
            Field && isCallable(Field->getType()))
          Collect.add(Field, Init.getInit(), nullptr);
      });
}

llvm::ArrayRef<StoredCallables::Store>
StoredCallables::in(const ValueDecl *D) const {
  auto It = Stores.find(Collector::canonical(D));
  if (It == Stores.end())
    return {};
  return It->second;
}

llvm::SmallVector<const FunctionDecl *, 2>
StoredCallables::calledBy(const CallExpr *Call) const {
  llvm::SmallVector<const FunctionDecl *, 2> Result;
  const Expr *Called = calledValue(Call);
  llvm::SmallVector<const Expr *, 4> Work;
  if (Called)
    Work.push_back(Called);
  for (unsigned Steps = 0; !Work.empty() && Steps < 32; ++Steps) {
    const Expr *E = ast::stripCopies(Work.pop_back_val());
    if (const auto *Lambda = dyn_cast_or_null<LambdaExpr>(E)) {
      Result.push_back(Lambda->getCallOperator());
      continue;
    }
    if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(E))
      if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
        Result.push_back(F);
    if (const auto *Unary = dyn_cast_or_null<UnaryOperator>(E))
      Work.push_back(Unary->getSubExpr());
    const Designated From = designated(E);
    if (!From.Declaration)
      continue;
    if (const auto *V = dyn_cast<VarDecl>(From.Declaration))
      if (const Expr *Init = V->getAnyInitializer())
        Work.push_back(Init);
    for (const Store &S : in(From.Declaration))
      Work.push_back(S.What);
  }
  return Result;
}

} // namespace torchtidy::model
