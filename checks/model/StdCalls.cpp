// The standard library (and LibTorch's own containers) where tensors pass
// through it, and assignments.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

enum class Std {
  Unknown,
  /// Denotes what its argument denotes: move, forward, ref.
  Same,
  Make,
  Tuple,
  Tie,
  Get,
  /// What a pointer or an iterator leads to.
  Dereference,
  /// An iterator to the elements.
  Iterator,
  /// A reference to an element.
  Element,
  Append,
  Release,
  Clear,
  Nothing,
};

Std meaning(StringRef Name) {
  return llvm::StringSwitch<Std>(Name)
      .Cases("move", "forward", "ref", "cref", "as_const", Std::Same)
      .Cases("static_pointer_cast", "dynamic_pointer_cast", Std::Same)
      .Cases("make_shared", "make_unique", "make_intrusive", Std::Make)
      .Cases("make_tuple", "make_pair", Std::Tuple)
      .Cases("tie", "forward_as_tuple", Std::Tie)
      .Case("get", Std::Get)
      .Cases("value", "lock", Std::Dereference)
      .Cases("begin", "end", "cbegin", "cend", "rbegin", Std::Iterator)
      .Cases("rend", "find", "data", Std::Iterator)
      .Cases("next", "prev", "advance", Std::Same)
      .Cases("at", "front", "back", "top", Std::Element)
      .Cases("push_back", "emplace_back", "push_front", "emplace_front",
             Std::Append)
      .Cases("insert", "insert_or_assign", "emplace", "try_emplace",
             Std::Append)
      .Cases("push", "append", "assign", Std::Append)
      .Case("clear", Std::Clear)
      .Cases("pop_back", "pop_front", "pop", "erase", "resize", Std::Release)
      .Cases("extract", "swap", "exchange", "reset", Std::Release)
      .Cases("size", "empty", "reserve", "count", "capacity", Std::Nothing)
      .Default(Std::Unknown);
}

} // namespace

std::optional<unsigned> tupleIndex(const FunctionDecl *Callee) {
  const TemplateArgumentList *Arguments =
      Callee->getTemplateSpecializationArgs();
  if (!Arguments || Arguments->size() == 0 ||
      (*Arguments)[0].getKind() != TemplateArgument::Integral)
    return std::nullopt;
  return (*Arguments)[0].getAsIntegral().getZExtValue();
}

Denotation Interpreter::stdCall(const CallExpr *Call, const Expr *Object,
                                llvm::ArrayRef<const Expr *> Arguments) {
  Denotation Result;
  const FunctionDecl *Callee = Call->getDirectCallee();
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  OverloadedOperatorKind Op = Operator ? Operator->getOperator() : OO_None;
  StringRef Name =
      Callee && Callee->getIdentifier() ? Callee->getName() : StringRef();
  const Expr *First = Arguments.empty() ? nullptr : Arguments.front();
  Std What = meaning(Name);
  if (Op == OO_Star || Op == OO_Arrow)
    What = Std::Dereference;
  else if (Op == OO_Subscript)
    What = Std::Element;
  else if (Op == OO_PlusPlus || Op == OO_MinusMinus)
    What = Std::Same;
  visitAlgorithm(Call, Name);
  const TypeKind ObjectKind =
      Object ? torch::kindOf(Object->getType()) : TypeKind::Other;
  auto ReleaseObject = [&](const PlaceSet &Places) {
    Event E;
    E.Kind = EventKind::Release;
    E.Site = Call;
    E.Places = Places;
    emit(std::move(E));
  };

  switch (What) {
  case Std::Same: {
    const Expr *Passed = First ? First : Object;
    if (!Passed)
      return Result;
    Result = denote(Passed);
    if (Name == "move")
      ReleaseObject(Result.Objects);
    return Result;
  }
  case Std::Make: {
    PlaceId Heap = Places.root(Root::Object, F->Id, Call);
    Result.Own = Value::handle({Heap});
    Event E;
    E.Kind = EventKind::Create;
    E.Site = Call;
    E.Places = {Heap};
    const QualType Made = torch::pointee(Call->getType());
    const TypeKind Kind = torch::kindOf(Made);
    if (Graph.expansion(F, Call)) {
      // Its constructor was seen.
    } else if (Kind == TypeKind::Optimizer) {
      erase(Heap);
      constructOptimizer(Heap, Arguments);
    } else if (Kind == TypeKind::NoGradGuard) {
      enterGuard(Heap, mode::Off);
    } else if (Kind == TypeKind::Module || Kind == TypeKind::ModuleHolder) {
      erase(Heap);
    } else {
      Value V;
      for (const Expr *Argument : Arguments)
        V.join(deepValue(Argument));
      store(Heap, V);
    }
    emit(std::move(E));
    return Result;
  }
  case Std::Tuple:
  case Std::Tie: {
    PlaceId Tuple = Places.root(Root::Object, F->Id, Call);
    erase(Tuple);
    for (unsigned I = 0; I < Arguments.size(); ++I) {
      PlaceId Part = Places.index(Tuple, I);
      if (What == Std::Tie) {
        Value Referred = deepValue(Arguments[I]);
        Referred.Refs = objects(Arguments[I]);
        store(Part, Referred);
      } else
        store(Part, deepValue(Arguments[I]));
    }
    Result.Objects = {Tuple};
    return Result;
  }
  case Std::Get: {
    if (Object) {
      // A smart pointer's get().
      Result.Own = Value::handle(pointees(receiver(Object)));
      return Result;
    }
    if (!First)
      return Result;
    PlaceSet Tuples = objects(First);
    if (std::optional<unsigned> I = tupleIndex(Callee))
      for (PlaceId P : Tuples)
        insert(Result.Objects, Places.index(P, *I));
    else
      Result.Objects = Tuples;
    return Result;
  }
  case Std::Dereference: {
    if (!Object)
      return Result;
    Denotation D = denote(Object);
    PlaceSet Leads = D.Own.Refs;
    if (Leads.empty())
      Leads = pointees(receiver(Object));
    if (Call->isGLValue())
      Result.Objects = Leads;
    else
      Result.Own = Value::handle(Leads);
    return Result;
  }
  case Std::Iterator: {
    const Expr *Container = Object ? Object : First;
    if (!Container)
      return Result;
    for (PlaceId P : receiver(Container))
      insert(Result.Own.Refs, Places.element(P));
    return Result;
  }
  case Std::Element: {
    if (!Object)
      return Result;
    PlaceSet Containers = ObjectKind == TypeKind::Pointer
                              ? pointees(receiver(Object))
                              : receiver(Object);
    for (PlaceId P : Containers)
      insert(Result.Objects, Places.element(P));
    return Result;
  }
  case Std::Append:
    if (Object && ObjectKind == TypeKind::Pointer) {
      // optional::emplace: a guard that is switched on late, or a value.
      for (PlaceId P : receiver(Object)) {
        if (torch::kindOf(torch::pointee(Object->getType())) ==
            TypeKind::NoGradGuard) {
          enterGuard(P, mode::Off);
          continue;
        }
        Value V;
        for (const Expr *Argument : Arguments)
          V.join(deepValue(Argument));
        store(P, V);
      }
      return Result;
    }
    if (Object)
      append(Call, receiver(Object), Arguments);
    return Result;
  case Std::Clear:
  case Std::Release:
    if (Object) {
      PlaceSet Released = receiver(Object);
      if (ObjectKind == TypeKind::Pointer && Name == "reset") {
        // A guard that ends early; a pointer that gets another object.
        for (PlaceId P : Released) {
          restoreGuards(P);
          for (PlaceId Target : pointees({P}))
            if (Places.rootKind(Target) == Root::Object)
              restoreGuards(Target);
          if (First && Arguments.size() == 1 &&
              !isa<CXXDefaultArgExpr>(First))
            store(P, Value::handle(identity(First)));
          else
            erase(P);
        }
      } else if (What == Std::Clear) {
        for (PlaceId P : Released)
          if (!Places.isSummary(P))
            erase(P);
      }
      if (Name == "swap")
        for (const Expr *Argument : Arguments)
          insert(Released, objects(Argument));
      ReleaseObject(Released);
    } else if (Name == "swap" && Arguments.size() == 2) {
      PlaceSet A = objects(Arguments[0]), B = objects(Arguments[1]);
      Value OfA = deepValue(Arguments[0]), OfB = deepValue(Arguments[1]);
      ReleaseObject(A);
      ReleaseObject(B);
      for (PlaceId P : A)
        storeWeak(P, OfB);
      for (PlaceId P : B)
        storeWeak(P, OfA);
    } else {
      for (const Expr *Argument : Arguments)
        ReleaseObject(objects(Argument));
    }
    return Result;
  case Std::Nothing:
    return Result;
  case Std::Unknown:
    break;
  }
  if (ObjectKind == TypeKind::Callable && Op == OO_Call) {
    if (Graph.expansion(F, Call))
      return Result;
    // A callback that cannot be seen may reach all that comes from outside.
    Event E;
    E.Kind = EventKind::Escape;
    E.Site = Call;
    for (const Expr *Argument : Arguments)
      E.Result.join(deepValue(Argument));
    E.Places = outside();
    emit(std::move(E));
    Result.Own.History = history::Unknown;
    return Result;
  }
  // Anything else reads what it is given.
  if (Object)
    Result.Own.join(deepValue(Object));
  for (const Expr *Argument : Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      Result.Own.join(deepValue(Argument));
  Result.Own.Mode = 0;
  return Result;
}

void Interpreter::append(const Expr *Site, const PlaceSet &Containers,
                         llvm::ArrayRef<const Expr *> Elements) {
  Value V;
  const Expr *Operand = nullptr;
  for (const Expr *Element : Elements) {
    Value Each = deepValue(Element);
    // insert(end(), other.begin(), other.end())
    if (!torch::mayHoldTensor(Element->getType()))
      for (PlaceId P : PlaceSet(Each.Refs))
        if (!llvm::any_of(Containers, [&](PlaceId C) {
              return Places.isWithin(P, C);
            }))
          Each.join(deepLoad(P));
    if (Each.needsGrad() || (Each.History & history::Unknown))
      Operand = Element;
    V.join(Each);
  }
  storeEvent(Site, Containers, V, StoreKind::Append, Operand);
  for (PlaceId P : Containers)
    storeWeak(Places.element(P), V);
}

/// std::tie(...), or std::forward_as_tuple(...), which may hold another.
static const CallExpr *asTie(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(strip(E));
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  const bool IsTie = Callee && torch::isStd(Callee) && Callee->getIdentifier() &&
                     (Callee->getName() == "tie" ||
                      Callee->getName() == "forward_as_tuple");
  return IsTie ? Call : nullptr;
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
  E = strip(E);
  if (const auto *Copy = dyn_cast<CXXConstructExpr>(E);
      Copy && Copy->getNumArgs() == 1)
    return isAdditionTo(Copy->getArg(0), Targets, IsSummand);
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
        return !llvm::any_of(D.Objects, [&](PlaceId P) {
          return llvm::is_contained(Targets, P);
        }) && torch::isTensor(Operand->getType()) &&
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
  Index = strip(Index);
  while (const auto *Construct = dyn_cast<CXXConstructExpr>(Index)) {
    if (Construct->getNumArgs() == 0)
      break;
    Index = strip(Construct->getArg(0));
  }
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
  if (isGradient(Target.Objects))
    return clearGradients(Site, Target.Objects);
  if (Target.Objects.empty()) {
    // x[i] = y writes through a view.
    if (!Target.Own.ViewOf.empty()) {
      Value Written = V;
      Written.History =
          recorded({load(Target.Own.ViewOf).History, V.History});
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
