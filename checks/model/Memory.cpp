// The interpreter's view of the state: what expressions denote, and what places
// hold.
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
      StringRef Name = D->getIdentifier() ? D->getName() : StringRef();
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
    const bool IsPair = Owner && torch::isStd(Owner) && Owner->getIdentifier() &&
                        Owner->getName() == "pair";
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
  if (const auto *Assign = dyn_cast<BinaryOperator>(E))
    if (Assign->getOpcode() == BO_Assign || Assign->getOpcode() == BO_Comma)
      return denote(Assign->getOpcode() == BO_Comma ? Assign->getRHS()
                                                    : Assign->getLHS());
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

bool Interpreter::isFromOutside(PlaceId P) {
  PlaceId RootPlace = Places.rootOf(P);
  switch (Places.rootKind(RootPlace)) {
  case Root::This:
  case Root::Global:
  case Root::Outer:
    return true;
  case Root::Local: {
    const auto *V = static_cast<const VarDecl *>(Places.key(RootPlace));
    // A parameter of the root, or of a constructor that ran before it.
    return isa<ParmVarDecl>(V) &&
           !Graph.frames()[Places.frame(RootPlace)]->Site;
  }
  case Root::Object:
    return false;
  }
  return false;
}

PlaceSet Interpreter::outside() {
  PlaceSet Result;
  for (PlaceId P = 0; P < Places.size(); ++P)
    if (Places.isRoot(P) && isFromOutside(P))
      insert(Result, P);
  return Result;
}

Value Interpreter::initial(PlaceId P) {
  Value Result;
  const Step &Last = Places.step(P);
  if (!Places.isRoot(P) && Last.Of == Step::Field) {
    const auto *Record = dyn_cast<CXXRecordDecl>(Last.Member->getParent());
    if (Record && torch::isLibTorch(Record)) {
      // A batch of a data loader; a weight of a layer.
      if (torch::kindOf(Record) == TypeKind::Module)
        Result.History = trainability(Places.parent(P));
      else
        Result.History = history::None;
      return Result;
    }
  }
  if (!Places.isRoot(P) && Last.Of == Step::Parameters) {
    Result.History = history::Leaf;
    Result.Refs = {P};
    return Result;
  }
  if (!Places.isRoot(P) && Last.Of == Step::Gradient) {
    Result.History = history::None;
    return Result;
  }
  if (isFromOutside(P)) {
    Result.History = history::Unknown;
    if (std::optional<OriginId> Entry = entryOrigin(P))
      Result.addOrigin(*Entry);
    // What a tensor from outside uses is told apart as well: it may be written
    // through another handle.
    if (const QualType Type = Places.typeOf(P);
        !Type.isNull() && torch::isTensor(Type)) {
      auto [It, Inserted] = MemoryIds.try_emplace(P, Origins.size());
      if (Inserted)
        Origins.push_back({Origin::Allocation, &Graph.root(), nullptr, P});
      Result.Memory = {It->second};
    }
  }
  return Result;
}

/// Tensors of members and of global variables are told apart: what is computed
/// from one may be stored there for the next call.
std::optional<OriginId> Interpreter::entryOrigin(PlaceId P) {
  const Root Kind = Places.rootKind(P);
  if (Kind != Root::This && Kind != Root::Global)
    return std::nullopt;
  PlaceId Whole = P;
  while (!Places.isRoot(Whole) && !Places.isRoot(Places.parent(Whole)))
    Whole = Places.parent(Whole);
  if (Kind == Root::Global)
    Whole = Places.rootOf(P);
  const QualType Type = Places.typeOf(Whole);
  if (Type.isNull() || torch::isModule(Type) || !torch::mayHoldTensor(Type))
    return std::nullopt;
  auto [It, Inserted] = EntryIds.try_emplace(Whole, Origins.size());
  if (Inserted)
    Origins.push_back({Origin::Entry, &Graph.root(), nullptr, Whole});
  return It->second;
}

Value Interpreter::load(PlaceId P) {
  Value V = loadHeld(P);
  // A variable of type torch::Device stands for the device that it names.
  if (V.DeviceFrom.isEmpty() && torch::isDevice(Places.typeOf(P)))
    V.DeviceFrom = Known<PlaceId>(P);
  return V;
}

Value Interpreter::loadHeld(PlaceId P) {
  if (const Value *V = S->find(P)) {
    if (Places.isRoot(P) || !Places.isSummary(P) ||
        Places.step(P).Of != Step::Index)
      return *V;
    // A part of an element: what was stored as a whole is another element's.
    Value Result = *V;
    if (const Value *Whole = S->find(Places.parent(P)))
      Result.join(*Whole);
    return Result;
  }
  if (Places.isRoot(P))
    return initial(P);
  PlaceId Parent = Places.parent(P);
  // losses[3] of a vector whose elements are not told apart, and the reverse.
  const Step &Last = Places.step(P);
  if (Last.Of == Step::Index || Last.Of == Step::Element) {
    Value Result;
    bool Found = false;
    for (PlaceId Sibling : Places.children(Parent)) {
      const Step &Other = Places.step(Sibling);
      bool Matches = Other.Of == Step::Element ||
                     (Last.Of == Step::Element && Other.Of == Step::Index);
      if (Sibling == P || !Matches)
        continue;
      if (const Value *V = S->find(Sibling)) {
        Result.join(*V);
        Found = true;
      }
    }
    if (const Value *Whole = S->find(Parent)) {
      Result.join(*Whole);
      Found = true;
    }
    if (Found)
      return Result;
  }
  Value Special = initial(P);
  if (Last.Of == Step::Parameters || Last.Of == Step::Gradient)
    return Special;
  // A value that is kept for a whole object stands for its parts.
  for (PlaceId Around = Parent;; Around = Places.parent(Around)) {
    if (const Value *V = S->find(Around)) {
      Value Part = *V;
      Part.Mode = 0;
      if (Part.History || !Part.Refs.empty()) {
        // The parts of what a pointer leads to are looked up there.
        if (Last.Of == Step::Field)
          Part.Refs.clear();
        return Part;
      }
      break;
    }
    if (Places.isRoot(Around))
      break;
  }
  return Special;
}

Value Interpreter::load(const PlaceSet &Set) {
  Value Result;
  for (PlaceId P : Set)
    Result.join(load(P));
  return Result;
}

Value Interpreter::deepLoad(PlaceId P) {
  Value Result = load(P);
  llvm::SmallVector<PlaceId, 8> Work(Places.children(P).begin(),
                                     Places.children(P).end());
  while (!Work.empty()) {
    PlaceId Child = Work.pop_back_val();
    Step::Kind Kind = Places.step(Child).Of;
    if (Kind == Step::Parameters || Kind == Step::Gradient)
      continue;
    if (const Value *V = S->find(Child))
      Result.join(*V);
    Work.append(Places.children(Child).begin(), Places.children(Child).end());
  }
  return Result;
}

Value Interpreter::deepValue(const Expr *E) {
  Denotation D = denote(E);
  Value Result = D.Own;
  for (PlaceId P : D.Objects)
    Result.join(deepLoad(P));
  // A leaf that is handed on by name ({weight, bias}) is known by its place.
  // So is what a holder or a pointer shares.
  const QualType Type = E->getType();
  const TypeKind Kind = torch::kindOf(Type);
  const bool IsHandle =
      Kind == TypeKind::ModuleHolder || Kind == TypeKind::ScriptModule ||
      Kind == TypeKind::Pointer || Type->isPointerType();
  if (Result.Refs.empty() &&
      (IsHandle || (Kind == TypeKind::Tensor &&
                    (Result.History & history::Leaf))))
    Result.Refs = D.Objects;
  return Result;
}

void Interpreter::erase(PlaceId P) {
  S->Places.erase(P);
  for (PlaceId Child : Places.children(P))
    erase(Child);
}

/// What is known of a tuple or a structure as a whole becomes knowledge of its
/// parts, so that one part can change: std::get<0>(state).detach_().
void Interpreter::split(PlaceId Whole) {
  if (!Places.isRoot(Whole))
    split(Places.parent(Whole));
  if (Places.isSummary(Whole))
    return;
  const Value *Held = S->find(Whole);
  if (Held ? !Held->History : !isFromOutside(Whole))
    return;
  llvm::SmallVector<PlaceId, 4> Parts;
  const QualType Type = Places.typeOf(Whole);
  if (Type.isNull() || Type->isReferenceType() || Type->isPointerType())
    return;
  if (const unsigned Size = torch::tupleTypes(Type).size()) {
    for (unsigned I = 0; I < Size; ++I)
      Parts.push_back(Places.index(Whole, I));
  } else if (const CXXRecordDecl *Record = torch::recordOf(Type);
             Record && torch::kindOf(Record) == TypeKind::Other &&
             !torch::isStd(Record) && !torch::isLibTorch(Record) &&
             Record->hasDefinition()) {
    for (const FieldDecl *Field : Record->fields())
      Parts.push_back(Places.field(Whole, Field));
  }
  if (Parts.empty())
    return;
  for (PlaceId Part : Parts)
    if (Part != Whole && !S->find(Part)) {
      Value V = load(Part);
      S->Places[Part] = std::move(V);
    }
  Value &Rest = S->Places[Whole];
  const uint8_t Mode = Rest.Mode;
  Rest = Value();
  Rest.Mode = Mode;
}

void Interpreter::store(PlaceId P, const Value &V) {
  if (Places.isSummary(P)) {
    storeWeak(P, V);
    return;
  }
  if (!Places.isRoot(P))
    split(Places.parent(P));
  erase(P);
  S->Places[P] = V;
}

void Interpreter::storeWeak(PlaceId P, const Value &V) {
  auto It = S->Places.find(P);
  if (It != S->Places.end()) {
    It->second.join(V);
    return;
  }
  Value Before = isFromOutside(P) ? load(P) : Value();
  Before.join(V);
  S->Places[P] = std::move(Before);
}

/// What lies at From is also at To; what points into From points into To there.
void Interpreter::copy(PlaceId From, PlaceId To) {
  if (From == To)
    return;
  auto Translate = [&](Value V) {
    PlaceSet Refs;
    for (PlaceId Ref : V.Refs) {
      llvm::SmallVector<Step, 4> Path;
      PlaceId Around = Ref;
      while (Around != From && !Places.isRoot(Around)) {
        Path.push_back(Places.step(Around));
        Around = Places.parent(Around);
      }
      if (Around != From || Path.empty()) {
        insert(Refs, Ref);
        continue;
      }
      PlaceId Moved = To;
      for (const Step &Next : llvm::reverse(Path))
        Moved = Places.child(Moved, Next);
      insert(Refs, Moved);
    }
    V.Refs = std::move(Refs);
    return V;
  };
  Value Top = load(From);
  const PlaceId RootPlace = Places.rootOf(From);
  QualType Type;
  if (Places.isRoot(From)) {
    if (Places.rootKind(From) == Root::Local ||
        Places.rootKind(From) == Root::Global ||
        Places.rootKind(From) == Root::Outer)
      Type = static_cast<const VarDecl *>(Places.key(RootPlace))->getType();
  } else if (Places.step(From).Of == Step::Field) {
    Type = Places.step(From).Member->getType();
  }
  const TypeKind Kind = torch::kindOf(Type);
  // Copies of handles designate the object that the original is or leads to.
  if (Top.Refs.empty() &&
      (Kind == TypeKind::ModuleHolder || Kind == TypeKind::ScriptModule ||
       Kind == TypeKind::Pointer ||
       (!Type.isNull() && Type->isPointerType()))) {
    Top.Refs = {From};
    Top.Mode = 0;
    storeWeak(To, Top);
    return;
  }
  // A tensor that a layer or an optimizer trains keeps its identity.
  if (Kind == TypeKind::Tensor && Top.Refs.empty() &&
      (Top.History & history::Leaf))
    Top.Refs = {From};
  if (!S->find(To) || Places.isSummary(To))
    storeWeak(To, Translate(Top));
  else
    S->Places[To].join(Translate(Top));
  llvm::SmallVector<PlaceId, 8> Children(Places.children(From).begin(),
                                         Places.children(From).end());
  for (PlaceId Child : Children) {
    if (!S->find(Child) && Places.children(Child).empty())
      continue;
    if (Places.isWithin(To, Child))
      continue;
    PlaceId Target = Places.child(To, Places.step(Child));
    if (Target == To)
      continue;
    // Recursion for the parts; pointers into From are translated by part.
    llvm::SmallVector<std::pair<PlaceId, PlaceId>, 8> Work = {{Child, Target}};
    while (!Work.empty()) {
      auto [A, B] = Work.pop_back_val();
      if (const Value *V = S->find(A))
        storeWeak(B, Translate(*V));
      llvm::SmallVector<PlaceId, 4> Parts(Places.children(A).begin(),
                                          Places.children(A).end());
      for (PlaceId Part : Parts) {
        PlaceId Next = Places.child(B, Places.step(Part));
        if (Next != B)
          Work.push_back({Part, Next});
      }
    }
  }
}

uint8_t Interpreter::trainability(PlaceId Module) {
  // Freezing a network freezes the layers in it.
  for (PlaceId Around = Module;; Around = Places.parent(Around)) {
    for (PlaceId Child : Places.children(Around))
      if (Places.step(Child).Of == Step::Parameters)
        if (const Value *V = S->find(Child))
          return V->History & (history::None | history::Leaf);
    if (Places.isRoot(Around))
      return history::Leaf;
  }
}

uint8_t Interpreter::moduleMode(PlaceId Module) {
  for (PlaceId Around = Module;; Around = Places.parent(Around)) {
    if (const Value *V = S->find(Around))
      if (V->Mode)
        return V->Mode;
    if (Places.isRoot(Around))
      return isFromOutside(Module) ? mode::Inherited : mode::On;
  }
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
  if (const auto *Constructor =
          dyn_cast<CXXConstructorDecl>(F->Function))
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
