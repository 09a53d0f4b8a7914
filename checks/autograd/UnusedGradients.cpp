#include "autograd/UnusedGradients.h"
#include "queries/graphs/InnerDerivatives.h"
#include "queries/graphs/Training.h"
#include "queries/modes/LeakedGradMode.h"
#include "queries/paths/CallChains.h"
#include "queries/paths/Paths.h"
#include "torch/Api.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

namespace {

class UnusedGradientsQuery {
public:
  UnusedGradientsQuery(const Execution &Entry, const ForwardEvent &Forward)
      : Entry(Entry), Forward(Forward) {}

  std::optional<UnusedGradients> run() const {
    if (!isRecorded() || mayNeedInputGradient() || isLetGo() || isWanted() ||
        mayDifferentiateInside(Entry, Forward))
      return std::nullopt;
    UnusedGradients Result;
    Result.Made = made();
    Result.Backward = backward();
    if (!Result.Made || !Result.Backward)
      return std::nullopt;
    Result.Entry = &Entry;
    Result.Forward = &Forward;
    Result.In = Forward.In;
    Result.Site = Forward.Site;
    return Result;
  }

private:
  /// For certain: its parameters are not frozen, and there is no guard.
  bool isRecorded() const {
    if (Forward.Modules.empty() || !Forward.Result.mayHaveGraph() ||
        Entry.isInForward(Forward.In))
      return false;
    if (Forward.GradMode & mode::Off)
      return isOffByLeak(Entry, Forward) && !mayBeFrozen();
    return !(Forward.Result.History & history::None);
  }

  /// Where grad mode may be off, the result does not show it.
  bool mayBeFrozen() const {
    return llvm::any_of(Entry.events<WriteEvent>(),
                        [&](const WriteEvent &Write) {
                          const auto *Call =
                              dyn_cast_or_null<CallExpr>(Write.Site);
                          return Call &&
                                 torch::classify(Call).Kind ==
                                     torch::Api::RequiresGrad &&
                                 mayBeTheirs(Write.Places);
                        }) ||
           llvm::any_of(Entry.events<LoadEvent>(), [&](const LoadEvent &Load) {
             return isTheirs(Load.Loaded);
           });
  }

  /// The pixels of an image; what another module makes may be such.
  bool mayNeedInputGradient() const {
    const Value &Input = Forward.Input;
    if (Input.needsGrad() || Input.ManyOrigins ||
        llvm::any_of(Input.Origins, [&](OriginId Id) {
          return Entry.origin(Id).Of == Origin::Forward;
        }))
      return true;
    return (Input.History & history::Unknown) && trainsTensors();
  }

  /// Or nobody knows what is trained: a tensor from outside may be among it.
  bool trainsTensors() const {
    if (Entry.root().Function->isMain())
      return false;
    const PlaceTable &Places = Entry.places();
    return llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
      return llvm::any_of(Step.Trained, [&](PlaceId P) {
        return !torch::moduleClass(
            Places.knownType(Places.toldApart(Places.owner(P))));
      });
    });
  }

  bool isTheirs(const PlaceSet &Places) const {
    return Entry.mayAlias(Places, Forward.Parts);
  }

  /// It is from outside, or somebody outside gets it.
  bool isLetGo() const {
    const bool IsMain = Entry.root().Function->isMain();
    return (!IsMain &&
            llvm::any_of(Forward.Parts,
                         [&](PlaceId P) { return Entry.isFromOutside(P); })) ||
           llvm::any_of(
               Entry.events<EscapeEvent>(), [&](const EscapeEvent &Escape) {
                 return isTheirs(Escape.Places) || isTheirs(Escape.Given.Refs);
               });
  }

  /// These parameters, or gradients, are not known to be of others only.
  bool mayBeTheirs(const PlaceSet &Parameters) const {
    const std::optional<PlaceSet> Owners = ownersOf(Entry, Parameters);
    return !Owners || isTheirs(*Owners);
  }

  /// Some optimizer trains it, or may; or somebody reads its gradients (and
  /// copies them to a shared network).
  bool isWanted() const {
    return Entry.events<StepEvent>().empty() ||
           llvm::any_of(Entry.events<ReadGradientEvent>(),
                        [&](const ReadGradientEvent &Read) {
                          return mayBeTheirs(Read.Of);
                        }) ||
           llvm::any_of(Entry.events<AddParametersEvent>(),
                        [&](const AddParametersEvent &Add) {
                          return !Add.Given.Refs.empty() &&
                                 !ownersOf(Entry, Add.Given.Refs);
                        });
  }

  /// A step of it may use the gradients. A teacher may have been trained
  /// before, and be trained later on: what clears its gradients first leaves
  /// none.
  bool mayTrainAfter(const BackwardEvent &Backward) const {
    const bool IsInput = feedsAnother(Backward);
    return llvm::any_of(Entry.events<StepEvent>(), [&](const StepEvent &Step) {
      return mayBeTheirs(Step.Trained) &&
             reaches(Entry, Backward.Point, Step.Point,
                     IsInput ? Nodes() : clearing(Step));
    });
  }

  /// Where the gradients that Step would use are gone for certain.
  Nodes clearing(const StepEvent &Step) const {
    Nodes Result;
    for (const ZeroGradEvent &Clearing : Entry.events<ZeroGradEvent>())
      if (isOne(Clearing.Cleared) && (Clearing.Cleared == Step.Optimizers ||
                                      Clearing.Cleared == Forward.Modules))
        Result.insert(Clearing.Point);
    return Result;
  }

  bool isOne(const PlaceSet &Places) const {
    return Places.size() == 1 && !Entry.places().isSummary(Places.front());
  }

  /// The backward() goes through a network that this one has made the input of:
  /// torch-undetached-generator-output looks at who trains which.
  bool feedsAnother(const BackwardEvent &Backward) const {
    return llvm::any_of(Entry.events<ForwardEvent>(),
                        [&](const ForwardEvent &Other) {
                          return !Entry.isInForward(Other.In) &&
                                 Other.Origin != Forward.Origin &&
                                 Backward.Root.hasOrigin(Other.Origin) &&
                                 Other.Input.hasOrigin(Forward.Origin);
                        });
  }

  const Event *made() const {
    const Event *Result = nullptr;
    // Whether a constructor that nobody has written is there depends on what
    // of LibTorch's templates was instantiated.
    for (const CreateEvent &Create : Entry.events<CreateEvent>())
      if (begins(Entry, Create, Forward.Modules) &&
          !Create.In->Function->isImplicit() &&
          (!Result || !Result->Site || Create.Site))
        Result = &Create;
    for (const LoadEvent &Load : Entry.events<LoadEvent>())
      if (llvm::any_of(Forward.Modules, [&](PlaceId P) {
            return llvm::any_of(Load.Loaded, [&](PlaceId Q) {
              return Entry.places().overlap(P, Q);
            });
          }))
        Result = &Load;
    return Result;
  }

  /// One that goes through the graph; null where something else does, too,
  /// where only some leaves get gradients, and where a step may use them.
  const BackwardEvent *backward() const {
    const BackwardEvent *Result = nullptr;
    for (const GraphUseEvent &Use : Entry.events<GraphUseEvent>()) {
      if (!Use.Root.hasOrigin(Forward.Origin)) {
        // Of so many origins not all are known: it may go through this one.
        if (Use.Root.ManyOrigins)
          return nullptr;
        continue;
      }
      const auto *Backward = Use.getAs<BackwardEvent>();
      if (!Backward || Backward->HasInputs || mayTrainAfter(*Backward))
        return nullptr;
      if (!Result)
        Result = Backward;
    }
    return Result;
  }

  const Execution &Entry;
  const ForwardEvent &Forward;
};

} // namespace

std::vector<UnusedGradients> unusedGradients(Program &Program) {
  std::vector<UnusedGradients> All;
  CallChains Others;
  for (const Execution *Entry : Program.executionsThatCost())
    for (const ForwardEvent &Forward : Entry->events<ForwardEvent>()) {
      if (Entry->isInForward(Forward.In))
        continue;
      if (auto Found = UnusedGradientsQuery(*Entry, Forward).run())
        All.push_back(*Found);
      else if (Forward.Result.mayHaveGraph())
        Others.add(Forward);
    }
  std::vector<UnusedGradients> Result;
  for (UnusedGradients &Found : All)
    if (Others.goToOwnCall(Found.In, Found.Site))
      Result.push_back(Found);
  return Result;
}

} // namespace torchtidy::model
