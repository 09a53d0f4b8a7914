// The standard library (and LibTorch's own containers) where tensors pass
// through it.
#include "flow/Names.h"
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
  /// Several elements become one object: std::fill, std::array::fill.
  Fill,
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
      .Cases("fill", "fill_n", Std::Fill)
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
  StringRef Name = flow::nameOf(Callee);
  const Expr *First = Arguments.empty() ? nullptr : Arguments.front();
  Std What = meaning(Name);
  if (Op == OO_Star || Op == OO_Arrow)
    What = Std::Dereference;
  else if (Op == OO_Subscript)
    What = Std::Element;
  else if (Op == OO_PlusPlus || Op == OO_MinusMinus)
    What = Std::Same;
  visitAlgorithm(Call, Name);
  if (Object && Object->isLValue())
    reallocate(Call, receiver(Object), Name);
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
    if (Name == "move" || Name == "forward")
      giveUp(Result.Objects);
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
      constructOptimizer(Call, Heap, Arguments);
    } else if (Kind == TypeKind::NoGradGuard) {
      enterGuard(Heap, mode::Off);
    } else if (Kind == TypeKind::Module || Kind == TypeKind::ModuleHolder) {
      erase(Heap);
      markFresh(Heap);
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
      shareHandle(Arguments[I]);
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
    if (Object) {
      append(Call, receiver(Object), Arguments);
      // assign(n, t), insert(position, n, t)
      if (Arguments.size() >= 2 &&
          Arguments[Arguments.size() - 2]->getType()->isIntegerType())
        fill(Call, receiver(Object), Arguments.back(), /*IsAppended=*/false);
    }
    return Result;
  case Std::Fill: {
    if (Arguments.empty())
      return Result;
    PlaceSet Elements;
    if (Object)
      for (PlaceId P : receiver(Object))
        insert(Elements, Places.element(P));
    else
      Elements = denote(First).Own.Refs;
    const Value V = deepValue(Arguments.back());
    for (PlaceId P : Elements)
      storeWeak(P, V);
    PlaceSet Containers;
    for (PlaceId P : Elements)
      insert(Containers, Places.isRoot(P) ? P : Places.parent(P));
    fill(Call, Containers, Arguments.back(), /*IsAppended=*/false);
    return Result;
  }
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
          if (First && Arguments.size() == 1 && !isa<CXXDefaultArgExpr>(First))
            store(P, Value::handle(identity(First)));
          else
            erase(P);
        }
      } else if (What == Std::Clear) {
        for (PlaceId P : Released)
          if (!Places.isSummary(P))
            erase(P);
      }
      // resize(n, t)
      if (Name == "resize" && Arguments.size() == 2 &&
          torch::mayHoldTensor(Arguments[1]->getType())) {
        const Value V = deepValue(Arguments[1]);
        for (PlaceId P : Released)
          storeWeak(Places.element(P), V);
        fill(Call, Released, Arguments[1], /*IsAppended=*/false);
      }
      if (Name == "swap")
        for (const Expr *Argument : Arguments)
          insert(Released, objects(Argument));
      if (Name == "swap" || Name == "extract")
        giveUp(Released);
      ReleaseObject(Released);
    } else if (Name == "swap" && Arguments.size() == 2) {
      PlaceSet A = objects(Arguments[0]), B = objects(Arguments[1]);
      giveUp(A);
      giveUp(B);
      Value OfA = deepValue(Arguments[0]), OfB = deepValue(Arguments[1]);
      ReleaseObject(A);
      ReleaseObject(B);
      for (PlaceId P : A)
        storeWeak(P, OfB);
      for (PlaceId P : B)
        storeWeak(P, OfA);
    } else {
      for (const Expr *Argument : Arguments) {
        giveUp(objects(Argument));
        ReleaseObject(objects(Argument));
      }
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
  if (Object && Name == "release")
    giveUp(receiver(Object));
  // A thread that runs on without its owner.
  if (Object && Name == "detach" && ObjectKind == TypeKind::Thread)
    keepInBackground(deepValue(Object));
  // Anything else reads what it is given.
  if (Object)
    Result.Own.join(deepValue(Object));
  for (const Expr *Argument : Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      Result.Own.join(deepValue(Argument));
  Result.Own.Mode = 0;
  return Result;
}

} // namespace torchtidy::model
