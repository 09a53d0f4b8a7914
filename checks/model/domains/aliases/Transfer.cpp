#include "model/domains/aliases/Transfer.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Api.h"
#include "torch/Options.h"
#include "torch/Scalars.h"
#include "torch/Types.h"
#include "torch/Views.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

void aliases::initial(Machine &M, PlaceId P, Value &Result) {
  const PlaceTable &Places = M.places();
  if (!Places.isRoot(P)) {
    const Step Last = Places.step(P);
    if (Last.Of == Step::Parameters)
      Result.Refs = {P};
    if (Last.Of == Step::Parameters || Last.Of == Step::Gradient ||
        (Last.Of == Step::Field && torch::isLibTorch(Last.Member->getParent())))
      return;
  }
  // What a tensor from outside uses is told apart: it may be written through
  // another handle.
  const QualType Type = Places.typeOf(P);
  if (!Type.isNull() && torch::isTensor(Type) && M.isFromOutside(P))
    Result.Memory = {M.names().allocation(&M.graph().root(), P)};
}

/// What a transfer is asked for: a device, a type, or both.
static void describeTransfer(TransferEvent &E, const CallExpr *Call,
                             const Operation &Op) {
  const torch::Transfer Kind = torch::transferOf(Op);
  E.MovesDevice = Kind == torch::Transfer::Cpu || Kind == torch::Transfer::Cuda;
  E.ConvertsType = Kind == torch::Transfer::ToType;
  if (Kind != torch::Transfer::To)
    return;
  const FunctionDecl *Callee = Call->getDirectCallee();
  if (!Callee)
    E.MovesDevice = true;
  for (unsigned I = 0;
       Callee && I < Call->getNumArgs() && I < Callee->getNumParams() && I < 2;
       ++I) {
    if (isa<CXXDefaultArgExpr>(Call->getArg(I)))
      continue;
    const QualType Type =
        Callee->getParamDecl(I)->getType().getNonReferenceType();
    // Device, TensorOptions, optional<ScalarType> of the long overload, Tensor.
    const bool IsType = torch::isScalarType(Type) || torch::isTypeMeta(Type);
    E.ConvertsType |= IsType;
    E.MovesDevice |= !IsType && torch::recordOf(Type);
  }
}

PlaceSet aliases::holders(const PlaceTable &Places, const State &At,
                          AllocationId Memory) {
  PlaceSet Result, Objects;
  for (const auto &[P, V] : At.Places)
    if (V.uses(Memory)) {
      insert(Result, P);
      const PlaceId RootPlace = Places.rootOf(P);
      if (Places.rootKind(RootPlace) == Root::Object)
        insert(Objects, RootPlace);
    }
  // A tensor on the heap is held by whoever points to it.
  if (Objects.empty())
    return Result;
  for (const auto &[P, V] : At.Places)
    if (llvm::any_of(Objects, [&, &Refs = V.Refs](PlaceId Object) {
          return llvm::is_contained(Refs, Object);
        }))
      insert(Result, P);
  return Result;
}

/// What holds a tensor that the call made before, and what has a graph that may
/// have saved one.
static void findOlder(Machine &M, AllocateEvent &E) {
  E.Holders = aliases::holders(M.places(), M.state(), E.Memory);
  for (const auto &[P, V] : M.state().Places)
    if (V.mayHaveSaved(E.Memory))
      insert(E.Savers, P);
}

static void emitAllocation(Machine &M, const OperationCall &Call,
                           Value &Result) {
  const AllocationId Made = M.names().allocation(M.frame(), Call.Call);
  Result.Memory = {Made};
  M.emit<AllocateEvent>(Call.Call, [&](AllocateEvent &E) {
    E.Memory = Made;
    E.Result = Result;
    findOlder(M, E);
  });
}

static void emitTransfer(Machine &M, const OperationCall &Call, Value &Result) {
  const AllocationId Copy = M.names().allocation(M.frame(), Call.Call);
  insert(Result.Memory, Copy);
  const PlaceSet Source = M.denote(Call.Operands.front()).Objects;
  M.emit<TransferEvent>(Call.Call, [&](TransferEvent &E) {
    E.Memory = Copy;
    E.Source = Source;
    E.Input = Call.self();
    E.Result = Result;
    describeTransfer(E, Call.Call, *Call.Op);
    E.IsNonBlocking =
        ast::boolAt(torch::nonBlockingArgument(Call.Call), false) == true;
  });
}

/// Of what a view or a detached alias designates.
static void alias(Machine &M, const OperationCall &Call, Value &Result) {
  const Value &Self = Call.Values.front();
  const Expr *Operand = Call.Operands.front();
  Result.Refs = Self.Refs;
  const PlaceSet Bases = M.denote(Operand).Objects;
  Result.ViewOf = Bases.empty() ? Self.ViewOf : Bases;
  const PlaceSet Viewed = M.identity(Operand);
  if (M.isGradient(Viewed))
    Result.Refs = Viewed;
}

static Known<Storage> storageOf(const Operation &Op) {
  if (torch::isFromBlob(Op))
    return Known<Storage>(Storage::Blob);
  switch (Op.View) {
  case Tri::No:
    return Known<Storage>(Storage::Owns);
  case Tri::Yes:
    return Known<Storage>(Storage::View);
  case Tri::Maybe:
    break;
  }
  return Known<Storage>::unknown();
}

static void emitCombination(Machine &M, const OperationCall &Call) {
  std::optional<uint64_t> Fewest;
  if (const auto Tensors = ast::listed(Call.Operands.front()))
    for (const Expr *Each : *Tensors)
      if (const auto Elements = M.deepValue(Each).InShape.elements())
        Fewest = std::min<uint64_t>(*Elements, Fewest.value_or(*Elements));
  M.emit<CombineEvent>(Call.Call, [&](CombineEvent &E) { E.Fewest = Fewest; });
}

/// Nothing else has the memory of what E makes, views of it included:
/// x.mul(255).permute({1, 2, 0}).
static bool isOwnedTemporary(Machine &M, const Expr *E) {
  const auto *Made = dyn_cast_or_null<CallExpr>(ast::strip(E));
  if (!Made || !Made->isPRValue())
    return false;
  if (M.deepValue(Made).InStorage.get() == Storage::Owns)
    return true;
  const torch::Operation *Op = torch::classify(Made).Op;
  return Op && Op->View == Tri::Yes && Op->Writes == op::NoArgument &&
         isOwnedTemporary(M, ast::objectOf(Made));
}

/// x.mul(255).to(torch::kU8): where it returns the tensor itself, that has no
/// name.
static bool takesTemporary(Machine &M, const OperationCall &Call) {
  return Call.Op->View == Tri::Maybe && !Call.Operands.empty() &&
         Call.Op->Writes == op::NoArgument &&
         isOwnedTemporary(M, Call.Operands.front());
}

/// index() by a mask, or by a list of positions.
static bool copiesForCertain(Machine &M, const OperationCall &Call) {
  return torch::isIndexing(*Call.Op) &&
         llvm::any_of(torch::tensorIndices(Call.Call), [&](const Expr *Index) {
           const Value V = M.deepValue(Index);
           return torch::isBool(V.Scalar.get().value_or("")) ||
                  V.OfType.get() == DType::Bool || V.InShape.leastRank() > 0;
         });
}

void aliases::operation(Machine &M, const OperationCall &Call, Value &Result) {
  const Operation &Op = *Call.Op;
  if (copiesForCertain(M, Call)) {
    Result.InStorage = Known<Storage>(Storage::Owns);
    return;
  }
  Result.InStorage =
      takesTemporary(M, Call) ? Known<Storage>(Storage::Owns) : storageOf(Op);
  if (Call.isFactory())
    return emitAllocation(M, Call, Result);
  const bool HasOperand = !Call.Operands.empty();
  if (Op.View != Tri::No && HasOperand)
    Result.Memory = Call.Values.front().Memory;
  if (torch::isTransfer(Op) && HasOperand)
    emitTransfer(M, Call, Result);
  if (torch::isConcatenation(Op) && HasOperand)
    emitCombination(M, Call);
  if (Op.View != Tri::No && HasOperand && Op.Writes == op::NoArgument)
    alias(M, Call, Result);
}

/// The parts of what a pointer leads to are looked up there.
void aliases::part(Machine &M, PlaceId P, Value &Part) {
  if (M.places().step(P).Of == Step::Field)
    Part.Refs.clear();
}

/// A Flatten, or a function that returns what it is given.
void aliases::call(Machine & /*M*/, const LibraryCall &Call, Value &Result) {
  for (const Value &V : Call.Values)
    insert(Result.Memory, V.Memory);
}

} // namespace torchtidy::model
