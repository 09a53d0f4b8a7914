// Assignments, and what else keeps a value: containers, std::tie.
#include "model/Interpreter.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

void Interpreter::append(const Expr *Site, const PlaceSet &Containers,
                         llvm::ArrayRef<const Expr *> Elements) {
  Value V;
  const Expr *Operand = nullptr;
  for (const Expr *Element : Elements) {
    shareHandle(Element);
    Value Each = deepValue(Element);
    // insert(end(), other.begin(), other.end())
    if (!torch::mayHoldTensor(Element->getType()))
      for (PlaceId P : PlaceSet(Each.Refs))
        if (!llvm::any_of(Containers,
                          [&](PlaceId C) { return Places.isWithin(P, C); }))
          Each.join(deepLoad(P));
    if (Each.needsGrad() || (Each.History & history::Unknown))
      Operand = Element;
    V.join(Each);
  }
  storeEvent(Site, Containers, V, StoreKind::Append, Operand);
  for (PlaceId P : Containers)
    storeWeak(Places.element(P), V);
  if (Elements.size() == 1)
    fill(Site, Containers, Elements.front(), /*IsAppended=*/true);
}

void Interpreter::fill(const Expr *Site, const PlaceSet &Containers,
                       const Expr *Element, bool IsAppended) {
  if (!Record || !torch::mayHoldTensor(Element->getType()))
    return;
  Event E;
  E.Kind = EventKind::Fill;
  E.Site = Site;
  E.Places = Containers;
  E.Result = deepValue(Element);
  E.Operand = Element;
  E.How = IsAppended ? StoreKind::Append : StoreKind::Rebind;
  emit(std::move(E));
}

const CallExpr *asTie(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(strip(E));
  const StringRef Name =
      Call ? torch::stdName(Call->getDirectCallee()) : StringRef();
  return Name == "tie" || Name == "forward_as_tuple" ? Call : nullptr;
}

/// std::tie(a, b) = pair. Each variable is a store of its own.
void Interpreter::scatter(const Expr *Site, const CallExpr *Tie,
                          const Expr *From, const Denotation &Source) {
  for (unsigned I = 0; I < Tie->getNumArgs(); ++I)
    if (const CallExpr *Inner = asTie(Tie->getArg(I))) {
      Denotation Part;
      Part.Own = Source.Own;
      for (PlaceId P : Source.Objects)
        insert(Part.Objects, Places.index(P, I));
      scatter(Site, Inner, From, Part);
    }
  for (PlaceId Tuple : denote(Tie).Objects) {
    // Looking at the source makes places: the list may move.
    const llvm::SmallVector<PlaceId, 8> Parts(Places.children(Tuple).begin(),
                                              Places.children(Tuple).end());
    for (PlaceId Part : Parts) {
      if (Places.step(Part).Of != Step::Index)
        continue;
      const Value *Target = S->find(Part);
      if (!Target)
        continue;
      Value V = Source.Own;
      for (PlaceId P : Source.Objects)
        V.join(deepLoad(Places.index(P, Places.step(Part).Number)));
      for (PlaceId P : PlaceSet(Target->Refs)) {
        Value Stored = V;
        const unsigned Number = Places.step(Part).Number;
        if (Number < Tie->getNumArgs() && asTie(Tie->getArg(Number)))
          continue;
        storeEvent(Site, {P}, Stored, StoreKind::Rebind, From,
                   Number < Tie->getNumArgs() ? Tie->getArg(Number) : From);
        store(P, Stored);
      }
    }
  }
}

bool Interpreter::isAdditionTo(const Expr *E, const PlaceSet &Targets,
                               bool IsSummand) {
  E = stripCopies(E);
  // t.defined() ? cat({t, x}) : x
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
    return isAdditionTo(Choice->getTrueExpr(), Targets, IsSummand) ||
           isAdditionTo(Choice->getFalseExpr(), Targets, IsSummand);
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return false;
  torch::Call Kind = torch::classify(Call);
  if (Kind.Kind != Api::Operation || !Kind.Op)
    return false;
  StringRef Name = Kind.Op->Name;
  const bool Scales = Name == "mul" || Name == "div";
  const bool Joins = Name == "cat" || Name == "stack" || Name == "concat" ||
                     Name == "hstack" || Name == "vstack";
  if (!Joins && Name != "add" && Name != "sub" && !(Scales && IsSummand))
    return false;
  llvm::SmallVector<const Expr *, 4> Operands = argumentsOf(Call);
  if (const Expr *Object = objectOf(Call))
    Operands.push_back(Object);
  // A gate, z * h + (1 - z) * n, is no average: it has a gradient.
  if (Scales && llvm::any_of(Operands, [&](const Expr *Operand) {
        const Denotation D = denote(Operand);
        return !llvm::any_of(
                   D.Objects,
                   [&](PlaceId P) { return llvm::is_contained(Targets, P); }) &&
               torch::isTensor(Operand->getType()) &&
               deepValue(Operand).needsGrad();
      }))
    return false;
  auto Mentions = [&](const Expr *Operand) {
    Denotation D = denote(Operand);
    for (PlaceId P : D.Objects)
      if (llvm::is_contained(Targets, P))
        return true;
    return false;
  };
  for (const Expr *Operand : Operands) {
    if (Mentions(Operand))
      return true;
    // (total + a) + b; cat({total, x}).
    if (isa<CallExpr>(strip(Operand)) && isAdditionTo(Operand, Targets, true))
      return true;
    if (!Joins)
      continue;
    llvm::SmallVector<const Stmt *, 8> Work = {strip(Operand)};
    while (!Work.empty()) {
      const Stmt *Next = Work.pop_back_val();
      if (!Next)
        continue;
      if (const auto *Inner = dyn_cast<Expr>(Next);
          Inner && isa<DeclRefExpr, MemberExpr>(Inner) && Mentions(Inner))
        return true;
      if (!isa<CallExpr>(Next))
        Work.append(Next->child_begin(), Next->child_end());
    }
  }
  return false;
}

/// An element at an index that differs between iterations, so that the store
/// makes the container hold more.
static bool isVaryingElement(const Expr *To) {
  To = strip(To);
  const Expr *Index = nullptr;
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(To))
    Index = Subscript->getIdx();
  else if (const auto *Call = dyn_cast<CallExpr>(To)) {
    if (!objectOf(Call) || argumentsOf(Call).empty() ||
        torch::isTensor(objectOf(Call)->getType()))
      return false;
    Index = argumentsOf(Call).front();
  }
  if (!Index)
    return false;
  Index = stripCopies(Index);
  // ring[i % 8] comes back to the elements it has.
  if (const auto *Binary = dyn_cast<BinaryOperator>(Index))
    if (Binary->getOpcode() == BO_Rem)
      return false;
  return !isa<IntegerLiteral, StringLiteral>(Index);
}

void Interpreter::assign(const Expr *Site, const Expr *To, const Expr *From) {
  Denotation Target = denote(To);
  if (const CallExpr *Tie = asTie(To))
    return scatter(Site, Tie, From, denote(From));
  Denotation Source = denote(From);
  Value V = deepValue(From);
  if (isa<CallExpr>(strip(From)) && strip(From)->isGLValue()) {
    Source.Own.Loans.clear();
    Source.Own.Dangling.clear();
  }
  reassign(Site, To, From, Target.Objects);
  if (isGradient(Target.Objects))
    return clearGradients(Site, Target.Objects);
  if (Target.Objects.empty()) {
    // x[i] = y writes through a view.
    if (!Target.Own.ViewOf.empty()) {
      Value Written = V;
      Written.History = recorded({load(Target.Own.ViewOf).History, V.History});
      writeEvent(Site, To, Written);
      writeInPlace(Site, To, Written, false, From);
    }
    return;
  }
  StoreKind How = isAdditionTo(From, Target.Objects) ? StoreKind::Accumulate
                  : isVaryingElement(To)             ? StoreKind::Append
                                                     : StoreKind::Rebind;
  PlaceSet Into = Target.Objects;
  if (How == StoreKind::Append) {
    // The container is what grows.
    Into.clear();
    for (PlaceId P : Target.Objects)
      insert(Into, Places.isRoot(P) ? P : Places.parent(P));
  }
  const bool IsHandle = !torch::isTensor(To->getType()) &&
                        (To->getType()->isPointerType() ||
                         (torch::kindOf(To->getType()) == TypeKind::Pointer &&
                          !torch::isOptional(To->getType())) ||
                         torch::isModule(To->getType()));
  replaceEvent(Site, To, Target.Objects, From, V);
  if (!IsHandle || How == StoreKind::Append)
    storeEvent(Site, Into, V, How, From);
  if (const auto *Call = dyn_cast<CallExpr>(strip(From))) {
    Api Kind = torch::classify(Call).Kind;
    if (Kind == Api::Load || Kind == Api::Freeze) {
      Event E;
      E.Kind = EventKind::Load;
      E.Site = Call;
      E.Places = Target.Objects;
      if (Kind == Api::Load)
        emit(std::move(E));
    }
  }
  for (PlaceId P : Target.Objects) {
    const bool IsWhole = Target.Objects.size() == 1 && !Places.isSummary(P);
    if (IsWhole) {
      if (!Places.isRoot(P))
        split(Places.parent(P));
      erase(P);
    }
    if (Source.Objects.empty() || How != StoreKind::Rebind) {
      Value Stored = Source.Objects.empty() ? Source.Own : V;
      for (OriginId Id : V.Origins)
        Stored.addOrigin(Id);
      if (IsWhole)
        S->Places[P] = std::move(Stored);
      else
        storeWeak(P, Stored);
      continue;
    }
    for (PlaceId Object : Source.Objects)
      copy(Object, P);
    // The value as stored, and each part of it, carries where it was stored.
    llvm::SmallVector<PlaceId, 8> Work = {P};
    while (!Work.empty()) {
      const PlaceId Part = Work.pop_back_val();
      auto It = S->Places.find(Part);
      if (It != S->Places.end() &&
          (It->second.History & (history::Graph | history::Unknown)))
        for (OriginId Id : V.Origins)
          It->second.addOrigin(Id);
      Work.append(Places.children(Part).begin(), Places.children(Part).end());
    }
  }
}

} // namespace torchtidy::model
