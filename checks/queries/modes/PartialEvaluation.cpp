#include "queries/modes/PartialEvaluation.h"
#include "queries/graphs/UsedChains.h"
#include "queries/modes/ModeDependence.h"
#include "queries/paths/Paths.h"
#include <tuple>

namespace torchtidy::model {

namespace {

/// A pass of one module, and, of one that trains, the backward() of it.
struct Pass {
  const ForwardEvent *Forward = nullptr;
  const BackwardEvent *Backward = nullptr;
};

class PartialEvaluationQuery {
public:
  explicit PartialEvaluationQuery(const Execution &Entry) : Entry(Entry) {
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>()) {
      if (Forward.Modules.size() != 1 ||
          Entry.places().isSummary(Forward.Modules.front()))
        continue;
      if (isWithoutGraph(Forward))
        Evaluations.push_back(&Forward);
      else if (!(Forward.GradMode & (mode::Off | mode::Inference)) &&
               Forward.Mode == mode::On)
        for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
          if (Backward.Root.hasOrigin(Forward.Origin))
            Trainings.push_back({&Forward, &Backward});
    }
  }

  std::optional<PartialEvaluation> of(const ModeChangeEvent &Eval) const {
    if (Eval.Mode != mode::Off || Eval.Modules.size() != 1)
      return std::nullopt;
    std::optional<PartialEvaluation> Result;
    for (const ForwardEvent *In : Evaluations)
      for (const ForwardEvent *LeftOut : Evaluations)
        if (areTogether(*In, *LeftOut) && isSetBy(Eval, *In) &&
            LeftOut->Mode == mode::On &&
            (!Result || isOutside(*LeftOut, *Result->LeftOut)))
          if (auto Found = leftOut(Eval, *In, *LeftOut))
            Result = Found;
    return Result;
  }

private:
  static unsigned depth(const Frame *F) {
    unsigned Result = 0;
    for (; F; F = F->Caller)
      ++Result;
    return Result;
  }
  static bool isOutside(const ForwardEvent &A, const ForwardEvent &B) {
    return std::tuple(depth(A.In), A.Point) < std::tuple(depth(B.In), B.Point);
  }

  /// In one activation and iteration, of modules of which none is in the other.
  bool areTogether(const ForwardEvent &A, const ForwardEvent &B) const {
    return A.In == B.In &&
           Entry.loopsAround(A.Point) == Entry.loopsAround(B.Point) &&
           !Entry.mayAlias(A.Parts, B.Parts);
  }

  /// The activation of the eval() is that of the pass, or leads to it.
  bool isSetBy(const ModeChangeEvent &Eval, const ForwardEvent &Pass) const {
    const Frame *F = Pass.In;
    while (F && F != Eval.In)
      F = F->Caller;
    return F && Pass.Mode == mode::Off &&
           llvm::is_contained(Eval.Parts, Pass.Modules.front()) &&
           Entry.comesBefore(Eval.Point, Pass.Point);
  }

  std::optional<PartialEvaluation> leftOut(const ModeChangeEvent &Eval,
                                           const ForwardEvent &In,
                                           const ForwardEvent &LeftOut) const {
    const Pass *Apart = nullptr, *Together = nullptr;
    for (const Pass &Other : Trainings) {
      if (Other.Forward->Modules != LeftOut.Modules)
        continue;
      for (const Pass &One : Trainings) {
        if (One.Forward->Modules != In.Modules)
          continue;
        const Pass *&Best = One.Backward == Other.Backward ? Together : Apart;
        if (!Best)
          Best = &Other;
      }
    }
    const Pass *Trains = Together                    ? Together
                         : hasEnd(Eval, In, LeftOut) ? Apart
                                                     : nullptr;
    if (!Trains || isMeant(LeftOut))
      return std::nullopt;
    PartialEvaluation Result;
    Result.Eval = &Eval;
    Result.LeftOut = &LeftOut;
    Result.Trains = Trains->Forward;
    Result.Backward = Trains->Backward;
    Result.AreTogether = Together != nullptr;
    Result.Part = modeDependentPart(Entry, LeftOut.Parts);
    if (Result.Part.empty())
      return std::nullopt;
    return Result;
  }

  /// The one is set back before the other is trained again, or that never is:
  /// in a loop that trains the other, the one may be a teacher, and what the
  /// other makes of the batch in train mode may be wanted.
  bool hasEnd(const ModeChangeEvent &Eval, const ForwardEvent &In,
              const ForwardEvent &LeftOut) const {
    Nodes Ends{Eval.Point};
    for (const ModeChangeEvent &Change : Entry.events<ModeChangeEvent>())
      if (Change.Mode == mode::On &&
          llvm::is_contained(Change.Parts, In.Modules.front()))
        Ends.insert(Change.Point);
    return llvm::none_of(Trainings, [&](const Pass &Each) {
      return Each.Forward->Modules == LeftOut.Modules &&
             reaches(Entry, LeftOut.Point, Each.Forward->Point, Ends);
    });
  }

  /// It is set to train mode with no training between there and the pass. A
  /// loop that trains is taken to do so, though it might have no iteration.
  bool isMeant(const ForwardEvent &LeftOut) const {
    Nodes Trained;
    for (const Pass &Each : Trainings) {
      if (Each.Forward->Modules != LeftOut.Modules)
        continue;
      Trained.insert(Each.Forward->Point);
      for (const flow::Loop *L : Entry.loopsAround(Each.Forward->Point))
        if (!L->contains(LeftOut.Point))
          Trained.insert(L->Header);
    }
    return llvm::any_of(
        Entry.events<ModeChangeEvent>(), [&](const ModeChangeEvent &Change) {
          return (Change.Mode & ~mode::Off) &&
                 Entry.mayAlias(Change.Parts, LeftOut.Parts) &&
                 reaches(Entry, Change.Point, LeftOut.Point, Trained);
        });
  }

  const Execution &Entry;
  std::vector<const ForwardEvent *> Evaluations;
  std::vector<Pass> Trainings;
};

} // namespace

std::vector<PartialEvaluation> partialEvaluations(const Execution &Entry) {
  const PartialEvaluationQuery Query(Entry);
  std::vector<PartialEvaluation> Result;
  for (const ModeChangeEvent &Eval : Entry.events<ModeChangeEvent>())
    if (const auto Found = Query.of(Eval))
      Result.push_back(*Found);
  return Result;
}

} // namespace torchtidy::model
