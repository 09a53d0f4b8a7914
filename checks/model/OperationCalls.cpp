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
    // A leaf that needs a gradient stays one: what is written under a guard is
    // not recorded, and without one the write throws.
    if (New.History == history::Leaf) {
      insert(New.DecidedBy, Event.DecidedBy);
      S->Places[P] = std::move(New);
      continue;
    }
    if (IsWhole)
      New.History = Event.History | (New.History & history::Leaf);
    else
      New.History |= Event.History;
    for (OriginId Id : Event.Origins)
      New.addOrigin(Id);
    insert(New.Saved, Event.Saved);
    insert(New.DecidedBy, Event.DecidedBy);
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

/// The value comes from a forward pass or an operation on a leaf that was seen.
bool Interpreter::hasSource(const Value &V) const {
  return llvm::any_of(V.Origins, [&](OriginId Id) {
    return Origins[Id].Of != Origin::Entry && Origins[Id].Of != Origin::Member;
  });
}

/// Result follows from From, but has no gradient.
void Interpreter::addDecision(Value &Result, const Value &From) const {
  insert(Result.DecidedBy, From.DecidedBy);
  for (OriginId Id : From.Origins)
    if (Origins[Id].Of == Origin::Forward)
      insert(Result.DecidedBy, Id);
}

/// What comes of it is chosen by the operands: an index, a sample, a condition,
/// a number. A size is not, and a detached tensor still is what it was.
static bool isDecision(const Operation &Op) {
  if (Op.Returns == op::Scalar)
    return Op.Sync == Tri::Yes;
  return Op.Differentiable == Tri::No && !Op.has(op::DiscardsHistory) &&
         !Op.has(op::Factory) && !Op.has(op::LikeFactory);
}

/// x.to(device) of a tensor that is known to be there, and of that type.
static bool isSameTensor(const Operation &Op,
                         llvm::ArrayRef<const Expr *> Operands,
                         const Value &Self, const Value &Result) {
  const bool Moves = Op.has(op::ChangesDevice) || Op.has(op::ChangesDtype);
  if (!Moves || !Self.OnDevice.get() || !Self.Scalar.get() ||
      !(Self.OnDevice == Result.OnDevice) || !(Self.Scalar == Result.Scalar))
    return false;
  // to(device, dtype, non_blocking, copy)
  unsigned Flags = 0;
  for (const Expr *Operand : Operands)
    Flags += stripCopies(Operand)->getType()->isBooleanType();
  return Flags == 0;
}

/// index({Slice(1, None), 0, "..."}): with a tensor or a bool among the indices
/// it would be a copy.
static bool isSliced(const Operation *Op,
                     llvm::ArrayRef<const Expr *> Arguments) {
  if (Op->Name != "index" || Arguments.size() != 1)
    return false;
  llvm::SmallVector<const Stmt *, 8> Work = {Arguments.front()};
  bool HasIndices = false;
  while (!Work.empty()) {
    const Stmt *Next = Work.pop_back_val();
    const auto *Index = dyn_cast_or_null<CXXConstructExpr>(Next);
    if (!Index || !torch::isIndex(Index->getType()) ||
        Index->getNumArgs() == 0 ||
        Index->getConstructor()->isCopyOrMoveConstructor()) {
      if (Next)
        Work.append(Next->child_begin(), Next->child_end());
      continue;
    }
    HasIndices = true;
    const QualType From = Index->getConstructor()->getParamDecl(0)->getType();
    if (torch::isTensor(From) || From->isBooleanType())
      return false;
  }
  return HasIndices;
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
    insert(Combined.DecidedBy, V.DecidedBy);
  }
  const bool IsFactory = Op->has(op::Factory) || Op->has(op::LikeFactory);

  // History.
  if (IsFactory)
    Combined.History = WantsGrad ? history::Leaf : history::None;
  else if (Op->has(op::DiscardsHistory) || Op->Differentiable == Tri::No ||
           (Op->has(op::ChangesDtype) && IntegralCast))
    Combined.History = history::None;
  else
    Combined.History = recorded(Histories);
  if (!Combined.mayHaveHistory()) {
    if (isDecision(*Op))
      addDecision(Combined, Combined);
    const bool IsUnrecorded = S->GradMode == mode::Off;
    if ((Op->has(op::DiscardsHistory) || IsUnrecorded) && !IsFactory &&
        !Combined.Origins.empty()) {
      Event Left;
      Left.Kind = EventKind::Discard;
      Left.Site = Call;
      Left.Result = Combined;
      emit(std::move(Left));
    }
    Combined.forgetGraph();
  } else if (Combined.mayHaveGraph() && !hasSource(Combined)) {
    Combined.addOrigin(origin(Origin::Operation, Call));
  }

  describeResult(Combined, Op, Operands);
  tellOfMemory(Call, Op, Operands, Self, Combined);
  Combined.Registered = Op->View == Tri::No || IsFactory
                            ? uint8_t(registered::No)
                            : Self.Registered | registered::No;
  // It returns the tensor itself, where there is nothing to do.
  if (Op->View == Tri::Maybe && !Operands.empty() &&
      torch::isTensor(Call->getType())) {
    if (isSameTensor(*Op, Operands, Self, Combined))
      Combined.History = Self.History;
    else if (Op->Name == "contiguous" || Op->Name == "flatten" ||
             Op->Name == "pin_memory")
      Combined.History |= Self.History & history::Leaf;
  }

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
    if (hasLoans() && (Op->has(op::Resizes) || Op->Name == "set_"))
      for (PlaceId P : denote(Target).Objects)
        endMemory(P, EndKind::Reallocation, Call);
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
        V.detach();
        store(P, V);
      }
      return denote(Target);
    }
    if (replacesContent(Op->Name) && Operands.size() <= 1)
      Combined.History = recorded({Self.History});
    const bool Accumulates =
        Op->Name == "add_" || Op->Name == "sub_" || Op->Name == "__iadd__";
    writeInPlace(Call, Target, Combined, Accumulates,
                 Operands.size() > 1 ? Operands[1] : nullptr);
    Result = denote(Target);
    // torch::ones({1, 1}).fill_(token): a temporary has no place to be written.
    if (Result.Objects.empty() && Result.Own.ViewOf.empty()) {
      Result.Own.History = Combined.History;
      Result.Own.Origins = Combined.Origins;
      Result.Own.ManyOrigins = Combined.ManyOrigins;
      Result.Own.Saved = Combined.Saved;
      Result.Own.DecidedBy = Combined.DecidedBy;
    }
    return Result;
  }
  if (Op->Writes == op::Out && !Arguments.empty()) {
    const Expr *Target =
        Op->Name.ends_with("_outf") ? Arguments.back() : Arguments.front();
    Combined.History = history::None; // out= refuses to be recorded
    writeEvent(Call, Target);
    for (PlaceId P : denote(Target).Objects)
      storeWeak(P, Combined);
    return denote(Target);
  }
  if (Op->Returns == op::Scalar || Op->Returns == op::Nothing) {
    Result.Own.DecidedBy = std::move(Combined.DecidedBy);
    return Result;
  }

  // Of max(dim), topk and their like the second result holds indices.
  if (torch::kindOf(Call->getType()) == TypeKind::Aggregate &&
      returnsIndices(Op->Name)) {
    PlaceId Pair = Places.root(Root::Object, F->Id, Call);
    erase(Pair);
    store(Places.index(Pair, 0), Combined);
    Value Indices = Value::withHistory(history::None);
    addDecision(Indices, Combined);
    store(Places.index(Pair, 1), Indices);
    Result.Objects = {Pair};
    return Result;
  }

  // What a view or a detached alias designates, it still designates.
  if (Op->View != Tri::No && !Operands.empty())
    shareHandle(Operands.front());
  if (!Operands.empty() && hasLoans() && keepsMemory(*Op, Call, Self)) {
    Combined.Loans = Self.Loans;
    Combined.Dangling = Self.Dangling;
  }
  if (Op->View != Tri::No && !Operands.empty()) {
    Combined.BaseHistory =
        Self.BaseHistory & ~history::None ? Self.BaseHistory : Self.History;
    if (Op->View != Tri::Yes && !isSliced(Op, Arguments))
      Combined.BaseHistory |= history::Unknown;
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
