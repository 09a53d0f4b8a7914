// What expressions denote: the objects that they name, or the value that they
// have.
#include "flow/Names.h"
#include "model/Interpreter.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

PlaceId Interpreter::placeOf(const VarDecl *V) {
  if (V->hasGlobalStorage())
    return Places.root(Root::Global, 0, V->getCanonicalDecl());
  if (const Frame *Owner = Supergraph::owner(F, V))
    return Places.root(Root::Local, Owner->Id, V);
  return Places.root(Root::Outer, 0, V);
}

PlaceSet Interpreter::variable(const VarDecl *V) {
  PlaceId P = placeOf(V);
  if (V->getType()->isReferenceType())
    if (const Value *Held = S->find(P))
      if (!Held->Refs.empty())
        return Held->Refs;
  return {P};
}

PlaceSet Interpreter::thisObject() {
  // A lambda's this is that of the function around it.
  const Frame *Method = F;
  while (Method && Program.functions().lambda(Method->Function))
    Method = Method->Caller;
  if (Method) {
    PlaceId This = Places.root(Root::Object, Method->Id, &Method->Function);
    if (const Value *Held = S->find(This))
      if (!Held->Refs.empty())
        return Held->Refs;
  }
  return {Places.root(Root::This, 0, nullptr)};
}

PlaceSet Interpreter::temporary(const Expr *E, const Denotation &D) {
  PlaceId P = Places.root(Root::Object, F->Id, strip(E));
  store(P, D.Own);
  if (strip(E)->isPRValue() && torch::kindOf(E->getType()) != TypeKind::Pointer)
    Temporaries.insert(P);
  return {P};
}

void Interpreter::remember(const Expr *E, Denotation D) {
  Denotations[{F->Id, E}].join(D);
}

PlaceSet Interpreter::objects(const Expr *E) {
  Denotation D = denote(E);
  return D.Objects.empty() ? temporary(E, D) : D.Objects;
}

Denotation Interpreter::denote(const Expr *E) {
  Denotation Result;
  E = strip(E);
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
    if (Ref->getType()->isEnumeralType() || torch::isLibTorch(D)) {
      // torch::kCUDA, torch::kFloat.
      StringRef Name = flow::nameOf(D);
      if (Name == "kCPU" || Name == "CPU")
        Result.Own.OnDevice = Known<Device>(Device::CPU);
      else if (Name == "kCUDA" || Name == "CUDA")
        Result.Own.OnDevice = Known<Device>(Device::CUDA);
      else if (Name == "kMPS" || Name == "kXPU" || Name == "kHIP")
        Result.Own.OnDevice = Known<Device>(Device::Other);
      else if (Name.starts_with("kInt") || Name.starts_with("kLong") ||
               Name.starts_with("kUInt") || Name == "kByte" ||
               Name == "kChar" || Name == "kShort")
        Result.Own.OfType = Known<DType>(DType::Integral);
      else if (Name == "kBool")
        Result.Own.OfType = Known<DType>(DType::Bool);
      else if (Name.starts_with("kFloat") || Name == "kDouble" ||
               Name == "kHalf" || Name == "kBFloat16")
        Result.Own.OfType = Known<DType>(DType::Floating);
      else if (Name.starts_with("kComplex"))
        Result.Own.OfType = Known<DType>(DType::Complex);
      if (Result.Own.OfType.get())
        Result.Own.Scalar = Known<StringRef>(torch::scalarName(Name));
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
    const bool IsPair = Owner && torch::isStd(Owner) &&
                        Owner->getIdentifier() && Owner->getName() == "pair";
    for (PlaceId Object : Base) {
      // first is std::get<0>.
      PlaceId P = IsPair ? Places.index(Object, Field->getFieldIndex())
                         : Places.field(Object, Field);
      if (Field->getType()->isReferenceType())
        if (const Value *Held = S->find(P))
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
  auto It = Denotations.find({F->Id, E});
  if (It != Denotations.end())
    return It->second;
  return Result;
}

PlaceSet Interpreter::pointees(const PlaceSet &Set) {
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

PlaceSet Interpreter::receiver(const Expr *E) {
  Denotation D = denote(E);
  if (E->getType()->isPointerType())
    return D.Own.Refs.empty() ? pointees(objects(E)) : D.Own.Refs;
  return D.Objects.empty() ? temporary(E, D) : D.Objects;
}

PlaceSet Interpreter::identity(const Expr *E) {
  Denotation D = denote(E);
  if (!D.Own.Refs.empty())
    return pointees(D.Own.Refs);
  if (D.Objects.empty())
    return pointees(temporary(E, D));
  return pointees(D.Objects);
}

PlaceSet Interpreter::constructionTarget(const Expr *E, bool &IsTemporary) {
  IsTemporary = false;
  for (const Stmt *Parent = F->Flow ? F->Flow->parent(E) : nullptr; Parent;
       Parent = F->Flow->parent(Parent)) {
    if (const auto *Declaration = dyn_cast<DeclStmt>(Parent)) {
      for (const Decl *D : Declaration->decls())
        if (const auto *V = dyn_cast<VarDecl>(D))
          if (V->getInit() && strip(V->getInit()) == E &&
              !V->getType()->isReferenceType())
            return {placeOf(V)};
      break;
    }
    if (isa<CXXNewExpr>(Parent))
      return {Places.root(Root::Object, F->Id, Parent)};
    const auto *Around = dyn_cast<Expr>(Parent);
    if (!Around || strip(Around) != E)
      break;
  }
  if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F->Function))
    for (const CXXCtorInitializer *Init : Constructor->inits()) {
      if (!Init->getInit() || strip(Init->getInit()) != E)
        continue;
      if (Init->isBaseInitializer() || Init->isDelegatingInitializer())
        return thisObject();
      PlaceSet Result;
      for (PlaceId Object : thisObject())
        insert(Result, Places.field(Object, Init->getAnyMember()));
      return Result;
    }
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call) {
    IsTemporary = true;
  }
  return {Places.root(Root::Object, F->Id, E)};
}

} // namespace torchtidy::model
