// What expressions denote: the objects that they name, or the value that they
// have.
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "model/domains/attributes/Transfer.h"
#include "model/domains/device/Transfer.h"
#include "model/machine/Machine.h"
#include "torch/Std.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

PlaceId Machine::placeOf(const VarDecl *V) {
  if (V->hasGlobalStorage())
    return Places.root(Root::Global, 0, V->getCanonicalDecl());
  if (const Frame *Owner = Supergraph::owner(Active, V))
    return Places.root(Root::Local, Owner->Id, V);
  return Places.root(Root::Outer, 0, V);
}

PlaceSet Machine::variable(const VarDecl *V) {
  PlaceId P = placeOf(V);
  if (V->getType()->isReferenceType())
    if (const Value *Held = Now.find(P))
      if (!Held->Refs.empty())
        return Held->Refs;
  return {P};
}

PlaceSet Machine::thisObject() {
  // A lambda's this is that of the function around it. Where that has returned,
  // it is taken to be the object of the same class that runs.
  const Frame *Method = Supergraph::lexical(Active);
  if (!Method)
    Method = Supergraph::sameClass(Active);
  if (Method) {
    if (const Value *Held = Now.find(receiverOf(Method)))
      if (!Held->Refs.empty())
        return Held->Refs;
  }
  return {Places.root(Root::This, 0, RootKey())};
}

PlaceSet Machine::temporary(const Expr *E, const Denotation &D) {
  const PlaceId P = madeBy(ast::strip(E));
  store(P, D.Own);
  if (ast::strip(E)->isPRValue() &&
      torch::kindOf(E->getType()) != TypeKind::Pointer)
    insert(Now.Temporaries, P);
  return {P};
}

void Machine::remember(const Expr *E, Denotation D) {
  Now.Denotations[{Active->Id, E}] = std::move(D);
}

/// The key of what a frame keeps. Frames are bounded by MaxSegments.
static unsigned keptBy(unsigned Frame) { return Frame | 1u << 31; }

static void forget(State &Now, unsigned Key) {
  Now.Denotations.erase(Now.Denotations.lower_bound({Key, nullptr}),
                        Now.Denotations.lower_bound({Key + 1, nullptr}));
}

void Machine::forgetDenotations() {
  if (!Now.Denotations.empty())
    forget(Now, Active->Id);
}

void Machine::keepDenotation(const Expr *E) {
  auto It = Now.Denotations.find({Active->Id, ast::strip(E)});
  if (It != Now.Denotations.end())
    Now.Denotations[{keptBy(Active->Id), It->first.second}] = It->second;
}

void Machine::forgetKept(const Frame *Of) {
  forget(Now, Of->Id);
  forget(Now, keptBy(Of->Id));
}

PlaceSet Machine::objects(const Expr *E) {
  Denotation D = denote(E);
  return D.Objects.empty() ? temporary(E, D) : D.Objects;
}

/// constexpr auto Wire = torch::kFloat: LibTorch's constant that it is another
/// name of; else D.
static const ValueDecl *namedConstant(const ValueDecl *D) {
  const ValueDecl *Named = D;
  for (unsigned Hop = 0; Hop < 8 && !torch::isLibTorch(Named); ++Hop) {
    const auto *V = dyn_cast<VarDecl>(Named);
    if (!V || !V->getType().isConstQualified() ||
        !V->getType()->isEnumeralType() || !V->getAnyInitializer())
      return D;
    const auto *Ref = dyn_cast<DeclRefExpr>(ast::strip(V->getAnyInitializer()));
    if (!Ref)
      return D;
    Named = Ref->getDecl();
  }
  return Named;
}

Denotation Machine::denote(const Expr *E) {
  Denotation Result;
  E = ast::strip(E);
  if (!E)
    return Result;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const ValueDecl *D = Ref->getDecl();
    if (const auto *V = dyn_cast<VarDecl>(D)) {
      Result.Objects = variable(V);
      if (torch::isLibTorch(V))
        Result.Objects.clear();
    } else if (const auto *Binding = dyn_cast<BindingDecl>(D)) {
      if (const VarDecl *Holding = Binding->getHoldingVar())
        Result.Objects = variable(Holding);
      else if (const Expr *Bound = Binding->getBinding())
        return denote(Bound);
    }
    const ValueDecl *Constant = namedConstant(D);
    if (Constant != D)
      Result.Objects.clear();
    if (Ref->getType()->isEnumeralType() || torch::isLibTorch(Constant)) {
      describeConstant(Constant, Result.Own);
      device::describeConstant(Constant, Result.Own);
    }
    return Result;
  }
  if (isa<CXXThisExpr>(E)) {
    Result.Own = Value::handle(thisObject());
    return Result;
  }
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (const auto *Static = dyn_cast<VarDecl>(Member->getMemberDecl())) {
      Result.Objects = variable(Static);
      return Result;
    }
    const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field)
      return Result;
    PlaceSet Base = objects(Member->getBase());
    if (Member->isArrow())
      Base = pointees(Base);
    const CXXRecordDecl *Owner = dyn_cast<CXXRecordDecl>(Field->getParent());
    const bool IsPair = torch::isPair(Owner);
    for (PlaceId Object : Base) {
      // first is std::get<0>.
      PlaceId P = IsPair ? Places.index(Object, Field->getFieldIndex())
                         : Places.field(Object, Field);
      if (Field->getType()->isReferenceType())
        if (const Value *Held = Now.find(P))
          if (!Held->Refs.empty()) {
            insert(Result.Objects, Held->Refs);
            continue;
          }
      insert(Result.Objects, P);
    }
    return Result;
  }
  if (const auto *Dependent = dyn_cast<CXXDependentScopeMemberExpr>(E)) {
    if (!Dependent->isImplicitAccess())
      Result = denote(Dependent->getBase());
    return Result;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (Unary->getOpcode() == UO_AddrOf) {
      Result.Own = Value::handle(objects(Unary->getSubExpr()));
      return Result;
    }
    if (Unary->getOpcode() == UO_Deref) {
      Result.Objects = pointees(objects(Unary->getSubExpr()));
      return Result;
    }
  }
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
    for (PlaceId P : pointees(objects(Subscript->getBase())))
      insert(Result.Objects, Places.element(P));
    return Result;
  }
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return denote(List->getSubExpr());
  if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
    if (Binary->getOpcode() == BO_Assign || Binary->getOpcode() == BO_Comma)
      return denote(Binary->getOpcode() == BO_Comma ? Binary->getRHS()
                                                    : Binary->getLHS());
    // A pointer into the same object.
    if (Binary->isAdditiveOp() && E->getType()->isPointerType())
      return denote(Binary->getLHS()->getType()->isPointerType()
                        ? Binary->getLHS()
                        : Binary->getRHS());
  }
  for (const unsigned Key : {Active->Id, keptBy(Active->Id)}) {
    auto It = Now.Denotations.find({Key, E});
    if (It != Now.Denotations.end())
      return It->second;
  }
  return Result;
}

PlaceSet Machine::named(const Expr *E) {
  E = ast::strip(E);
  if (isa<DeclRefExpr, MemberExpr>(E))
    return denote(E).Objects;
  PlaceSet Result;
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !torch::isStd(Callee))
    return Result;
  const OverloadedOperatorKind Operator = Callee->getOverloadedOperator();
  if (Operator == OO_Star || Operator == OO_Arrow)
    return named(Call->getArg(0));
  if (const std::optional<unsigned> Index = ast::tupleIndex(Callee))
    for (PlaceId P : named(Call->getArg(0)))
      insert(Result, Places.index(P, *Index));
  return Result;
}

Value Machine::deepValue(const Expr *E) {
  // A list in code with errors has holes, and so has a template that nothing
  // instantiates.
  if (!E || E->getType().isNull())
    return Value();
  Denotation D = denote(E);
  Value Result = D.Own;
  // What a reference leads to, not the reference.
  if (isa<CallExpr>(ast::strip(E)) && ast::strip(E)->isGLValue()) {
    Result.forgetLoans();
  }
  for (PlaceId P : D.Objects)
    Result.join(deepLoad(P));
  // A leaf that is handed on by name ({weight, bias}) is known by its place.
  // So is what a holder or a pointer shares.
  const QualType Type = E->getType();
  const TypeKind Kind = torch::kindOf(Type);
  const bool IsHandle = Kind == TypeKind::ModuleHolder ||
                        Kind == TypeKind::ScriptModule ||
                        Kind == TypeKind::Pointer || Type->isPointerType();
  if (Result.Refs.empty() && (IsHandle || (Kind == TypeKind::Tensor &&
                                           (Result.History & history::Leaf))))
    Result.Refs = D.Objects;
  return Result;
}

static bool isPointer(const Expr *E) {
  return E && !E->getType().isNull() && E->getType()->isPointerType();
}

Denotation Machine::denoteOperand(const Expr *E) {
  if (!isPointer(E))
    return denote(E);
  Denotation Result;
  Result.Objects = receiver(E);
  return Result;
}

Value Machine::operandValue(const Expr *E) {
  if (!isPointer(E))
    return deepValue(E);
  Value Result;
  for (PlaceId P : receiver(E))
    Result.join(deepLoad(P));
  return Result;
}

PlaceSet Machine::pointees(const PlaceSet &Set) {
  PlaceSet Result = Set;
  // A holder in a pointer in a reference: a few hops.
  for (unsigned Hop = 0; Hop < 4; ++Hop) {
    PlaceSet Next;
    bool Followed = false;
    for (PlaceId P : Result) {
      Value V = load(P);
      bool IsSelf = V.Refs.size() == 1 && V.Refs.front() == P;
      if (V.Refs.empty() || IsSelf) {
        insert(Next, P);
      } else {
        insert(Next, V.Refs);
        Followed = true;
      }
    }
    Result = std::move(Next);
    if (!Followed)
      break;
  }
  return Result;
}

PlaceSet Machine::receiver(const Expr *E) {
  Denotation D = denote(E);
  if (E->getType()->isPointerType())
    return D.Own.Refs.empty() ? pointees(objects(E)) : D.Own.Refs;
  return D.Objects.empty() ? temporary(E, D) : D.Objects;
}

PlaceSet Machine::identity(const Expr *E) {
  Denotation D = denote(E);
  if (!D.Own.Refs.empty())
    return pointees(D.Own.Refs);
  if (D.Objects.empty())
    return pointees(temporary(E, D));
  return pointees(D.Objects);
}

PlaceSet Machine::constructionTarget(const Expr *E, bool &IsTemporary) {
  IsTemporary = false;
  // make_shared<Net>() fills what its result points to; emplace_back() an
  // object that is an element then.
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && (torch::makesObject(Call->getDirectCallee()) ||
               torch::constructsLast(Call->getDirectCallee())))
    return {madeBy(Call)};
  for (const Stmt *Parent = Active->Flow ? Active->Flow->parent(E) : nullptr;
       Parent; Parent = Active->Flow->parent(Parent)) {
    if (const auto *Declaration = dyn_cast<DeclStmt>(Parent)) {
      for (const Decl *D : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          if (V->getInit() && ast::strip(V->getInit()) == E &&
              !V->getType()->isReferenceType())
            return {placeOf(V)};
      break;
    }
    if (isa<CXXNewExpr>(Parent))
      return {madeBy(cast<CXXNewExpr>(Parent))};
    const auto *Around = dyn_cast<Expr>(Parent);
    if (!Around || ast::strip(Around) != E)
      break;
  }
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Active->Function))
    for (const CXXCtorInitializer *Init : Constructor->inits()) {
      if (!Init->getInit() || ast::strip(Init->getInit()) != E)
        continue;
      if (Init->isBaseInitializer() || Init->isDelegatingInitializer())
        return thisObject();
      PlaceSet Result;
      for (PlaceId Object : thisObject())
        insert(Result, Places.field(Object, Init->getAnyMember()));
      return Result;
    }
  IsTemporary = !isa<CallExpr>(E);
  return {madeBy(E)};
}

} // namespace torchtidy::model
