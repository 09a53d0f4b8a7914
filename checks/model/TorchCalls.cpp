// The meaning of LibTorch's calls.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

static StringRef calleeName(const CallExpr *Call) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  return Callee && Callee->getIdentifier() ? Callee->getName() : StringRef();
}

bool Interpreter::isGradient(const PlaceSet &Set) {
  return !Set.empty() && llvm::all_of(Set, [&](PlaceId P) {
    return !Places.isRoot(P) && Places.step(P).Of == Step::Gradient;
  });
}

void Interpreter::clearGradients(const Expr *Site, const PlaceSet &Gradients) {
  Event E;
  E.Kind = EventKind::ZeroGrad;
  E.Site = Site;
  E.Places = Gradients;
  emit(std::move(E));
}

void Interpreter::storeEvent(const Expr *Site, const PlaceSet &To, Value &V,
                             StoreKind How, const Expr *Operand) {
  Event E;
  E.Site = Site;
  E.Places = To;
  E.Operand = Operand;
  if (V.History & (history::Graph | history::Unknown)) {
    E.Origin = origin(Origin::Through, Site);
    E.Kind = EventKind::Store;
    E.How = How;
    E.Result = V;
    V.addOrigin(E.Origin);
  } else {
    // What was there is let go; nothing with a history takes its place.
    if (How == StoreKind::Append || How == StoreKind::InPlace)
      return;
    E.Kind = EventKind::Release;
  }
  emit(std::move(E));
}

void Interpreter::writeInPlace(const Expr *Site, const Expr *Target,
                               const Value &Written, bool Accumulates,
                               const Expr *Operand) {
  Denotation D = denote(Target);
  // A write through a view is a write to its base.
  PlaceSet Bases = D.Objects;
  if (Bases.empty())
    Bases = D.Own.ViewOf;
  if (Bases.empty())
    return;
  Value Event = Written;
  storeEvent(Site, Bases, Event,
             Accumulates ? StoreKind::Accumulate : StoreKind::InPlace, Operand);
  for (PlaceId P : Bases) {
    Value New = load(P);
    // The whole tensor is rewritten only when it is written as a whole.
    const bool IsWhole = !D.Objects.empty() && Bases.size() == 1;
    if (IsWhole)
      New.History = Event.History;
    else
      New.History |= Event.History;
    for (OriginId Id : Event.Origins)
      New.addOrigin(Id);
    if (IsWhole && !Places.isSummary(P))
      S->Places[P] = New;
    else
      storeWeak(P, New);
  }
}

/// Operations that put something else in the place of what was there.
static bool replacesContent(StringRef Name) {
  return Name == "zero_" || Name == "fill_" || Name == "copy_" ||
         Name == "set_" || Name == "normal_" || Name == "uniform_" ||
         Name == "random_";
}

/// Operations whose second output is not differentiable (derivatives.yaml:
/// output_differentiability [True, False]).
static bool returnsIndices(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("max", "min", "topk", "sort", "kthvalue", "mode", "median", true)
      .Cases("nanmedian", "cummax", "cummin", true)
      .Cases("max_pool1d_with_indices", "max_pool2d_with_indices",
             "max_pool3d_with_indices", "adaptive_max_pool1d",
             "adaptive_max_pool2d", "adaptive_max_pool3d", true)
      .Default(false);
}

Denotation Interpreter::operation(const CallExpr *Call, const Operation *Op,
                                  const Expr *Object,
                                  llvm::ArrayRef<const Expr *> Arguments) {
  Denotation Result;
  llvm::SmallVector<const Expr *, 4> Operands;
  if (Object)
    Operands.push_back(Object);
  for (const Expr *Argument : Arguments)
    if (!isa<CXXDefaultArgExpr>(Argument))
      Operands.push_back(Argument);

  llvm::SmallVector<uint8_t, 4> Histories;
  Value Combined, Self;
  bool WantsGrad = false, IntegralCast = false;
  Known<Device> DeviceArgument;
  for (const Expr *Operand : Operands) {
    Value V = deepValue(Operand);
    if (Operand == Operands.front())
      Self = V;
    if (Operand != Operands.front() || torch::isTensor(Operand->getType()) ||
        torch::mayHoldTensor(Operand->getType()))
      Histories.push_back(torch::mayHoldTensor(Operand->getType()) ? V.History
                                                                   : 0);
    // TensorOptions().requires_grad(true) carries its wish as a history.
    if (!torch::mayHoldTensor(Operand->getType()) &&
        (V.History & history::Leaf))
      WantsGrad = true;
    if (!torch::isTensor(Operand->getType())) {
      DeviceArgument.join(V.OnDevice);
      if (std::optional<DType> Type = V.OfType.get())
        IntegralCast |= *Type == DType::Integral || *Type == DType::Bool;
    }
    for (OriginId Id : V.Origins)
      Combined.addOrigin(Id);
    Combined.ManyOrigins |= V.ManyOrigins;
  }
  const bool IsFactory = Op->has(op::Factory) || Op->has(op::LikeFactory);
  if (Op->has(op::DiscardsHistory))
    Combined.Origins.clear();

  // History.
  if (IsFactory)
    Combined.History = WantsGrad ? history::Leaf : history::None;
  else if (Op->has(op::DiscardsHistory) || Op->Differentiable == Tri::No ||
           (Op->has(op::ChangesDtype) && IntegralCast))
    Combined.History = history::None;
  else
    Combined.History = recorded(Histories);
  if (!(Combined.History & (history::Graph | history::Unknown))) {
    Combined.Origins.clear();
    Combined.ManyOrigins = false;
  } else if ((Combined.History & history::Graph) && Combined.Origins.empty()) {
    Combined.addOrigin(origin(Origin::Operation, Call));
  }

  // Device, dtype, layout, storage.
  if (!DeviceArgument.isEmpty())
    Combined.OnDevice = DeviceArgument;
  else if (Op->Name == "cpu")
    Combined.OnDevice = Known<Device>(Device::CPU);
  else if (Op->Name == "cuda")
    Combined.OnDevice = Known<Device>(Device::CUDA);
  else if (Op->has(op::Factory))
    Combined.OnDevice = Known<Device>(Device::CPU);
  else
    Combined.OnDevice = Self.OnDevice;
  Combined.OfType = Self.OfType;
  for (const Expr *Operand : Operands)
    if (!torch::isTensor(Operand->getType()))
      if (Known<DType> Type = deepValue(Operand).OfType; Type.get())
        Combined.OfType = Type;
  if (Op->Name == "contiguous" || Op->has(op::Allocates))
    Combined.InLayout = Known<Layout>(Layout::Contiguous);
  else if (Op->View != Tri::No)
    Combined.InLayout = Known<Layout>::unknown();
  if (Op->Name == "from_blob")
    Combined.InStorage = Known<Storage>(Storage::Blob);
  else if (Op->View == Tri::No)
    Combined.InStorage = Known<Storage>(Storage::Owns);
  else if (Op->View == Tri::Yes)
    Combined.InStorage = Known<Storage>(Storage::View);
  else
    Combined.InStorage = Known<Storage>::unknown();

  // Writes.
  if (Op->Writes == op::Self && !Operands.empty()) {
    const Expr *Target = Operands.front();
    PlaceSet Written = identity(Target);
    if (isGradient(Written)) {
      if (replacesContent(Op->Name))
        clearGradients(Call, Written);
      return denote(Target);
    }
    // These write what belongs to the tensor, not its data.
    if (Op->Name == "retain_grad" || Op->Name == "set_data" ||
        Op->Name == "rename_")
      return denote(Target);
    if (Op->Name == "detach_") {
      for (PlaceId P : denote(Target).Objects) {
        Value V = load(P);
        V.History = history::None;
        V.Origins.clear();
        store(P, V);
      }
      return denote(Target);
    }
    if (replacesContent(Op->Name) && Operands.size() <= 1)
      Combined.History = recorded({Self.History});
    const bool Accumulates = Op->Name == "add_" || Op->Name == "sub_" ||
                             Op->Name == "__iadd__";
    writeInPlace(Call, Target, Combined, Accumulates,
                 Operands.size() > 1 ? Operands[1] : nullptr);
    Result = denote(Target);
    return Result;
  }
  if (Op->Writes == op::Out && !Arguments.empty()) {
    const Expr *Target = Op->Name.ends_with("_outf") ? Arguments.back()
                                                     : Arguments.front();
    Combined.History = history::None; // out= refuses to be recorded
    for (PlaceId P : denote(Target).Objects)
      storeWeak(P, Combined);
    return denote(Target);
  }
  if (Op->Returns == op::Scalar || Op->Returns == op::Nothing)
    return Result;

  // Of max(dim), topk and their like the second result holds indices.
  if (torch::kindOf(Call->getType()) == TypeKind::Aggregate &&
      returnsIndices(Op->Name)) {
    PlaceId Pair = Places.root(Root::Object, F->Id, Call);
    erase(Pair);
    store(Places.index(Pair, 0), Combined);
    store(Places.index(Pair, 1), Value::withHistory(history::None));
    Result.Objects = {Pair};
    return Result;
  }

  // What a view or a detached alias designates, it still designates.
  if (Op->View != Tri::No && !Operands.empty()) {
    Combined.Refs = Self.Refs;
    PlaceSet Bases = denote(Operands.front()).Objects;
    Combined.ViewOf = Bases.empty() ? Self.ViewOf : Bases;
    PlaceSet Written = identity(Operands.front());
    if (isGradient(Written))
      Combined.Refs = Written;
  }
  Result.Own = std::move(Combined);
  return Result;
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
    Input.join(Passed);
  }
  const bool HasParameters =
      torch::parametersOf(Class) != torch::Parameters::None ||
      (Class && !torch::isLibTorch(Class));
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
    if (!V.History)
      V.History = recorded(Histories);
    for (OriginId Id : Computed.Origins)
      V.addOrigin(Id);
  } else {
    V.History = recorded(Histories);
  }
  if (!HasParameters) {
    // A loss or an activation: an operation like any other.
    if (!(V.History & (history::Graph | history::Unknown)))
      V.Origins.clear();
    if (Expanded)
      return *Expanded;
    Result.Own = std::move(V);
    return Result;
  }
  const OriginId Here = origin(Origin::Forward, Call);
  if (V.History & (history::Graph | history::Unknown))
    V.addOrigin(Here);
  else
    V.Origins.clear();

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

Denotation Interpreter::torchCall(const CallExpr *Call,
                                  const torch::Call &Kind, const Expr *Object,
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
    emit(std::move(E));
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
    bool Train = Kind.Kind == Api::ModuleTrain &&
                 literalBool(First, true, IsKnown);
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
    // A fresh module becomes whatever it is assigned to.
    PlaceSet Registered = identity(Arguments.back());
    for (PlaceId P : Registered)
      if (Places.rootKind(P) != Root::Object)
        insert(Result.Own.Refs, P);
    return Result;
  }
  case Api::RegisterParameter: {
    bool IsKnown = true;
    bool Trains = literalBool(IsGiven(2) ? Arguments[2] : nullptr, true, IsKnown);
    Result.Own.History = !IsKnown ? history::Leaf | history::None
                         : Trains ? history::Leaf
                                  : history::None;
    return Result;
  }
  case Api::RegisterBuffer:
    Result.Own.History = history::None;
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
    if (First)
      return denote(First);
    return Result;
  case Api::NoEffect:
    if (torch::isTensor(Call->getType()))
      Result.Own.History = history::None;
    return Result;
  default:
    break;
  }

  // Any other function of LibTorch: reads its arguments, keeps nothing.
  StringRef Name = calleeName(Call);
  if (Object && Name == "reset" && torch::isTensor(Object->getType())) {
    PlaceSet Target = identity(Object);
    if (isGradient(Target))
      clearGradients(Call, Target);
    else
      for (PlaceId P : denote(Object).Objects)
        store(P, Value::withHistory(history::None));
    return Result;
  }
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
  if (Object && (ObjectKind == TypeKind::Container ||
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
    for (OriginId Id : V.Origins)
      Result.Own.addOrigin(Id);
    if (!torch::mayHoldTensor(Call->getType()))
      Result.Own.History |= V.History & history::Leaf;
  }
  if (torch::mayHoldTensor(Call->getType())) {
    Result.Own.History = recorded(Histories);
    if (!(Result.Own.History & (history::Graph | history::Unknown)))
      Result.Own.Origins.clear();
    else if (Result.Own.mayHaveGraph() && Result.Own.Origins.empty())
      Result.Own.addOrigin(origin(Origin::Operation, Call));
  }
  return Result;
}

} // namespace torchtidy::model
