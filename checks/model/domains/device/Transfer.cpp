#include "model/domains/device/Transfer.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Devices.h"
#include "torch/Factories.h"
#include "torch/LayerOptions.h"
#include "torch/Options.h"
#include "torch/RawMemory.h"
#include "torch/Types.h"
#include "torch/Views.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model::device {

static Placement orUnknown(const Placement &Said) {
  return Said.saysDevice() ? Said : Placement::unknown();
}

void Together::add(const Placement &Operand) {
  const bool HasSome = Operand.Rank == rank::Some;
  if (Operand.isOnCpu()) {
    OnCpu.join(Operand);
    HasDimensions |= HasSome;
  } else if (orUnknown(Operand).OnDevice.isOpen() &&
             !Operand.DeviceFrom.get()) {
    Anywhere.join(orUnknown(Operand));
  } else {
    Elsewhere.join(Operand);
    HasDimensionsElsewhere |= HasSome;
  }
}

Placement Together::result() const {
  if (!Anywhere.saysDevice())
    return Elsewhere.saysDevice() ? Elsewhere : OnCpu;
  if (AreTogether && HasDimensionsElsewhere)
    return Elsewhere;
  if (AreTogether && HasDimensions && !Elsewhere.saysDevice() &&
      Anywhere.OnDevice == Devices::unknown())
    return OnCpu;
  Placement Result = Elsewhere;
  Result.join(Anywhere);
  return Result;
}

static bool isModuleType(QualType Type) {
  return !Type.isNull() && (torch::isModule(Type) || torch::moduleClass(Type));
}

/// What comes from code that is not analysed is wherever it likes. Parameters
/// and their gradients are where their module is.
void initial(Machine &M, PlaceId P, Value &Result) {
  const PlaceTable &Places = M.places();
  if (!Places.isRoot(P) && (Places.step(P).Of == Step::Parameters ||
                            Places.step(P).Of == Step::Gradient)) {
    const PlaceId Owner = Places.parent(P);
    const QualType Type = Places.knownType(Owner);
    if (!Type.isNull() && torch::isTensor(Type)) {
      if (const Value *Held = M.state().find(Owner))
        Result.setDevice(*Held);
    } else {
      Result.setDevice(placementOf(M, Owner));
    }
    return;
  }
  // A module that was moved says so itself.
  const QualType Type = Places.knownType(P);
  const bool MaySay =
      Type.isNull() || torch::mayHoldTensor(Type) || torch::maySayDevice(Type);
  if (!isModuleType(Type) && MaySay && M.isFromOutside(P))
    Result.setDevice(Placement::unknown());
}

/// A member of a module that is known as a whole: whether it moves with the
/// module depends on what it is.
void part(Machine &M, PlaceId P, Value &Part) {
  const PlaceTable &Places = M.places();
  const QualType Around = Places.knownType(Places.parent(P));
  if (Places.step(P).Of != Step::Field || Around.isNull() ||
      !torch::isModule(Around))
    return;
  // The tensors of LibTorch's own modules are parameters and buffers.
  const QualType Type = Places.knownType(P);
  const bool IsRegistered = !Type.isNull() && torch::isTensor(Type) &&
                            torch::isLibTorch(torch::recordOf(Around));
  const Placement Whole =
      IsRegistered ? placementOf(M, Places.parent(P)) : Placement();
  Part.setDevice(Whole.saysDevice() ? Whole : Placement::unknown());
}

/// A member of a module that lies in another object.
static bool isOfPart(const PlaceTable &Places, PlaceId P) {
  if (Places.isRoot(P) || Places.step(P).Of != Step::Field)
    return false;
  const PlaceId Module = Places.parent(P);
  return !Places.isRoot(Module) && isModuleType(Places.knownType(Module));
}

/// A variable of type torch::Device stands for the device that it names, as
/// long as it is not known to be another variable's. What was put into a member
/// of a registered module is not followed: such a one says nothing.
void loaded(Machine &M, PlaceId P, Value &Loaded) {
  if (const QualType Type = M.places().typeOf(P); !Type.isNull())
    loadIndex(Type, Loaded);
  if (Loaded.DeviceFrom.get() || !torch::isDevice(M.places().typeOf(P)))
    return;
  if (Loaded.OnDevice.isEmpty() && isOfPart(M.places(), P)) {
    Loaded.OnDevice = Devices::unknown();
    return;
  }
  // Of a tensor that may be anywhere, also where the other one is.
  if (Loaded.Index.get() == DeviceIndex::OfTensor &&
      Loaded.OnDevice == Devices::unknown())
    return;
  Loaded.DeviceFrom = Known<PlaceId>(P);
  if (Loaded.OnDevice.isEmpty())
    Loaded.OnDevice = Devices::unknown();
}

Device deviceOf(torch::DeviceKind Kind) {
  switch (Kind) {
  case torch::DeviceKind::CPU:
    return Device::CPU;
  case torch::DeviceKind::CUDA:
    return Device::CUDA;
  case torch::DeviceKind::Other:
    return Device::Other;
  }
  llvm_unreachable("not a kind of device");
}

void describeConstant(const ValueDecl *Constant, Placement &Result) {
  if (const std::optional<torch::DeviceKind> Where = torch::deviceOf(Constant))
    Result.OnDevice = Devices(deviceOf(*Where));
  if (torch::hasIndexedTensors(Constant))
    Result.Index = Known<DeviceIndex>(DeviceIndex::None);
}

void describeDeviceOf(const Value &Tensor, Value &Result) {
  Result.setDevice(orUnknown(Tensor));
  Result.Index = Known<DeviceIndex>(DeviceIndex::OfTensor);
}

static bool isText(QualType Type) {
  Type = Type.getNonReferenceType();
  const CXXRecordDecl *Class = torch::recordOf(Type);
  return Class ? torch::isStd(Class)
               : Type->isPointerType() || Type->isArrayType();
}

/// torch::Device("cuda:0")
static std::optional<Device> namedIn(const Expr *E) {
  const StringLiteral *Text = nullptr;
  while (E && !Text) {
    E = ast::stripCopies(E);
    Text = dyn_cast<StringLiteral>(E);
    const auto *Construct = dyn_cast<CXXConstructExpr>(E);
    if (!Construct || Construct->getNumArgs() == 0)
      break;
    E = Construct->getArg(0);
  }
  if (!Text || Text->getCharByteWidth() != 1)
    return std::nullopt;
  return deviceOf(torch::deviceNamed(Text->getString()));
}

/// device.is_cuda(), x.scalar_type(), device.index(): computed from what says
/// where something is, and no answer to that. Options that get one of them for
/// something else are not for that device.
static bool saysNothing(QualType Type) {
  Type = Type.getNonReferenceType();
  return (Type->isArithmeticType() || torch::isScalarType(Type) ||
          torch::isTypeMeta(Type)) &&
         !torch::maySayDevice(Type);
}

/// A tensor may be in it, of which nothing is known. What is put into options
/// of a layer says where it is itself.
static bool mayBring(const Expr *E) {
  return torch::mayHoldTensor(E->getType()) &&
         !torch::isLayerOptions(E->getType());
}

void complete(const Expr *E, Value &Made) {
  if (saysNothing(E->getType()))
    Made.setDevice(Placement());
  if (!Made.OnDevice.isEmpty())
    return;
  const bool IsOptions = torch::isTensorOptions(E->getType());
  const auto *Construct = dyn_cast<CXXConstructExpr>(E);
  if (torch::isDevice(E->getType()) || (IsOptions && Construct)) {
    const Expr *From =
        Construct && Construct->getNumArgs() ? Construct->getArg(0) : nullptr;
    if (const std::optional<Device> Named = namedIn(From))
      Made.OnDevice = Devices(*Named);
    else if (!IsOptions || (From && isText(From->getType())))
      Made.OnDevice = Devices::unknown();
    return;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  if (!Call)
    return;
  const FunctionDecl *Callee = Call->getDirectCallee();
  // A tensor from wherever; options that somebody else has made.
  if (IsOptions ? !torch::isLibTorch(Callee) || torch::saysDeviceOption(Callee)
                : mayBring(E))
    Made.OnDevice = Devices::unknown();
}

/// torch::cuda::is_available(), device.is_cuda(), or a constant variable that
/// keeps it.
static bool holdsOnDevice(const Expr *E) {
  E = ast::stripCopies(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    const bool IsKept = V && V->getType().isConstQualified() && V->getInit();
    E = IsKept ? ast::stripCopies(V->getInit()) : E;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Asked = Call ? Call->getDirectCallee() : nullptr;
  return torch::asksForDevice(Asked) &&
         torch::askedKind(Asked) != torch::DeviceKind::CPU;
}

void describePinning(const CallExpr *Call, Value &Options) {
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee || !torch::saysPinnedMemory(Callee))
    return;
  const auto Arguments = ast::argumentsOf(Call);
  std::optional<bool> Asked =
      ast::boolAt(Arguments.empty() ? nullptr : Arguments.front(), true);
  // Where the answer is no there is no device whose copies pinning concerns.
  if (!Asked && holdsOnDevice(Arguments.front()))
    Asked = true;
  Options.Host = !Asked   ? hostmemory::Unknown
                 : *Asked ? hostmemory::Pinned
                          : hostmemory::Pageable;
}

namespace {

/// Where the tensors among the operands are (Same), and where the others ask
/// for (Said).
struct Operands {
  Together Same;
  Placement Said;
  uint8_t Host = 0, Rank = 0;

  Operands(const OperationCall &Call, bool Moves) {
    if (torch::needsOneDevice(*Call.Op))
      Same.expectOneDevice();
    for (auto [Operand, V] : llvm::zip_equal(Call.Operands, Call.Values)) {
      const QualType Type = Operand->getType();
      const bool IsFirst = Operand == Call.Operands.front();
      if (torch::mayHoldTensor(Type) && !(Moves && !IsFirst)) {
        // x.index({i, j}): wherever the indices are.
        if (IsFirst || !torch::isIndexing(*Call.Op))
          Same.add(V);
        Host |= V.Host ? V.Host : uint8_t(hostmemory::Unknown);
        Rank |= V.Rank ? V.Rank : uint8_t(rank::Unknown);
        continue;
      }
      // x.to(y)
      if (torch::isTensor(Type))
        Said.join(orUnknown(V));
      else if (torch::maySayDevice(Type))
        Said.join(V);
    }
  }
};

} // namespace

/// {2, 3}: a shape, or data, that has a dimension.
static bool isList(const Expr *E) {
  E = ast::stripCopies(E);
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    E = ast::strip(List->getSubExpr());
  const auto *List = dyn_cast<InitListExpr>(E);
  return List && List->getNumInits() > 0;
}

/// torch::tensor({1, 2}), torch::tensor(numbers) of a vector; but tensor(5).
static bool listsSeveral(const OperationCall &Call) {
  const auto Arguments = ast::argumentsOf(Call.Call);
  if (!torch::listsContent(*Call.Op) || Arguments.empty())
    return false;
  const Expr *Content = Arguments[0]->IgnoreUnlessSpelledInSource();
  return isList(Content) || !torch::elementType(Content->getType()).isNull();
}

/// Of a factory.
static bool hasDimensions(const OperationCall &Call) {
  const auto Arguments = ast::argumentsOf(Call.Call);
  if (torch::isSquare(*Call.Op) || torch::makesList(*Call.Op) ||
      listsSeveral(Call))
    return true;
  const std::optional<unsigned> At = torch::shapeArgument(*Call.Op, Arguments);
  if (!At)
    return false;
  // arange(5), rand(3).
  return isList(Arguments[*At]) ||
         (!torch::isMadeFromData(*Call.Op) &&
          ast::stripCopies(Arguments[*At])->getType()->isIntegerType());
}

/// view({3, 1, 1})
static bool getsDimensions(const OperationCall &Call) {
  return torch::takesShape(*Call.Op) &&
         llvm::any_of(ast::argumentsOf(Call.Call), isList);
}

/// x.index({t}): the dimensions of t, or that of the elements of a mask, are
/// in the result.
static bool indexedByDimensions(Machine &M, const OperationCall &Call) {
  return torch::isIndexing(*Call.Op) &&
         llvm::any_of(torch::tensorIndices(Call.Call), [&](const Expr *Index) {
           return M.deepValue(Index).Rank == rank::Some;
         });
}

/// Which copies to the host the result was computed from.
static void describeCopies(Machine &M, const OperationCall &Call,
                           Value &Result) {
  if (!Result.isOnCpu() || Call.isFactory())
    return;
  const Operation &Op = *Call.Op;
  if (Op.has(op::ChangesDevice) && !Call.Values.empty() &&
      !Call.self().isOnCpu()) {
    Result.HostCopies = {M.names().allocation(M.frame(), Call.Call)};
    return;
  }
  for (const Value &V : Call.Values) {
    insert(Result.HostCopies, V.HostCopies);
    Result.SinceCopy |= V.SinceCopy;
  }
  if (Result.HostCopies.empty())
    Result.SinceCopy = 0;
  else if (Op.Sync == Tri::Yes || Op.has(op::Random))
    Result.SinceCopy |= sincecopy::Mixed;
  else if (!torch::isTransfer(Op) && !torch::isDetach(Op) &&
           !torch::makesContiguous(Op) && !torch::pinsMemory(Op))
    Result.SinceCopy |= sincecopy::Computed;
}

static void describeFactory(const OperationCall &Call, const Operands &Of,
                            Value &Result) {
  // Options that say nothing of it are for the CPU.
  Result.setDevice(Of.Said.saysDevice() ? Of.Said : Placement::on(Device::CPU));
  Result.Rank = hasDimensions(Call) ? rank::Some : rank::Unknown;
  const bool IsForeign = torch::isFromBlob(*Call.Op);
  Result.Host = IsForeign          ? hostmemory::Unknown
                : Of.Said.Host     ? Of.Said.Host
                : Result.isOnCpu() ? hostmemory::Pageable
                                   : hostmemory::Unknown;
  if (!IsForeign || !Result.isOnCpu() || Of.Said.saysDevice())
    return;
  Result.Host = hostmemory::Pageable;
  if (!torch::isMemoryOfContainer(ast::argumentsOf(Call.Call).front()))
    Result.Host |= hostmemory::Unknown;
}

static void describeTransfer(const OperationCall &Call, const Operands &Of,
                             Value &Result) {
  switch (torch::transferOf(*Call.Op)) {
  case torch::Transfer::Cpu:
    Result.setDevice(Placement::on(Device::CPU));
    break;
  case torch::Transfer::Cuda:
    Result.setDevice(Placement::on(Device::CUDA));
    break;
  default:
    // x.to(torch::kInt64) stays where it is.
    Result.setDevice(Of.Said.saysDevice() ? Of.Said : Of.Same.result());
  }
  Result.Host = Of.Host;
  // A copy to the CPU is pageable; of what is there already it is that.
  if (!Call.self().isOnCpu() || !Result.isOnCpu())
    Result.Host = hostmemory::Unknown;
  Result.Rank = Of.Rank;
}

static void place(Machine &M, const OperationCall &Call, Value &Result) {
  const Operation &Op = *Call.Op;
  const bool Moves =
      Call.isFactory() || Op.has(op::ChangesDevice) || Op.has(op::ChangesDtype);
  const Operands Of(Call, Moves);
  if (Op.has(op::Factory))
    return describeFactory(Call, Of, Result);
  if (Moves) {
    describeTransfer(Call, Of, Result);
    if (Call.isFactory())
      Result.Host = Of.Said.Host       ? Of.Said.Host
                    : Result.isOnCpu() ? hostmemory::Pageable
                                       : hostmemory::Unknown;
    return;
  }
  Result.setDevice(Of.Same.result());
  const bool Keeps = torch::keepsDimensions(Op);
  const bool HasSome = Result.InShape.leastRank() > 0 || getsDimensions(Call) ||
                       indexedByDimensions(M, Call);
  Result.Rank = HasSome                ? uint8_t(rank::Some)
                : !Keeps               ? uint8_t(rank::Unknown)
                : Of.Rank & rank::Some ? uint8_t(rank::Some)
                                       : Of.Rank;
  if (torch::pinsMemory(Op))
    Result.Host = hostmemory::Pinned;
  else if (Op.View != Tri::No || Op.Writes != op::NoArgument)
    Result.Host = Of.Host;
  else
    Result.Host = Result.isOnCpu() ? hostmemory::Pageable : hostmemory::Unknown;
}

void operation(Machine &M, const OperationCall &Call, Value &Result) {
  place(M, Call, Result);
  describeCopies(M, Call, Result);
}

void call(Machine & /*M*/, const LibraryCall &Call, Value &Result) {
  Together Of;
  bool IsSaid = false;
  for (auto [Argument, V] : llvm::zip_equal(Call.Arguments, Call.Values)) {
    if (!Call.IsForward)
      Result.Index.join(V.Index);
    if (!V.saysDevice() && !mayBring(Argument))
      continue;
    Of.add(V);
    IsSaid = true;
    if (!Call.IsForward) {
      insert(Result.HostCopies, V.HostCopies);
      Result.SinceCopy |= V.SinceCopy;
    }
  }
  if (IsSaid)
    Result.setDevice(Of.result());
  if (!Result.isOnCpu())
    Result.HostCopies.clear();
  // What a function of LibTorch does is an operation like others.
  Result.SinceCopy =
      Result.HostCopies.empty() ? 0 : Result.SinceCopy | sincecopy::Computed;
}

void lost(Value &Tensor) { Tensor.joinDevice(Placement::unknown()); }

} // namespace torchtidy::model::device
