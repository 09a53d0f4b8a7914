// Calls and constructions: which part of the interpreter they belong to, and
// what code that cannot be seen may do.
#include "model/Interpreter.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

uint8_t Interpreter::recorded(llvm::ArrayRef<uint8_t> Operands) const {
  uint8_t Result = 0, Any = 0;
  bool AllMayBeNone = true;
  for (uint8_t Bits : Operands) {
    Any |= Bits;
    AllMayBeNone &= Bits == 0 || (Bits & history::None);
  }
  if (AllMayBeNone || (S->GradMode & mode::Off))
    Result |= history::None;
  // A caller that lies elsewhere has most likely left grad mode at its default.
  if (S->GradMode & (mode::On | mode::Inherited)) {
    if (Any & (history::Leaf | history::Graph))
      Result |= history::Graph;
    if (Any & history::Unknown)
      Result |= history::Unknown;
  }
  return Result;
}

void Interpreter::finish(const Expr *E, Denotation D) {
  if (const auto *Call = dyn_cast<CallExpr>(E))
    lendOfObject(Call, D.Own);
  if (!torch::mayBorrow(E->getType())) {
    D.Own.Loans.clear();
    D.Own.Dangling.clear();
  }
  if (torch::isTensorOptions(E->getType()) && D.Objects.empty())
    D.Own.Scalar = scalarOfOptions(E, D.Own);
  remember(E, std::move(D));
}

/// What an expanded call returns comes from operations that it has recorded,
/// not from what it was given alone.
bool Interpreter::recordsIn(const Denotation &Returned,
                            const Frame *Expansion) {
  Value V = Returned.Own;
  for (PlaceId P : Returned.Objects)
    V.join(deepLoad(P));
  return V.ManyOrigins || llvm::any_of(V.Origins, [&](OriginId Id) {
           const Origin &From = Origins[Id];
           return From.isBuilder() && From.In->isWithin(Expansion);
         });
}

void Interpreter::visitCall(const CallExpr *Call) {
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
  if (Operator && Operator->getOperator() == OO_Equal &&
      Operator->getNumArgs() == 2) {
    assign(Call, Operator->getArg(0), Operator->getArg(1));
    return finish(Call, denote(Operator->getArg(0)));
  }
  const Expr *Object = objectOf(Call);
  llvm::SmallVector<const Expr *, 4> Arguments = argumentsOf(Call);
  const FunctionDecl *Callee = Call->getDirectCallee();
  const Frame *Expansion = Graph.expansion(F, Call);
  std::optional<Denotation> Expanded;
  if (Expansion && !Expansion->IsThread && !Expansion->Range &&
      !Expansion->Function->getReturnType()->isVoidType() &&
      !isa<CXXConstructorDecl>(Expansion->Function)) {
    Expanded.emplace();
    PlaceId Result = returned(Expansion);
    if (Expansion->Function->getReturnType()->isReferenceType()) {
      if (const Value *Held = S->find(Result))
        Expanded->Objects = Held->Refs;
    } else {
      Expanded->Objects = {Result};
    }
  }
  const torch::Call Kind = torch::classify(Call);
  if (Record && hasLoans() && !Expansion)
    touchOperands(Call, Kind, Object, Arguments);
  switch (Kind.Kind) {
  case Api::ModuleForward:
    return finish(Call, forward(Call, Object, Arguments, Expanded));
  case Api::Std:
    return finish(Call,
                  Expanded ? *Expanded : stdCall(Call, Object, Arguments));
  case Api::Foreign: {
    if (!Expansion)
      return finish(Call, foreignCall(Call, Callee, Object, Arguments));
    // A method of the user's network other than forward() runs it all the same.
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    if (Expanded && Method && Object &&
        !isa<CXXThisExpr>(Object->IgnoreParenImpCasts()) &&
        torch::kindOf(Method->getParent()) == TypeKind::Module &&
        torch::mayHoldTensor(Call->getType()) &&
        !torch::isModule(Call->getType()) && recordsIn(*Expanded, Expansion))
      return finish(Call, forward(Call, Object, Arguments, Expanded));
    return finish(Call, Expanded ? *Expanded : Denotation());
  }
  case Api::Operation:
    return finish(Call, operation(Call, Kind.Op, Object, Arguments));
  default:
    return finish(Call, torchCall(Call, Kind, Object, Arguments));
  }
}

void Interpreter::visitConstruct(const CXXConstructExpr *Construct) {
  const CXXConstructorDecl *Constructor = Construct->getConstructor();
  const CXXRecordDecl *Record = Constructor->getParent();
  const TypeKind Kind = torch::kindOf(Record);
  bool IsTemporary = false;
  PlaceSet Target = constructionTarget(Construct, IsTemporary);
  llvm::SmallVector<const Expr *, 4> Arguments(Construct->arg_begin(),
                                               Construct->arg_end());
  Denotation D;
  auto Create = [&] {
    Event E;
    E.Kind = EventKind::Create;
    E.Site = Construct;
    E.Places = Target;
    emit(std::move(E));
    D.Objects = Target;
  };
  auto Clear = [&] {
    for (PlaceId P : Target)
      erase(P);
  };

  if (Constructor->isMoveConstructor() && !Arguments.empty())
    giveUp(denote(Arguments.front()).Objects);
  if (const Frame *Expansion = Graph.expansion(F, Construct);
      Expansion && isa<CXXConstructorDecl>(Expansion->Function)) {
    Create();
    if (torch::isModule(Construct->getType()))
      for (PlaceId P : Target)
        markFresh(P);
    return finish(Construct, std::move(D));
  }
  if (Kind == TypeKind::NoGradGuard || Kind == TypeKind::GradModeGuard) {
    const bool IsInference =
        Record->getIdentifier() && Record->getName() == "InferenceMode";
    // A guard that is a temporary of its own guards nothing.
    if (!IsTemporary && !Constructor->isCopyOrMoveConstructor()) {
      bool IsKnown = true;
      const Expr *First = Arguments.empty() ? nullptr : Arguments.front();
      uint8_t Mode;
      if (Kind == TypeKind::NoGradGuard) {
        bool Enabled = literalBool(First, true, IsKnown);
        Mode = !IsKnown ? mode::On | mode::Off : Enabled ? mode::Off : mode::On;
      } else {
        bool Enabled = literalBool(First, true, IsKnown);
        Mode = !IsKnown || !First ? mode::On | mode::Off
               : Enabled          ? mode::On
                                  : mode::Off;
      }
      if (IsInference && Mode == mode::Off)
        Mode |= mode::Inference;
      for (PlaceId P : Target)
        enterGuard(P, Mode, IsInference);
    }
    D.Objects = Target;
    return finish(Construct, std::move(D));
  }
  if (Constructor->isCopyOrMoveConstructor() && !Arguments.empty()) {
    Denotation Source = denote(Arguments.front());
    shareHandle(Arguments.front());
    // A copy of what a reference leads to.
    if (isa<CallExpr>(strip(Arguments.front())) &&
        strip(Arguments.front())->isGLValue()) {
      Source.Own.Loans.clear();
      Source.Own.Dangling.clear();
    }
    if (IsTemporary)
      return finish(Construct, std::move(Source));
    Clear();
    for (PlaceId To : Target) {
      for (PlaceId From : Source.Objects)
        copy(From, To);
      if (Source.Objects.empty())
        store(To, Source.Own);
    }
    D.Objects = Target;
    return finish(Construct, std::move(D));
  }
  if (Kind == TypeKind::Optimizer) {
    Clear();
    for (PlaceId P : Target)
      constructOptimizer(Construct, P, Arguments);
    Create();
    return finish(Construct, std::move(D));
  }
  if (Kind == TypeKind::Module || Kind == TypeKind::ModuleHolder ||
      Kind == TypeKind::ScriptModule) {
    Clear();
    // A holder made from a pointer shares its module.
    if (Kind == TypeKind::ModuleHolder && Arguments.size() == 1 &&
        torch::moduleClass(Arguments.front()->getType())) {
      // One that nothing is known of (register_module returns what it was
      // given) is the holder's own.
      const Denotation Shared = denote(Arguments.front());
      if (!Shared.Objects.empty() || !Shared.Own.Refs.empty())
        for (PlaceId P : Target)
          store(P, Value::handle(identity(Arguments.front())));
      uint8_t Known = Shared.Own.Registered;
      for (const PlaceSet *Set : {&Shared.Objects, &Shared.Own.Refs})
        Known |= load(*Set).Registered;
      for (PlaceId P : Target)
        S->Places[P].Registered = Known;
    } else if (Arguments.empty() ||
               !Arguments.front()->getType()->isNullPtrType()) {
      for (PlaceId P : Target)
        markFresh(P);
    }
    Create();
    return finish(Construct, std::move(D));
  }
  if (Kind == TypeKind::Pointer) {
    Value V;
    for (const Expr *Argument : Arguments) {
      Denotation Source = denote(Argument);
      V.join(Source.Own);
      if (torch::kindOf(Argument->getType()) == TypeKind::Pointer)
        insert(V.Refs, pointees(Source.Objects));
      else
        for (PlaceId P : Source.Objects)
          V.join(deepLoad(P));
    }
    D.Own = std::move(V);
  } else if (Kind == TypeKind::Aggregate && Arguments.size() > 1) {
    Clear();
    for (PlaceId P : Target)
      for (unsigned I = 0; I < Arguments.size(); ++I)
        store(Places.index(P, I), deepValue(Arguments[I]));
    D.Objects = Target;
    return finish(Construct, std::move(D));
  } else if (Kind == TypeKind::Tensor && Arguments.empty()) {
    D.Own = Value::withHistory(history::None);
  } else if (!torch::isStd(Record) && !torch::isLibTorch(Record) &&
             Constructor->isUserProvided() && Kind == TypeKind::Other &&
             !Record->isLambda()) {
    D = foreignCall(Construct, Constructor, nullptr, Arguments);
  } else {
    for (const Expr *Argument : Arguments)
      D.Own.join(deepValue(Argument));
    if (!torch::mayBorrow(Construct->getType())) {
      D.Own.Loans.clear();
      D.Own.Dangling.clear();
    }
    lendToList(Construct, D.Own, IsTemporary);
    // vector(n, t)
    if (Kind == TypeKind::Container && Arguments.size() >= 2 &&
        Arguments[0]->getType()->isIntegerType())
      fill(Construct, Target, Arguments[1], /*IsAppended=*/false);
  }
  if (IsTemporary && Kind != TypeKind::Pointer)
    Temporaries.insert(Target.begin(), Target.end());
  if (!IsTemporary) {
    Clear();
    for (PlaceId P : Target)
      store(P, D.Own);
    D.Own = Value();
    D.Objects = Target;
  }
  finish(Construct, std::move(D));
}

void Interpreter::constructOptimizer(const Expr *Site, PlaceId P,
                                     llvm::ArrayRef<const Expr *> Arguments) {
  if (Arguments.empty())
    return;
  train(Site, {P}, Arguments.front());
  Value Trained;
  Trained.History = history::Leaf;
  Trained.Refs = deepValue(Arguments.front()).Refs;
  if (!Trained.Refs.empty())
    S->Places[Places.parameters(P)] = std::move(Trained);
}

Denotation Interpreter::foreignCall(const Expr *Call,
                                    const FunctionDecl *Callee,
                                    const Expr *Object,
                                    llvm::ArrayRef<const Expr *> Arguments) {
  Denotation Result;
  shareArguments(Callee, Object, Arguments);
  // Seen, and known to have nothing to do with tensors.
  if (const FunctionDecl *Definition = Program.functions().definition(Callee))
    if (!Program.concernsTorch(Definition))
      return Result;
  Event Out;
  Out.Kind = EventKind::Escape;
  Out.Site = Call;
  auto GiveAway = [&](const PlaceSet &Reachable) {
    insert(Out.Places, Reachable);
    for (PlaceId P : Reachable) {
      llvm::SmallVector<PlaceId, 8> Work = {P};
      while (!Work.empty()) {
        PlaceId Next = Work.pop_back_val();
        auto It = S->Places.find(Next);
        if (It != S->Places.end() && It->second.History)
          It->second.History |= history::Unknown;
        Work.append(Places.children(Next).begin(), Places.children(Next).end());
      }
    }
  };
  bool Concerns = false;
  for (unsigned I = 0; I < Arguments.size(); ++I) {
    const Expr *Argument = Arguments[I];
    if (!torch::mayHoldTensor(Argument->getType()))
      continue;
    Concerns = true;
    Out.Result.join(deepValue(Argument));
    QualType Parameter = Callee && I < Callee->getNumParams()
                             ? Callee->getParamDecl(I)->getType()
                             : QualType();
    TypeKind Kind = torch::kindOf(Argument->getType());
    bool IsHandle = Kind == TypeKind::Pointer ||
                    Kind == TypeKind::ModuleHolder ||
                    Argument->getType()->isPointerType();
    bool IsWritable =
        Parameter.isNull() || (Parameter->isReferenceType() &&
                               !Parameter->getPointeeType().isConstQualified());
    if (IsHandle || Kind == TypeKind::Module || Kind == TypeKind::Optimizer ||
        Kind == TypeKind::ScriptModule)
      GiveAway(identity(Argument));
    else if (IsWritable)
      GiveAway(objects(Argument));
  }
  if (Object && torch::mayHoldTensor(Object->getType())) {
    Concerns = true;
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
    PlaceSet Self = pointees(receiver(Object));
    if (!Method || !Method->isConst())
      GiveAway(Self);
    for (PlaceId P : Self)
      Out.Result.join(deepLoad(P));
  }
  QualType Type = Call->getType();
  if (torch::mayHoldTensor(Type)) {
    Result.Own.History = history::Unknown;
    for (OriginId Id : Out.Result.Origins)
      Result.Own.addOrigin(Id);
    Result.Own.ManyOrigins |= Out.Result.ManyOrigins;
  }
  if (Concerns)
    emit(std::move(Out));
  return Result;
}

} // namespace torchtidy::model
