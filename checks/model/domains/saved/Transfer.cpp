#include "model/domains/saved/Transfer.h"
#include "ast/Expressions.h"
#include "model/machine/Machine.h"
#include "torch/Modules.h"
#include "torch/Saving.h"
#include "torch/Types.h"

using namespace clang;
using torchtidy::torch::Operation;
using torchtidy::torch::Saved;
using torchtidy::torch::Tri;
namespace saving = torchtidy::torch::saving;

namespace torchtidy::model {

void saved::part(Machine & /*M*/, PlaceId /*P*/, Value &Part) {
  Part.SavedBy.clear();
}

/// Which of the elements was saved is not known.
void saved::loaded(Machine &M, PlaceId P, Value &Loaded) {
  if (M.places().isSummary(P))
    Loaded.SavedBy.clear();
}

static void takeNeeds(const Value &From, Value &Result) {
  if (From.mayHaveHistory())
    Result.takeNeeds(From);
}

void saved::operation(Machine & /*M*/, const OperationCall &Call,
                      Value &Result) {
  if (Result.mayHaveHistory())
    for (const Value &V : Call.Values)
      takeNeeds(V, Result);
  // Views share the version of what they look at.
  if (Call.Op->View == Tri::Yes && !torch::hasOwnVersion(*Call.Op))
    Result.SavedBy = Call.self().SavedBy;
}

void saved::call(Machine & /*M*/, const LibraryCall &Call, Value &Result) {
  for (const Value &V : Call.Values)
    takeNeeds(V, Result);
}

void saved::write(Machine & /*M*/, const Value &Written, bool /*IsWhole*/,
                  Value &Target) {
  if (Target.History != history::Leaf)
    takeNeeds(Written, Target);
}

/// Autograd records here. Callers that lie elsewhere may have switched it off;
/// a backward() of what is computed would then throw in any case.
static bool isRecorded(const Machine &M) {
  return M.state().GradMode &&
         !(M.state().GradMode & (mode::Off | mode::Inference));
}

static bool needsGradient(const Value &V) {
  return V.needsGrad() && !(V.History & history::None);
}

/// The one tensor that E names, or that it is a view of.
static std::optional<PlaceId> tensorAt(Machine &M, const Expr *E) {
  const Denotation D = M.denote(E);
  const bool IsView = D.Own.InStorage.get() == Storage::View;
  const PlaceSet &Places =
      D.Objects.empty() && IsView ? D.Own.ViewOf : D.Objects;
  if (Places.size() != 1 || M.places().isSummary(Places.front()) ||
      M.isGradient(Places))
    return std::nullopt;
  const QualType Type = M.places().typeOf(Places.front());
  if (Type.isNull() || !torch::isTensor(Type))
    return std::nullopt;
  return Places.front();
}

namespace {

/// What one call keeps.
class Keeper {
public:
  Keeper(Machine &M, const CallExpr *Call, Value &Result)
      : M(M), Call(Call), Result(Result) {}

  void keepResult() {
    const SaveId Id = add(Saved::Result, nullptr, std::nullopt);
    insert(Result.SavedBy, Id);
  }

  void keepWeights(const PlaceSet &Modules, bool IsUsed) {
    if (Modules.size() == 1)
      add(Saved::Weights, nullptr, Modules.front(), IsUsed);
  }

  /// A tensor that nothing names cannot be written afterwards.
  void keepOperand(const Expr *E, const Value &V) {
    const std::optional<PlaceId> At = tensorAt(M, E);
    // On some paths a weight, on others a result.
    if (!At || ((V.History & history::Leaf) && V.History != history::Leaf))
      return;
    const bool IsWeight = V.History == history::Leaf;
    const PlaceSet Identity = IsWeight ? M.identity(E) : PlaceSet{*At};
    if (Identity.size() != 1)
      return;
    const SaveId Id =
        add(IsWeight ? Saved::Weights : Saved::Operand, E, Identity.front());
    Value Held = M.load(*At);
    insert(Held.SavedBy, Id);
    M.state().Places[*At] = std::move(Held);
  }

private:
  SaveId add(Saved What, const Expr *Operand, std::optional<PlaceId> Of,
             bool IsUsed = true) {
    const SaveId Id =
        M.names().save({M.frame(), Call, What, Operand, Of.value_or(PlaceId()),
                        Of.has_value(), IsUsed});
    Result.addNeed(Id);
    return Id;
  }

  Machine &M;
  const CallExpr *Call;
  Value &Result;
};

} // namespace

/// Autograd keeps the tensor itself, and no copy that lies in order.
static bool isKeptItself(const Value &V) {
  return V.InLayout.get() == Layout::Contiguous ||
         V.InShape.rank().value_or(3) <= 2;
}

static void keepOperands(Keeper &Kept, const Operation &Op,
                         llvm::ArrayRef<const Expr *> Operands,
                         llvm::ArrayRef<Value> Values) {
  const uint8_t Saves = torch::savedBy(Op);
  const unsigned First = torch::firstFactor(Op);
  auto IsTensor = [&](unsigned I) {
    return I < Operands.size() && torch::isTensor(Operands[I]->getType());
  };
  auto Needs = [&](unsigned I) {
    return IsTensor(I) && needsGradient(Values[I]);
  };
  const unsigned Second = First + 1;
  const bool InPlace = Op.Writes == torch::operation::Self;
  if (IsTensor(First) && !InPlace &&
      ((Saves & saving::SelfForSelf && Needs(First)) ||
       (Saves & saving::SelfForOther && Needs(Second))) &&
      (!torch::mayKeepCopy(Op) || isKeptItself(Values[First])))
    Kept.keepOperand(Operands[First], Values[First]);
  if (IsTensor(Second) && ((Saves & saving::OtherForSelf && Needs(First)) ||
                           (Saves & saving::OtherForOther && Needs(Second))))
    Kept.keepOperand(Operands[Second], Values[Second]);
}

void saved::keep(Machine &M, const OperationCall &Call, Value &Result) {
  const Operation &Op = *Call.Op;
  if (!torch::savedBy(Op) || !isRecorded(M) || !needsGradient(Result))
    return;
  Keeper Kept(M, Call.Call, Result);
  keepOperands(Kept, Op, Call.Operands, Call.Values);
  if ((torch::savedBy(Op) & saving::Result) &&
      Op.Writes == torch::operation::NoArgument)
    Kept.keepResult();
}

void saved::keepWritten(Machine &M, const OperationCall &Call) {
  const std::optional<PlaceId> At = tensorAt(M, Call.Operands.front());
  if (!At || !(torch::savedBy(*Call.Op) & saving::Result) || !isRecorded(M))
    return;
  Value Held = M.load(*At);
  if (!needsGradient(Held))
    return;
  Keeper(M, Call.Call, Held).keepResult();
  M.state().Places[*At] = std::move(Held);
}

void saved::keep(Machine &M, const CallExpr *Call, const Operation &Op,
                 llvm::ArrayRef<const Expr *> Operands, Value &Result) {
  if (!torch::savedBy(Op) || !isRecorded(M) || !needsGradient(Result))
    return;
  llvm::SmallVector<const Expr *, 4> Written;
  llvm::SmallVector<Value, 4> Values;
  for (const Expr *Operand : Operands)
    if (!isa<CXXDefaultArgExpr>(Operand)) {
      Written.push_back(Operand);
      Values.push_back(M.deepValue(Operand));
    }
  Keeper Kept(M, Call, Result);
  // With options it may write its operand in place.
  if (Written.size() == 1 || llvm::count_if(Written, [](const Expr *Operand) {
                               return torch::isTensor(Operand->getType());
                             }) == 2)
    keepOperands(Kept, Op, Written, Values);
  if (torch::savedBy(Op) & saving::Result)
    Kept.keepResult();
}

/// A Sequential of layers of LibTorch: the second that has weights needs a
/// gradient of its input, and with that its weights.
static bool isChain(Machine &M, const PlaceSet &Modules, bool InputNeeds) {
  unsigned Layers = InputNeeds ? 1 : 0;
  for (PlaceId Module : Modules)
    for (PlaceId Part : M.parts(Module)) {
      const QualType Type = M.places().knownType(Part);
      const torch::LayerSaving Saves =
          torch::savedBy(Type.isNull() ? nullptr : torch::moduleClass(Type));
      Layers += Saves.Weights || Saves.WeightsForInput;
    }
  return Layers >= 2;
}

void saved::keepOfLayer(Machine &M, const CallExpr *Call,
                        const CXXRecordDecl *Layer, const Expr *Input,
                        const PlaceSet &Modules, Value &Result) {
  const torch::LayerSaving Saves = torch::savedBy(Layer);
  if (!Input || !isRecorded(M) || !needsGradient(Result))
    return;
  const Value Given = M.deepValue(Input);
  const bool Trains = llvm::all_of(
      Modules, [&](PlaceId P) { return M.trainability(P) == history::Leaf; });
  Keeper Kept(M, Call, Result);
  const bool IsKept = (Saves.InputForItself && needsGradient(Given)) ||
                      (Saves.InputForWeights && Trains);
  if (IsKept && torch::isTensor(Input->getType()) &&
      (!Saves.MayKeepCopy || isKeptItself(Given)))
    Kept.keepOperand(Input, Given);
  if (Saves.Result)
    Kept.keepResult();
  const bool InputNeeds = needsGradient(Given);
  const bool IsInside =
      torch::isModuleContainer(Layer) && isChain(M, Modules, InputNeeds);
  if (Trains &&
      (IsInside || Saves.Weights || (Saves.WeightsForInput && InputNeeds)))
    Kept.keepWeights(Modules, IsInside || InputNeeds || Saves.IsRecurrent);
}

/// Every graph that needs one of these is told.
static void spoil(Machine &M, const Expr *Site, const SaveSet &Gone) {
  for (SaveId Id : Gone) {
    const OverwriteId Here = M.names().overwrite({Id, M.frame(), Site});
    for (auto &[P, V] : M.state().Places)
      if (V.needs(Id) && V.mayHaveHistory())
        insert(V.Spoiled, Here);
  }
}

void saved::overwrite(Machine &M, const Expr *Site, const Expr *Target) {
  const Denotation D = M.denote(Target);
  // Which of several is written is not known.
  if (D.Objects.size() > 1)
    return;
  SaveSet Gone = D.Objects.empty() ? D.Own.SavedBy : M.load(D.Objects).SavedBy;
  // With grad mode on it throws to write a weight.
  if (M.state().GradMode != mode::Off)
    llvm::erase_if(Gone, [&](SaveId Id) {
      return M.names().at(Id).What == Saved::Weights;
    });
  if (const std::optional<PlaceId> At = tensorAt(M, Target))
    if (auto It = M.state().Places.find(*At); It != M.state().Places.end())
      It->second.SavedBy.clear();
  spoil(M, Site, Gone);
}

/// One of the tensors, or modules with all their parameters, is what Kept is,
/// or has it in it.
static bool isTrained(const PlaceTable &Places, const PlaceSet &Trained,
                      PlaceId Kept) {
  return llvm::any_of(Trained, [&](PlaceId P) {
    return Places.isWithin(
        Kept, Places.hasStep(P, Step::Parameters) ? Places.owner(P) : P);
  });
}

void saved::step(Machine &M, const Expr *Site, const PlaceSet &Trained) {
  SaveSet Gone;
  const std::vector<Save> &All = M.names().Saves;
  for (unsigned I = 0; I < All.size(); ++I)
    if (All[I].What == Saved::Weights && All[I].IsPlaced &&
        isTrained(M.places(), Trained, All[I].Of))
      insert(Gone, SaveId(I));
  spoil(M, Site, Gone);
}

} // namespace torchtidy::model
