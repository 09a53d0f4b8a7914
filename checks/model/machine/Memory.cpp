// The state: what places hold.
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "model/domains/Transfers.h"
#include "model/machine/Machine.h"
#include "model/machine/Outside.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

bool Machine::isFromOutside(PlaceId P) {
  return model::isFromOutside(Places, Graph, P);
}

PlaceSet Machine::outside() {
  PlaceSet Result;
  for (PlaceId P : Places.all())
    if (Places.isRoot(P) && isFromOutside(P))
      insert(Result, P);
  return Result;
}

Value Machine::initial(PlaceId P) { return initialValue(*this, P); }

Value Machine::load(PlaceId P) {
  Value V = loadHeld(P);
  describeLoaded(*this, P, V);
  return V;
}

/// Elements by their number, and those of an array that are not told apart, may
/// be the same.
bool Machine::joinOverlapping(PlaceId P, Value &Result) {
  const Step Last = Places.step(P);
  bool Found = false;
  for (PlaceId Sibling : Places.children(Places.parent(P))) {
    const Step &Other = Places.step(Sibling);
    const bool Matches = Other.Of == Step::Element ||
                         (Last.Of == Step::Element && Other.Of == Step::Index);
    if (Sibling == P || !Matches)
      continue;
    if (const Value *V = Now.find(Sibling)) {
      Result.join(*V);
      Found = true;
    }
  }
  return Found;
}

/// What it takes to join V: one of many sites and objects takes more.
static unsigned weight(const Value &V) {
  return 1 + (V.Origins.size() + V.Memory.size() + V.Refs.size()) / 8;
}

Value Machine::loadHeld(PlaceId P) {
  ++Names.Work;
  if (const Value *V = Now.find(P)) {
    if (Places.isRoot(P) || (Places.step(P).Of != Step::Index &&
                             Places.step(P).Of != Step::Element))
      return *V;
    Value Result = *V;
    // A part of an element: what was stored as a whole is another element's.
    if (Places.step(P).Of == Step::Index && Places.isSummary(P))
      if (const Value *Whole = Now.find(Places.parent(P)))
        Result.join(*Whole);
    joinOverlapping(P, Result);
    return Result;
  }
  if (Places.isRoot(P))
    return initial(P);
  PlaceId Parent = Places.parent(P);
  // losses[3] of a vector whose elements are not told apart, and the reverse.
  // A copy: initial() may add places, which moves the table.
  const Step::Kind Last = Places.step(P).Of;
  if (Last == Step::Index || Last == Step::Element) {
    Value Result;
    bool Found = joinOverlapping(P, Result);
    if (const Value *Whole = Now.find(Parent)) {
      Result.join(*Whole);
      Found = true;
    }
    if (Found)
      return Result;
  }
  Value Special = initial(P);
  if (Last == Step::Parameters || Last == Step::Gradient)
    return Special;
  // A value that is kept for a whole object stands for its parts.
  for (PlaceId Around = Parent;; Around = Places.parent(Around)) {
    if (const Value *V = Now.find(Around)) {
      if (V->History || !V->Refs.empty())
        return partOf(*this, P, *V);
      break;
    }
    if (Places.isRoot(Around))
      break;
  }
  return Special;
}

Value Machine::load(const PlaceSet &Set) {
  Value Result;
  for (PlaceId P : Set) {
    const Value V = load(P);
    Names.Work += weight(V);
    Result.join(V);
  }
  return Result;
}

Value Machine::deepLoad(PlaceId P) {
  Value Result = load(P);
  llvm::SmallVector<PlaceId, 8> Work(Places.children(P).begin(),
                                     Places.children(P).end());
  while (!Work.empty()) {
    PlaceId Child = Work.pop_back_val();
    Step::Kind Kind = Places.step(Child).Of;
    if (Kind == Step::Parameters || Kind == Step::Gradient ||
        Kind == Step::Part)
      continue;
    if (const Value *V = Now.find(Child))
      Result.join(*V);
    Work.append(Places.children(Child).begin(), Places.children(Child).end());
  }
  return Result;
}

void Machine::erase(PlaceId P) {
  Now.Places.erase(P);
  for (PlaceId Child : Places.children(P))
    erase(Child);
}

/// What is known of a tuple or a structure as a whole becomes knowledge of its
/// parts, so that one part can change: std::get<0>(state).detach_().
void Machine::split(PlaceId Whole) {
  if (!Places.isRoot(Whole))
    split(Places.parent(Whole));
  if (Places.isSummary(Whole))
    return;
  const Value *Held = Now.find(Whole);
  if (Held ? !Held->History : !isFromOutside(Whole))
    return;
  llvm::SmallVector<PlaceId, 4> Parts;
  const QualType Type = Places.typeOf(Whole);
  if (Type.isNull() || Type->isReferenceType() || Type->isPointerType())
    return;
  if (const unsigned Size = torch::tupleTypes(Type).size()) {
    for (unsigned I = 0; I < Size; ++I)
      Parts.push_back(Places.index(Whole, I));
  } else if (const CXXRecordDecl *Class = torch::recordOf(Type);
             Class && torch::kindOf(Class) == TypeKind::Other &&
             !torch::isStd(Class) && !torch::isLibTorch(Class) &&
             Class->hasDefinition()) {
    for (const FieldDecl *Field : Class->fields())
      Parts.push_back(Places.field(Whole, Field));
  }
  if (Parts.empty())
    return;
  for (PlaceId Part : Parts)
    if (Part != Whole && !Now.find(Part)) {
      Value V = load(Part);
      Now.Places[Part] = std::move(V);
    }
  Value &Rest = Now.Places[Whole];
  const uint8_t Mode = Rest.Mode;
  Rest = Value();
  Rest.Mode = Mode;
}

void Machine::store(PlaceId P, const Value &V) {
  if (Places.isSummary(P)) {
    storeWeak(P, V);
    return;
  }
  if (!Places.isRoot(P))
    split(Places.parent(P));
  erase(P);
  Now.Places[P] = V;
}

void Machine::storeWeak(PlaceId P, const Value &V) {
  Names.Work += weight(V);
  auto It = Now.Places.find(P);
  if (It != Now.Places.end()) {
    It->second.join(V);
    return;
  }
  Value Before = isFromOutside(P) ? load(P) : Value();
  Before.join(V);
  Now.Places[P] = std::move(Before);
}

/// What lies at From is also at To; what points into From points into To there.
void Machine::copy(PlaceId From, PlaceId To) {
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
  QualType Type;
  if (Places.isRoot(From)) {
    if (const VarDecl *V = Places.variable(From))
      Type = V->getType();
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
       (Kind == TypeKind::Pointer && !torch::isOptional(Type)) ||
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
  // auto g = w.grad();
  if (isGradient({From}) && Top.Refs.empty())
    Top.Refs = {From};
  if (!Now.find(To) || Places.isSummary(To))
    storeWeak(To, Translate(Top));
  else
    Now.Places[To].join(Translate(Top));
  llvm::SmallVector<PlaceId, 8> Children(Places.children(From).begin(),
                                         Places.children(From).end());
  for (PlaceId Child : Children) {
    if (!Now.find(Child) && Places.children(Child).empty())
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
      if (const Value *V = Now.find(A))
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

void Machine::storeDenoted(PlaceId P, const Denotation &D) {
  if (D.Objects.empty())
    return store(P, D.Own);
  for (PlaceId Object : D.Objects)
    copy(Object, P);
  joinChosen(P, D.Own);
}

void Machine::joinChosen(PlaceId P, const Value &Own) {
  auto It = Now.Places.find(P);
  if (It == Now.Places.end())
    return;
  It->second.joinDevice(Own);
  if (Own.History)
    It->second.Scaling::join(Own);
}

void Machine::discardHistory(PlaceId P, bool Deep) {
  auto It = Now.Places.find(P);
  if (It != Now.Places.end() && It->second.History) {
    It->second.detach();
    It->second.forgetNeeds();
  }
  if (Deep)
    for (PlaceId Child : Places.children(P))
      discardHistory(Child, true);
}

void Machine::forEachWithin(PlaceId P, llvm::function_ref<void(Value &)> Do) {
  llvm::SmallVector<PlaceId, 8> Work = {P};
  while (!Work.empty()) {
    const PlaceId Next = Work.pop_back_val();
    auto It = Now.Places.find(Next);
    if (It != Now.Places.end())
      Do(It->second);
    Work.append(Places.children(Next).begin(), Places.children(Next).end());
  }
}

} // namespace torchtidy::model
