// What an operation says of its result: device, types, layout, storage; and
// events about the memory behind tensors.
#include "model/Interpreter.h"
#include "torch/Types.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

/// An argument that says on which device, or of which type, the result is.
static bool saysWhere(QualType Type) {
  const CXXRecordDecl *Record = torch::recordOf(Type);
  if (!Record || !Record->getIdentifier())
    return Type->isEnumeralType();
  StringRef Name = Record->getName();
  return Name == "Device" || Name == "TensorOptions" || Name == "optional" ||
         Name == "ScalarType";
}

/// zeros({2}, torch::requires_grad()): options that say nothing of it.
static bool saysNothing(const Expr *Operand) {
  const auto *Call = dyn_cast<CallExpr>(stripCopies(Operand));
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  return Callee && Callee->getIdentifier() && !isa<CXXMethodDecl>(Callee) &&
         Callee->getName() == "requires_grad" && torch::isLibTorch(Callee);
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
      if (stripCopies(Operand)->getType()->isFloatingType())
        return Known<StringRef>("Float");
    }
    return Known<StringRef>("Long");
  }
  if (Op.Name == "full" || Op.Name == "tensor" || Op.Name == "from_file" ||
      Op.Name == "scalar_tensor" || Op.Name == "range")
    return Known<StringRef>::unknown();
  return Known<StringRef>("Float");
}

static bool keepsOrder(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("view", "view_as", "unsqueeze", "squeeze", "unflatten", true)
      .Cases("reshape", "reshape_as", "flatten", "detach", "data", true)
      .Cases("to", "cpu", "cuda", "toType", true)
      .Default(false);
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
              (saysWhere(Operand->getType()) && !saysNothing(Operand));
  }
  if (ScalarSaid.get() == StringRef(DefaultScalar))
    ScalarSaid = Known<StringRef>();
  // torch::zeros({2}) is made on the CPU; with options that are not constants
  // it is made wherever they say.
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
             return saysDeviceOnly(stripCopies(Operand)->getType());
           }))
    Result.Scalar = Known<StringRef>::unknown();
  else if (Op->Differentiable == Tri::Yes || Op->has(op::ChangesDevice) ||
           Op->has(op::LikeFactory))
    Result.Scalar = Scalar;
  else
    Result.Scalar = Known<StringRef>::unknown();
  // Operations keep the strides of a dense operand. So do views that only count
  // its elements in another way.
  if (Op->View != Tri::No && keepsOrder(Op->Name))
    Result.InLayout = Order;
  else if (Op->Name == "contiguous" || IsFactory)
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
  for (unsigned I = 0;
       Callee && I < Call->getNumArgs() && I < Callee->getNumParams() && I < 2;
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
    const bool IsType =
        Record && Record->getIdentifier() && Record->getName() == "TypeMeta";
    E.ConvertsType |= IsType;
    E.MovesDevice |= Record && !IsType;
  }
}

/// Events about the memory behind tensors: who makes it, copies it, joins it.
void Interpreter::tellOfMemory(const CallExpr *Call, const Operation *Op,
                               llvm::ArrayRef<const Expr *> Operands,
                               const Value &Self, Value &Result) {
  if (Op->Name == "from_blob")
    tellOfBlob(Call, Result);
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
      for (const auto &Entry : S->Places)
        if (llvm::any_of(Held, [&](PlaceId Holder) {
              return Places.rootKind(Holder) == Root::Object &&
                     llvm::is_contained(Entry.second.Refs,
                                        Places.rootOf(Holder));
            }))
          insert(E.Places, Entry.first);
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

} // namespace torchtidy::model
