// The state: what places hold.
#include "model/Interpreter.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

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

/// A tensor of a layer that is no parameter: statistics, the weights of a loss.
static bool isBuffer(const FieldDecl *Member) {
  const StringRef Name = Member->getName();
  return Name.starts_with("running_") || Name == "num_batches_tracked" ||
         torch::parametersOf(cast<CXXRecordDecl>(Member->getParent())) ==
             torch::Parameters::None;
}

Value Interpreter::initial(PlaceId P) {
  Value Result;
  const Step &Last = Places.step(P);
  if (!Places.isRoot(P) && Last.Of == Step::Field) {
    const auto *Record = dyn_cast<CXXRecordDecl>(Last.Member->getParent());
    if (Record && torch::isLibTorch(Record)) {
      // A batch of a data loader; a weight of a layer.
      if (torch::kindOf(Record) == TypeKind::Module && !isBuffer(Last.Member))
        Result.History = trainability(Places.parent(P));
      else
        Result.History = history::None;
      Result.Registered = initiallyRegistered(P);
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
  Result.Registered = initiallyRegistered(P);
  if (isFromOutside(P)) {
    Result.History = history::Unknown;
    for (std::optional<OriginId> From : {entryOrigin(P), memberOrigin(P)})
      if (From)
        Result.addOrigin(*From);
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

/// So that it can be told who reads a member, whatever object it is in.
std::optional<OriginId> Interpreter::memberOrigin(PlaceId P) {
  PlaceId Holder = P;
  while (!Places.isRoot(Holder) && Places.step(Holder).Of != Step::Field)
    Holder = Places.parent(Holder);
  if (Places.isRoot(Holder))
    return std::nullopt;
  const QualType Type = Places.step(Holder).Member->getType();
  if (torch::isModule(Type) || !torch::mayHoldTensor(Type))
    return std::nullopt;
  auto [It, Inserted] = MemberIds.try_emplace(Holder, Origins.size());
  if (Inserted)
    Origins.push_back({Origin::Member, &Graph.root(), nullptr, Holder});
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
      Part.Registered = Special.Registered;
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
  // A list in code with errors has holes, and so has a template that nothing
  // instantiates.
  if (!E || E->getType().isNull())
    return Value();
  Denotation D = denote(E);
  Value Result = D.Own;
  // What a reference leads to, not the reference.
  if (isa<CallExpr>(strip(E)) && strip(E)->isGLValue()) {
    Result.Loans.clear();
    Result.Dangling.clear();
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
  // float *first = array;
  const QualType ToType = Places.typeOf(To), FromType = Places.typeOf(From);
  if (!ToType.isNull() && ToType->isPointerType() && !FromType.isNull() &&
      FromType->isArrayType()) {
    storeWeak(To, Value::handle({From}));
    return;
  }
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
  } else if (const QualType Element = Places.typeOf(From);
             !Element.isNull() && Element->isPointerType()) {
    // Agent *agent = agents[i];
    Type = Element;
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

} // namespace torchtidy::model
