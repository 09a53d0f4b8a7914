// Tensor operations: what the table says of them, put into values.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

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
                             StoreKind How, const Expr *Operand,
                             const Expr *Target) {
  Event E;
  E.Site = Site;
  E.Target = Target;
  E.Places = To;
  E.Operand = Operand;
  E.How = How;
  if (V.History & (history::Graph | history::Unknown)) {
    E.Origin = origin(Origin::Through, Target ? Target : Site);
    E.Kind = EventKind::Store;
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
    insert(New.Saved, Event.Saved);
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

/// An argument that says on which device, or of which type, the result is.
static bool saysWhere(QualType Type) {
  const CXXRecordDecl *Record = torch::recordOf(Type);
  if (!Record || !Record->getIdentifier())
    return Type->isEnumeralType();
  StringRef Name = Record->getName();
  return Name == "Device" || Name == "TensorOptions" || Name == "optional" ||
         Name == "ScalarType";
}

/// torch::Device, kCUDA, and the flags of to().
static bool saysDeviceOnly(QualType Type) {
  const auto *Enum = Type->getAs<EnumType>();
  return torch::isDevice(Type) || Type->isBooleanType() ||
         (Enum && Enum->getDecl()->getName() == "DeviceType");
}

static bool returnsBool(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("eq", "ne", "lt", "le", "gt", "ge", true)
      .Cases("isnan", "isinf", "isfinite", "logical_and", "logical_or",
             "logical_not", true)
      .Default(false);
}

/// The scalar type of a factory's result where nothing is said of it.
static Known<StringRef> defaultScalar(const Operation &Op,
                                      llvm::ArrayRef<const Expr *> Operands) {
  if (Op.Name == "randint" || Op.Name == "randperm" ||
      Op.Name.ends_with("_indices"))
    return Known<StringRef>("Long");
  if (Op.Name == "arange") {
    for (const Expr *Operand : Operands) {
      // Numbers come as torch::Scalar.
      const Expr *Number = strip(Operand);
      while (const auto *Scalar = dyn_cast<CXXConstructExpr>(Number)) {
        if (Scalar->getNumArgs() == 0)
          break;
        Number = strip(Scalar->getArg(0));
      }
      if (Number->getType()->isFloatingType())
        return Known<StringRef>("Float");
    }
    return Known<StringRef>("Long");
  }
  if (Op.Name == "full" || Op.Name == "tensor" || Op.Name == "from_file" ||
      Op.Name == "scalar_tensor" || Op.Name == "range")
    return Known<StringRef>::unknown();
  return Known<StringRef>("Float");
}

void Interpreter::describeResult(Value &Result, const Operation *Op,
                                 llvm::ArrayRef<const Expr *> Operands) {
  const bool IsFactory = Op->has(op::Factory);
  const bool Moves = IsFactory || Op->has(op::LikeFactory) ||
                     Op->has(op::ChangesDevice) || Op->has(op::ChangesDtype);
  Known<Device> Where, WhereSaid;
  Known<PlaceId> From, FromSaid;
  Known<StringRef> Scalar, ScalarSaid;
  Known<DType> Kind, KindSaid;
  Known<Layout> Order;
  bool IsSaid = false;
  for (const Expr *Operand : Operands) {
    Value V = deepValue(Operand);
    if (torch::isTensor(Operand->getType()) &&
        !(Moves && Operand != Operands.front())) {
      // What is not known of one operand is not known of the result.
      Where.join(V.OnDevice.isEmpty() ? Known<Device>::unknown() : V.OnDevice);
      From.join(V.DeviceFrom.isEmpty() ? Known<PlaceId>::unknown()
                                       : V.DeviceFrom);
      Scalar.join(V.Scalar.isEmpty() ? Known<StringRef>::unknown() : V.Scalar);
      Kind.join(V.OfType.isEmpty() ? Known<DType>::unknown() : V.OfType);
      Order.join(V.InLayout.isEmpty() ? Known<Layout>::unknown() : V.InLayout);
      continue;
    }
    WhereSaid.join(V.OnDevice);
    FromSaid.join(V.DeviceFrom);
    ScalarSaid.join(V.Scalar);
    KindSaid.join(V.OfType);
    IsSaid |= torch::isTensor(Operand->getType()) ||
              saysWhere(Operand->getType());
  }
  // torch::zeros({2}) is made on the CPU; with options that are not constants it
  // is made wherever they say.
  if (Moves && IsSaid) {
    Result.OnDevice = WhereSaid.get() ? WhereSaid : Known<Device>::unknown();
    Result.OfType = KindSaid.get() ? KindSaid : Known<DType>::unknown();
    Result.DeviceFrom = FromSaid;
    // x.to(torch::kInt64) stays where it is.
    if (!WhereSaid.get() && FromSaid.isEmpty() && KindSaid.get() && !IsFactory)
      Result.DeviceFrom = From;
    if (!WhereSaid.get() && FromSaid.isEmpty() && KindSaid.get() && !IsFactory)
      Result.OnDevice = Where;
    if (!KindSaid.get() && WhereSaid.get() && !IsFactory)
      Result.OfType = Kind;
  } else if (Op->Name == "cpu" || IsFactory) {
    Result.OnDevice = Known<Device>(Device::CPU);
    Result.OfType = IsFactory ? Known<DType>::unknown() : Kind;
  } else if (Op->Name == "cuda") {
    Result.OnDevice = Known<Device>(Device::CUDA);
    Result.OfType = Kind;
  } else {
    Result.OnDevice = Where;
    Result.DeviceFrom = From;
    Result.OfType =
        Op->Differentiable == Tri::Yes ? Kind : Known<DType>::unknown();
  }
  if (!ScalarSaid.isEmpty() && Moves)
    Result.Scalar = ScalarSaid;
  else if (IsFactory)
    Result.Scalar = defaultScalar(*Op, Operands);
  else if (returnsBool(Op->Name))
    Result.Scalar = Known<StringRef>("Bool");
  else if (Op->has(op::ChangesDtype) && !Operands.empty() &&
           !llvm::all_of(Operands.drop_front(), [](const Expr *Operand) {
             // A device comes as TensorOptions.
             const Expr *Asked = strip(Operand);
             while (const auto *Options = dyn_cast<CXXConstructExpr>(Asked)) {
               if (Options->getNumArgs() == 0)
                 break;
               Asked = strip(Options->getArg(0));
             }
             return saysDeviceOnly(Asked->getType());
           }))
    Result.Scalar = Known<StringRef>::unknown();
  else if (Op->Differentiable == Tri::Yes || Op->has(op::ChangesDevice) ||
           Op->has(op::LikeFactory))
    Result.Scalar = Scalar;
  else
    Result.Scalar = Known<StringRef>::unknown();
  // Operations keep the strides of a dense operand.
  if (Op->Name == "contiguous" || IsFactory)
    Result.InLayout = Known<Layout>(Layout::Contiguous);
  else if (Op->View != Tri::No)
    Result.InLayout = Known<Layout>::unknown();
  else
    Result.InLayout = Order;
  if (Op->Name == "from_blob")
    Result.InStorage = Known<Storage>(Storage::Blob);
  else if (Op->View == Tri::No)
    Result.InStorage = Known<Storage>(Storage::Owns);
  else if (Op->View == Tri::Yes)
    Result.InStorage = Known<Storage>(Storage::View);
  else
    Result.InStorage = Known<Storage>::unknown();
}

/// The value comes from a forward pass or an operation on a leaf that was seen.
bool Interpreter::hasSource(const Value &V) const {
  return llvm::any_of(V.Origins, [&](OriginId Id) {
    return Origins[Id].Of != Origin::Entry;
  });
}

/// What a transfer is asked for: a device, a type, or both.
static void describeTransfer(Event &E, const CallExpr *Call,
                             const Operation *Op) {
  E.MovesDevice = Op->Name == "cuda" || Op->Name == "cpu";
  E.ConvertsType = Op->Name == "toType";
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (Op->Name != "to")
    return;
  if (!Callee)
    E.MovesDevice = true;
  for (unsigned I = 0; Callee && I < Call->getNumArgs() &&
                       I < Callee->getNumParams() && I < 2;
       ++I) {
    if (isa<CXXDefaultArgExpr>(Call->getArg(I)))
      continue;
    const QualType Type =
        Callee->getParamDecl(I)->getType().getNonReferenceType();
    if (const auto *Enum = Type->getAs<EnumType>()) {
      E.ConvertsType |= Enum->getDecl()->getName() == "ScalarType";
      continue;
    }
    // Device, TensorOptions, optional<ScalarType> of the long overload, Tensor.
    const CXXRecordDecl *Record = torch::recordOf(Type);
    const bool IsType = Record && Record->getIdentifier() &&
                        Record->getName() == "TypeMeta";
    E.ConvertsType |= IsType;
    E.MovesDevice |= Record && !IsType;
  }
}

/// Events about the memory behind tensors: who makes it, copies it, joins it.
void Interpreter::tellOfMemory(const CallExpr *Call, const Operation *Op,
                               llvm::ArrayRef<const Expr *> Operands,
                               const Value &Self, Value &Result) {
  if (Op->has(op::Factory) || Op->has(op::LikeFactory)) {
    Event E;
    E.Kind = EventKind::Allocate;
    E.Site = Call;
    E.Origin = origin(Origin::Allocation, Call);
    Result.Memory = {E.Origin};
    if (Record)
      for (const auto &[P, V] : S->Places) {
        if (V.uses(E.Origin))
          insert(E.Places, P);
        if (V.mayHaveSaved(E.Origin))
          insert(E.Savers, P);
      }
    // A tensor on the heap is held by whoever points to it.
    const PlaceSet Held = E.Places;
    if (Record)
      for (const auto &[P, V] : S->Places)
        if (llvm::any_of(Held, [&](PlaceId Holder) {
              return Places.rootKind(Holder) == Root::Object &&
                     llvm::is_contained(V.Refs, Places.rootOf(Holder));
            }))
          insert(E.Places, P);
    E.Result = Result;
    emit(std::move(E));
    return;
  }
  if (Op->View != Tri::No)
    Result.Memory = Self.Memory;
  const bool IsTransfer = Op->Name == "to" || Op->Name == "cuda" ||
                          Op->Name == "cpu" || Op->Name == "toType";
  if (IsTransfer && !Operands.empty()) {
    Event E;
    E.Kind = EventKind::Transfer;
    E.Site = Call;
    E.Origin = origin(Origin::Allocation, Call);
    insert(Result.Memory, E.Origin);
    E.Places = denote(Operands.front()).Objects;
    E.Input = Self;
    E.Result = Result;
    describeTransfer(E, Call, Op);
    emit(std::move(E));
  }
  const bool Combines = Op->Name == "stack" || Op->Name == "cat" ||
                        Op->Name == "concat" || Op->Name == "vstack" ||
                        Op->Name == "hstack";
  if (Combines && !Operands.empty()) {
    Event E;
    E.Kind = EventKind::Combine;
    E.Site = Call;
    E.Places = objects(Operands.front());
    emit(std::move(E));
  }
}

void Interpreter::writeEvent(const Expr *Site, const Expr *Target,
                             const Value &Written, bool IsPointer) {
  if (!Record)
    return;
  Event E;
  E.Kind = EventKind::Write;
  E.Site = Site;
  Denotation D = denote(Target);
  E.Places = D.Objects.empty() ? D.Own.ViewOf : D.Objects;
  E.Result = deepValue(Target);
  E.Input = Written;
  E.IsPointer = IsPointer;
  emit(std::move(E));
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
    if (!torch::isTensor(Operand->getType()))
      if (std::optional<DType> Type = V.OfType.get())
        IntegralCast |= *Type == DType::Integral || *Type == DType::Bool;
    for (OriginId Id : V.Origins)
      Combined.addOrigin(Id);
    Combined.ManyOrigins |= V.ManyOrigins;
    // Which operands an operation saves is its own affair: any.
    insert(Combined.Saved, V.Memory);
    insert(Combined.Saved, V.Saved);
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
    Combined.Saved.clear();
  } else if ((Combined.History & history::Graph) && !hasSource(Combined)) {
    Combined.addOrigin(origin(Origin::Operation, Call));
  }

  describeResult(Combined, Op, Operands);
  tellOfMemory(Call, Op, Operands, Self, Combined);

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
    if (Op->Name != "detach_" && Op->Name != "requires_grad_")
      writeEvent(Call, Target, Combined);
    if (Op->Name == "detach_") {
      Event Out;
      Out.Kind = EventKind::Release;
      Out.Site = Call;
      Out.How = StoreKind::InPlace;
      Out.Places = denote(Target).Objects;
      emit(std::move(Out));
      for (PlaceId P : denote(Target).Objects) {
        Value V = load(P);
        V.History = history::None;
        V.Origins.clear();
        V.ManyOrigins = false;
        V.Saved.clear();
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
    writeEvent(Call, Target);
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

} // namespace torchtidy::model
