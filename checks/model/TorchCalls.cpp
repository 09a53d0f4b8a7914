// The meaning of LibTorch's calls other than tensor operations: modules,
// optimizers, autograd.
#include "flow/Names.h"
#include "model/Interpreter.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

/// A slot that is registered without a tensor in it is filled by hand.
static uint8_t registrationOf(const Expr *What) {
  const Expr *E = stripCopies(What);
  const auto *List = dyn_cast_or_null<InitListExpr>(E);
  const auto *Construct = dyn_cast_or_null<CXXConstructExpr>(E);
  const bool IsEmpty = (List && List->getNumInits() == 0) ||
                       (Construct && Construct->getNumArgs() == 0);
  return IsEmpty ? registered::Yes | registered::No : uint8_t(registered::Yes);
}

Denotation Interpreter::forward(const CallExpr *Call, const Expr *Object,
                                llvm::ArrayRef<const Expr *> Arguments,
                                std::optional<Denotation> Expanded) {
  Denotation Result;
  PlaceSet Modules = Object ? identity(Object) : PlaceSet();
  const CXXRecordDecl *Class =
      Object ? torch::moduleClass(Object->getType()) : nullptr;

  llvm::SmallVector<uint8_t, 4> Histories;
  Value V, Input;
  for (const Expr *Argument : Arguments) {
    Value Passed = deepValue(Argument);
    if (torch::mayHoldTensor(Argument->getType()))
      Histories.push_back(Passed.History);
    for (OriginId Id : Passed.Origins)
      V.addOrigin(Id);
    V.ManyOrigins |= Passed.ManyOrigins;
    V.OnDevice.join(Passed.OnDevice);
    // A Flatten, or a forward() that returns what it is given.
    insert(V.Memory, Passed.Memory);
    insert(V.Saved, Passed.Memory);
    insert(V.Saved, Passed.Saved);
    insert(V.DecidedBy, Passed.DecidedBy);
    Input.join(Passed);
  }
  const bool HasParameters =
      torch::parametersOf(Class) != torch::Parameters::None;
  if (HasParameters) {
    uint8_t Trainable = 0;
    for (PlaceId Module : Modules)
      Trainable |= trainability(Module);
    Histories.push_back(Trainable ? Trainable : uint8_t(history::Leaf));
  }
  if (Expanded) {
    // The body was seen: it knows better than its class.
    Value Computed;
    for (PlaceId P : Expanded->Objects)
      Computed.join(deepLoad(P));
    V.History = Computed.History;
    // It returns a member that its holder has made unseen.
    if (!V.History)
      V.History = history::Unknown;
    for (OriginId Id : Computed.Origins)
      V.addOrigin(Id);
  } else {
    V.History = recorded(Histories);
  }
  if (!HasParameters) {
    // A loss or an activation: an operation like any other.
    if (!V.mayHaveHistory())
      V.forgetGraph();
    if (Expanded)
      return *Expanded;
    Result.Own = std::move(V);
    return Result;
  }
  const OriginId Here = origin(Origin::Forward, Call);
  if (V.mayHaveHistory())
    V.addOrigin(Here);
  else
    V.forgetGraph();

  Event E;
  E.Kind = EventKind::Forward;
  E.Site = Call;
  E.Places = Modules;
  E.Result = V;
  E.Input = std::move(Input);
  E.Origin = Here;
  for (PlaceId Module : Modules)
    E.Mode |= moduleMode(Module);
  emit(std::move(E));

  if (!Expanded) {
    Result.Own = std::move(V);
    return Result;
  }
  for (PlaceId P : Expanded->Objects) {
    if (!deepLoad(P).History)
      storeWeak(P, Value::withHistory(history::Unknown));
    llvm::SmallVector<PlaceId, 8> Work = {P};
    while (!Work.empty()) {
      PlaceId Next = Work.pop_back_val();
      auto It = S->Places.find(Next);
      if (It != S->Places.end() &&
          (It->second.History & (history::Graph | history::Unknown)))
        It->second.addOrigin(Here);
      Work.append(Places.children(Next).begin(), Places.children(Next).end());
    }
  }
  return *Expanded;
}

/// The graph behind Root has been gone through. Values that share it know it,
/// and so does what is computed from them.
void Interpreter::markBackwarded(const Expr *Site, const Value &Root) {
  const OriginId Here = origin(Origin::Backwarded, Site);
  auto IsShared = [&](OriginId Id) {
    return (Origins[Id].isBuilder() || Origins[Id].Of == Origin::Through) &&
           Root.hasOrigin(Id);
  };
  for (auto &[P, V] : S->Places)
    if (V.mayHaveGraph() && llvm::any_of(V.Origins, IsShared))
      V.addOrigin(Here);
}

Denotation Interpreter::torchCall(const CallExpr *Call, const torch::Call &Kind,
                                  const Expr *Object,
                                  llvm::ArrayRef<const Expr *> Arguments) {
  Denotation Result;
  Event E;
  E.Site = Call;
  const Expr *First = Arguments.empty() ? nullptr : Arguments.front();
  auto IsGiven = [&](unsigned I) {
    return I < Arguments.size() && !isa<CXXDefaultArgExpr>(Arguments[I]);
  };
  switch (Kind.Kind) {
  case Api::Backward: {
    // Tensor::backward(gradient, retain_graph, create_graph, inputs);
    // torch::autograd::backward(tensors, grads, retain, create, inputs).
    const Expr *RootTensor = Object ? Object : First;
    E.Kind = EventKind::Backward;
    if (RootTensor)
      E.Result = deepValue(RootTensor);
    E.IsRestricted = IsGiven(Object ? 3 : 4);
    for (unsigned I = Object ? 1 : 2, End = I + 2; I < End; ++I) {
      bool IsKnown = true;
      if (IsGiven(I))
        E.RetainsGraph |= literalBool(Arguments[I], false, IsKnown) || !IsKnown;
    }
    E.Origin = origin(Origin::Backwarded, Call);
    const Value Root = E.Result;
    emit(std::move(E));
    markBackwarded(Call, Root);
    return Result;
  }
  case Api::Grad:
    E.Kind = EventKind::Grad;
    if (First)
      E.Result = deepValue(First);
    // With create_graph the gradients are functions of what the outputs were.
    Result.Own = E.Result;
    Result.Own.Refs.clear();
    if (!IsGiven(4))
      Result.Own.History = history::None;
    emit(std::move(E));
    return Result;
  case Api::GradAccess:
    if (Object)
      for (PlaceId P : identity(Object))
        insert(Result.Objects, Places.gradient(P));
    return Result;
  case Api::RequiresGrad: {
    bool IsKnown = true;
    bool Wanted = literalBool(First, true, IsKnown);
    uint8_t Bits = !IsKnown ? history::None | history::Leaf
                   : Wanted ? history::Leaf
                            : history::None;
    if (!Object)
      return Result;
    writeEvent(Call, Object, Value::withHistory(Bits));
    for (PlaceId P : identity(Object)) {
      Value V = load(P);
      // On the result of an operation it changes nothing.
      if (V.History == history::Graph)
        continue;
      V.History = Bits | (V.History & history::Graph);
      // A statement about all parameters, though each is set on its own.
      S->Places[P] = V;
    }
    Result = denote(Object);
    if (Result.Objects.empty())
      Result.Own.History = Bits;
    return Result;
  }
  case Api::GradFn:
    if (Object)
      Result.Own = deepValue(Object);
    Result.Own.Refs.clear();
    E.Kind = EventKind::Inspect;
    E.Result = Result.Own;
    emit(std::move(E));
    return Result;
  case Api::OptimizerStep:
    E.Kind = EventKind::Step;
    if (Object)
      E.Places = identity(Object);
    for (PlaceId P : E.Places)
      if (const Value *Trained = S->find(Places.parameters(P)))
        insert(E.Result.Refs, Trained->Refs);
    E.IsRestricted = IsGiven(0);
    emit(std::move(E));
    return Result;
  case Api::OptimizerZeroGrad:
  case Api::ModuleZeroGrad:
    E.Kind = EventKind::ZeroGrad;
    if (Object)
      E.Places = identity(Object);
    else
      E.Places = thisObject();
    // Another optimizer over the same parameters clears for this one.
    for (PlaceId P : E.Places)
      if (const Value *Trained = S->find(Places.parameters(P)))
        insert(E.Result.Refs, Trained->Refs);
    emit(std::move(E));
    return Result;
  case Api::OptimizerAdd:
    if (Object && First)
      train(Call, identity(Object), First);
    if (Object && First)
      for (PlaceId P : identity(Object)) {
        Value Added = Value::handle(deepValue(First).Refs);
        S->Places[Places.parameters(P)].join(Added);
      }
    return Result;
  case Api::OptimizerParameters:
  case Api::ModuleParameters: {
    PlaceSet Owners = Object ? identity(Object) : thisObject();
    if (Kind.Kind == Api::OptimizerParameters && Object) {
      // A group leads to the same parameters as its optimizer.
      PlaceSet Through;
      for (PlaceId P : Owners)
        if (Places.hasStep(P, Step::Parameters))
          insert(Through, P);
      if (!Through.empty()) {
        Result.Own = Value::handle(Through);
        Result.Own.History = history::Leaf;
        return Result;
      }
    }
    for (PlaceId P : Owners) {
      insert(Result.Own.Refs, Places.parameters(P));
      Result.Own.History |= trainability(P);
    }
    return Result;
  }
  case Api::ModuleTrain:
  case Api::ModuleEval: {
    bool IsKnown = true;
    bool Train =
        Kind.Kind == Api::ModuleTrain && literalBool(First, true, IsKnown);
    E.Kind = EventKind::ModeChange;
    if (IsKnown)
      E.Mode = Train ? mode::On : mode::Off;
    else
      E.Mode = mode::On | mode::Off;
    E.Places = Object ? identity(Object) : thisObject();
    for (PlaceId P : E.Places) {
      Value V = load(P);
      V.Mode = E.Mode;
      S->Places[P] = V;
    }
    emit(std::move(E));
    return Result;
  }
  case Api::RegisterModule: {
    if (Arguments.size() < 2)
      return Result;
    registered(Call, Object, Arguments.back());
    Result.Own.Registered = registered::Yes;
    // A fresh module becomes whatever it is assigned to.
    PlaceSet Registered = identity(Arguments.back());
    for (PlaceId P : Registered)
      if (Places.rootKind(P) != Root::Object)
        insert(Result.Own.Refs, P);
    return Result;
  }
  case Api::RegisterParameter: {
    bool IsKnown = true;
    bool Trains =
        literalBool(IsGiven(2) ? Arguments[2] : nullptr, true, IsKnown);
    Result.Own.History = !IsKnown ? history::Leaf | history::None
                         : Trains ? history::Leaf
                                  : history::None;
    if (Arguments.size() > 1) {
      registered(Call, Object, Arguments[1]);
      Result.Own.Registered = registrationOf(Arguments[1]);
    }
    // What is registered is the tensor that is given, not a copy.
    if (Arguments.size() > 1)
      for (PlaceId P : denote(Arguments[1]).Objects) {
        Value V = load(P);
        V.History = Result.Own.History;
        V.Origins.clear();
        S->Places[P] = std::move(V);
      }
    if (Arguments.size() > 1)
      keepInBackground(deepValue(Arguments[1]));
    return Result;
  }
  case Api::RegisterBuffer:
    if (Arguments.size() > 1) {
      registered(Call, Object, Arguments[1]);
      Result.Own.Registered = registrationOf(Arguments[1]);
    }
    Result.Own.History = history::None;
    if (Arguments.size() > 1)
      keepInBackground(deepValue(Arguments[1]));
    return Result;
  case Api::Load: {
    E.Kind = EventKind::Load;
    const bool ReturnsModule = torch::isModule(Call->getType());
    bool IsTemporary = false;
    if (ReturnsModule)
      E.Places = constructionTarget(Call, IsTemporary);
    else if (First)
      E.Places = identity(First);
    emit(std::move(E));
    Result.Own.History = history::None;
    if (ReturnsModule)
      Result.Own = Value();
    return Result;
  }
  case Api::Freeze: {
    bool IsTemporary = false;
    PlaceSet Target = constructionTarget(Call, IsTemporary);
    for (PlaceId P : Target) {
      store(P, Value());
      S->Places[Places.parameters(P)] = Value::withHistory(history::None);
    }
    Result.Objects = Target;
    return Result;
  }
  case Api::SetGradMode: {
    bool IsKnown = true;
    bool Enabled = literalBool(First, true, IsKnown);
    if (!IsKnown)
      S->GradMode |= mode::On | mode::Off;
    else
      S->GradMode = Enabled ? mode::On : mode::Off;
    return Result;
  }
  case Api::Initialize:
    if (!First)
      return Result;
    writeEvent(Call, First);
    return denote(First);
  case Api::NoEffect:
    if (flow::calleeName(Call) == "unregister_module") {
      E.Kind = EventKind::Register;
      emit(std::move(E));
    }
    // ModuleList, Sequential.
    if (Object && First && flow::calleeName(Call) == "push_back")
      fill(Call, identity(Object), Arguments.back(), /*IsAppended=*/true);
    if (torch::isTensor(Call->getType()))
      Result.Own.History = history::None;
    return Result;
  default:
    break;
  }

  // Any other function of LibTorch: reads its arguments, keeps nothing.
  StringRef Name = flow::calleeName(Call);
  if (Object && Name == "reset" && torch::isTensor(Object->getType())) {
    PlaceSet Target = identity(Object);
    if (isGradient(Target))
      clearGradients(Call, Target);
    else
      for (PlaceId P : denote(Object).Objects)
        store(P, Value::withHistory(history::None));
    return Result;
  }
  if (Object && torch::isTensor(Object->getType())) {
    // A pointer into its memory, through which it may be written.
    if (Name == "data_ptr" || Name == "mutable_data_ptr" ||
        Name.starts_with("accessor") || Name.starts_with("packed_accessor") ||
        Name.starts_with("generic_packed_accessor") || Name == "storage" ||
        Name == "unsafeGetTensorImpl")
      writeEvent(Call, Object, Value(), /*IsPointer=*/true);
    if (Name == "device" || Name == "options") {
      Value Of = deepValue(Object);
      Result.Own.OnDevice = Of.OnDevice;
      Result.Own.DeviceFrom = Of.DeviceFrom;
      if (Name == "options")
        Result.Own.OfType = Of.OfType;
      return Result;
    }
  }
  if (Name == "set_default_dtype")
    DefaultTypeChanges = true;
  if (Name == "launch" && First)
    keepInBackground(deepValue(First));
  if (Name == "requires_grad" && !torch::mayHoldTensor(Call->getType())) {
    // torch::requires_grad(), TensorOptions::requires_grad(bool).
    bool IsKnown = true;
    if (Object)
      Result.Own = deepValue(Object);
    if (literalBool(First, true, IsKnown) && IsKnown)
      Result.Own.History = history::Leaf;
    return Result;
  }
  const TypeKind ObjectKind =
      Object ? torch::kindOf(Object->getType()) : TypeKind::Other;
  if (Object && (ObjectKind == TypeKind::ModuleHolder ||
                 ObjectKind == TypeKind::Pointer)) {
    // ptr(), get(), operator->, operator*, value(): what the handle leads to.
    OverloadedOperatorKind Operator = OO_None;
    if (const auto *O = dyn_cast<CXXOperatorCallExpr>(Call))
      Operator = O->getOperator();
    if (Operator == OO_Arrow || Operator == OO_Star || Name == "ptr" ||
        Name == "get" || Name == "value") {
      PlaceSet Leads = pointees(receiver(Object));
      if (Call->isGLValue())
        Result.Objects = Leads;
      else
        Result.Own = Value::handle(Leads);
      return Result;
    }
  }
  if (Object &&
      (ObjectKind == TypeKind::Container ||
       torch::recordOf(Object->getType()) == nullptr ||
       !torch::isTensor(Object->getType())) &&
      !torch::isModule(Object->getType()))
    return stdCall(Call, Object, Arguments);
  llvm::SmallVector<uint8_t, 4> Histories;
  for (const Expr *Argument : Arguments) {
    if (isa<CXXDefaultArgExpr>(Argument))
      continue;
    Value V = deepValue(Argument);
    if (torch::mayHoldTensor(Argument->getType()))
      Histories.push_back(V.History);
    Result.Own.OnDevice.join(V.OnDevice);
    Result.Own.OfType.join(V.OfType);
    Result.Own.DeviceFrom.join(V.DeviceFrom);
    Result.Own.Scalar.join(V.Scalar);
    insert(Result.Own.Memory, V.Memory);
    insert(Result.Own.Saved, V.Memory);
    insert(Result.Own.Saved, V.Saved);
    insert(Result.Own.DecidedBy, V.DecidedBy);
    for (OriginId Id : V.Origins)
      Result.Own.addOrigin(Id);
    if (!torch::mayHoldTensor(Call->getType()))
      Result.Own.History |= V.History & history::Leaf;
  }
  if (torch::mayHoldTensor(Call->getType())) {
    Result.Own.History = recorded(Histories);
    if (!Result.Own.mayHaveHistory()) {
      Result.Own.forgetGraph();
    } else if (Result.Own.mayHaveGraph() && !hasSource(Result.Own)) {
      Result.Own.addOrigin(origin(Origin::Operation, Call));
    }
  }
  return Result;
}

} // namespace torchtidy::model
