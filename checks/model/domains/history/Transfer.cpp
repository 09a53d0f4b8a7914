#include "model/domains/history/Transfer.h"
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/machine/Machine.h"
#include "torch/Modules.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Tri;
using torchtidy::torch::TypeKind;
namespace op = torchtidy::torch::operation;

namespace torchtidy::model {

uint8_t recorded(const Machine &M, llvm::ArrayRef<uint8_t> Operands) {
  uint8_t Result = 0, Any = 0;
  bool AllMayBeNone = true;
  for (uint8_t Bits : Operands) {
    Any |= Bits;
    AllMayBeNone &= Bits == 0 || (Bits & history::None);
  }
  const uint8_t GradMode = M.state().GradMode;
  if (AllMayBeNone || (GradMode & mode::Off))
    Result |= history::None;
  // A caller that lies elsewhere has most likely left grad mode at its default.
  if (GradMode & (mode::On | mode::Inherited)) {
    if (Any & (history::Leaf | history::Graph))
      Result |= history::Graph;
    if (Any & history::Unknown)
      Result |= history::Unknown;
  }
  return Result;
}

bool hasSource(const Machine &M, const Value &V) {
  return llvm::any_of(V.Origins, [&](OriginId Id) {
    const Origin::Kind Of = M.names().at(Id).Of;
    return Of != Origin::Entry && Of != Origin::Member;
  });
}

void addDecision(const Machine &M, Value &Result, const Value &From) {
  insert(Result.DecidedBy, From.DecidedBy);
  for (OriginId Id : From.Origins)
    if (M.names().at(Id).Of == Origin::Forward)
      insert(Result.DecidedBy, Id);
}

void beginOrForgetGraph(Machine &M, const Expr *Site, Value &Result) {
  if (!Result.mayHaveHistory())
    Result.forgetGraph();
  else if (Result.mayHaveGraph() && !hasSource(M, Result))
    Result.addOrigin(M.origin(Origin::Operation, Site));
}

std::optional<OriginId> entryOrigin(Machine &M, PlaceId P) {
  const PlaceTable &Places = M.places();
  const Root Kind = Places.rootKind(P);
  if (Kind != Root::This && Kind != Root::Global)
    return std::nullopt;
  PlaceId Whole = P;
  while (!Places.isRoot(Whole) && !Places.isRoot(Places.parent(Whole)))
    Whole = Places.parent(Whole);
  if (Kind == Root::Global)
    Whole = Places.rootOf(P);
  const QualType Type = Places.typeOf(Whole);
  if (Type.isNull() || torch::isModule(Type) || !torch::mayHoldTensor(Type))
    return std::nullopt;
  return M.names().origin(Origin::Entry, &M.graph().root(), Whole);
}

/// So that it can be told who reads a member, whatever object it is in.
static std::optional<OriginId> memberOrigin(Machine &M, PlaceId P) {
  const PlaceTable &Places = M.places();
  PlaceId Holder = P;
  while (!Places.isRoot(Holder) && Places.step(Holder).Of != Step::Field)
    Holder = Places.parent(Holder);
  if (Places.isRoot(Holder))
    return std::nullopt;
  const QualType Type = Places.step(Holder).Member->getType();
  if (torch::isModule(Type) || !torch::mayHoldTensor(Type))
    return std::nullopt;
  return M.names().origin(Origin::Member, &M.graph().root(), Holder);
}

/// A tensor that a layer trains: not its statistics, nor the weights of a loss.
static bool isTrained(const FieldDecl *Member) {
  const auto *Class = dyn_cast<CXXRecordDecl>(Member->getParent());
  return Class && torch::kindOf(Class) == TypeKind::Module &&
         !torch::isStatistic(Member) &&
         torch::parametersOf(Class) != torch::Parameters::None;
}

void history::initial(Machine &M, PlaceId P, Value &Result) {
  const PlaceTable &Places = M.places();
  if (!Places.isRoot(P)) {
    const Step Last = Places.step(P);
    if (Last.Of == Step::Parameters) {
      Result.History = Leaf;
      return;
    }
    if (Last.Of == Step::Gradient) {
      Result.History = None;
      return;
    }
    if (Last.Of == Step::Field && torch::isLibTorch(Last.Member->getParent())) {
      // A batch of a data loader; a weight of a layer.
      Result.History = isTrained(Last.Member) ? M.trainability(Places.parent(P))
                                              : uint8_t(None);
      return;
    }
  }
  if (!M.isFromOutside(P))
    return;
  Result.History = Unknown;
  for (std::optional<OriginId> From : {entryOrigin(M, P), memberOrigin(M, P)})
    if (From)
      Result.addOrigin(*From);
}

/// The operands choose its result: an index, a sample, a condition,
/// a number. A size is not, and a detached tensor still is what it was.
static bool isDecision(const Operation &Op) {
  if (Op.Returns == op::Scalar)
    return Op.Sync == Tri::Yes;
  return Op.Differentiable == Tri::No && !Op.has(op::DiscardsHistory) &&
         !Op.has(op::Factory) && !Op.has(op::LikeFactory);
}

/// x.to(device) of a tensor that is known to be there, and of that type.
static bool isSameTensor(const OperationCall &Call, const Value &Result) {
  const Operation &Op = *Call.Op;
  const Value &Self = Call.Values.front();
  const bool Moves = Op.has(op::ChangesDevice) || Op.has(op::ChangesDtype);
  if (!Moves || !Self.OnDevice.get() || !Self.Scalar.get() ||
      !(Self.OnDevice == Result.OnDevice) || !(Self.Scalar == Result.Scalar))
    return false;
  // to(device, dtype, non_blocking, copy)
  return llvm::none_of(Call.Operands, [](const Expr *Operand) {
    return ast::stripCopies(Operand)->getType()->isBooleanType();
  });
}

/// index({Slice(1, None), 0, "..."}): with a tensor or a bool among the indices
/// it would be a copy.
static bool isSliced(const OperationCall &Call) {
  if (!torch::isIndexing(*Call.Op) || Call.Operands.size() != 2)
    return false;
  bool HasIndices = false, MayCopy = false;
  ast::walk(
      Call.Operands.back(),
      [&](const Stmt *S, llvm::ArrayRef<const Stmt *>) {
        const auto *Index = dyn_cast<CXXConstructExpr>(S);
        if (!Index || !torch::isIndex(Index->getType()) ||
            Index->getNumArgs() == 0 ||
            Index->getConstructor()->isCopyOrMoveConstructor())
          return ast::Next::Children;
        HasIndices = true;
        const QualType From =
            Index->getConstructor()->getParamDecl(0)->getType();
        MayCopy |= torch::isTensor(From) || From->isBooleanType();
        return ast::Next::Past;
      },
      ast::Lambdas::Skip);
  return HasIndices && !MayCopy;
}

/// What the operands say, before it is known what the operation does with it.
static void combine(const OperationCall &Call, Value &Result,
                    llvm::SmallVectorImpl<uint8_t> &Histories, bool &WantsGrad,
                    bool &CastsToIntegral) {
  for (auto [Operand, V] : llvm::zip_equal(Call.Operands, Call.Values)) {
    const QualType Type = Operand->getType();
    const bool MayHold = torch::mayHoldTensor(Type);
    if (MayHold || Operand != Call.Operands.front())
      Histories.push_back(MayHold ? V.History : 0);
    // TensorOptions().requires_grad(true) carries its wish as a history.
    WantsGrad |= !MayHold && (V.History & history::Leaf);
    if (!torch::isTensor(Type))
      if (std::optional<DType> Said = V.OfType.get())
        CastsToIntegral |= *Said == DType::Integral || *Said == DType::Bool;
    Result.takeOrigins(V);
    // Which operands an operation saves is its own affair: any.
    insert(Result.Saved, V.Memory);
    insert(Result.Saved, V.Saved);
    insert(Result.DecidedBy, V.DecidedBy);
  }
}

void history::operation(Machine &M, const OperationCall &Call, Value &Result) {
  const Operation &Op = *Call.Op;
  llvm::SmallVector<uint8_t, 4> Histories;
  bool WantsGrad = false, CastsToIntegral = false;
  combine(Call, Result, Histories, WantsGrad, CastsToIntegral);

  if (Call.isFactory())
    Result.History = WantsGrad ? Leaf : None;
  else if (Op.has(op::DiscardsHistory) || Op.Differentiable == Tri::No ||
           (Op.has(op::ChangesDtype) && CastsToIntegral))
    Result.History = None;
  else
    Result.History = recorded(M, Histories);

  if (!Result.mayHaveHistory()) {
    if (isDecision(Op))
      addDecision(M, Result, Result);
    const bool IsUnrecorded = M.state().GradMode == mode::Off;
    if ((Op.has(op::DiscardsHistory) || IsUnrecorded) && !Call.isFactory() &&
        !Result.Origins.empty())
      M.emit<DiscardEvent>(Call.Call,
                           [&](DiscardEvent &E) { E.Left = Result; });
  }
  beginOrForgetGraph(M, Call.Call, Result);

  if (Op.View == Tri::No || Call.Operands.empty())
    return;
  const Value &Self = Call.Values.front();
  // It returns the tensor itself, where there is nothing to do.
  if (Op.View == Tri::Maybe && torch::isTensor(Call.Call->getType())) {
    if (isSameTensor(Call, Result))
      Result.History = Self.History;
    else if (torch::mayReturnItself(Op))
      Result.History |= Self.History & Leaf;
  }
  Result.BaseHistory =
      Self.BaseHistory & ~None ? Self.BaseHistory : Self.History;
  if (Op.View != Tri::Yes && !isSliced(Call))
    Result.BaseHistory |= Unknown;
}

void history::call(Machine &M, const LibraryCall &Call, Value &Result) {
  const bool MayHold = torch::mayHoldTensor(Call.Call->getType());
  llvm::SmallVector<uint8_t, 4> Histories;
  for (auto [Argument, V] : llvm::zip_equal(Call.Arguments, Call.Values)) {
    if (torch::mayHoldTensor(Argument->getType()))
      Histories.push_back(V.History);
    Result.takeOrigins(V);
    insert(Result.Saved, V.Memory);
    insert(Result.Saved, V.Saved);
    insert(Result.DecidedBy, V.DecidedBy);
    // Options that ask for a gradient.
    if (!MayHold && !Call.IsForward)
      Result.History |= V.History & Leaf;
  }
  if (Call.IsForward || !MayHold)
    return;
  Result.History = recorded(M, Histories);
  beginOrForgetGraph(M, Call.Call, Result);
}

void history::write(Machine & /*M*/, const Value &Written, bool IsWhole,
                    Value &Target) {
  insert(Target.DecidedBy, Written.DecidedBy);
  // A leaf that needs a gradient stays one: what is written under a guard is
  // not recorded, and without one the write throws.
  if (Target.History == Leaf)
    return;
  if (IsWhole)
    Target.History = Written.History | (Target.History & Leaf);
  else
    Target.History |= Written.History;
  Target.takeOrigins(Written);
  insert(Target.Saved, Written.Saved);
}

void history::lost(Value &Tensor) { Tensor.History |= history::Unknown; }

} // namespace torchtidy::model
