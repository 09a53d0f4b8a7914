#include "rules/Results.h"
#include "rules/Lifetimes.h"
#include "rules/Members.h"
#include "rules/Scales.h"
#include <algorithm>

namespace torchtidy::confirm {
namespace {

/// Of the hits, so many leave a result that nothing uses.
constexpr double ShareOfUnusedHits = 0.9;
/// Fewer optimizers say nothing: one may be made for another phase.
constexpr uint64_t FewestOptimizers = 3;
constexpr double ShareMadeAgain = 0.5;

/// Of the nodes of a pass, so many are run by a backward where each pass is.
constexpr double ShareTrainedAlways = 0.95;
constexpr uint64_t FewestBackwards = 10;
/// Hooks that pile up are called three times as often in the second half.
constexpr double GrowthOfHooks = 2;
constexpr double NoGrowthOfHooks = 1.3;
/// Of these so many are for a tensor that has one already.
constexpr double ShareHookedAgain = 0.5;

bool endsWith(const std::vector<SourceLine> &Stack,
              const std::vector<SourceLine> &End) {
  return Stack.size() > End.size() && !End.empty() &&
         std::equal(End.begin(), End.end(), Stack.end() - long(End.size()),
                    [](const SourceLine &A, const SourceLine &B) {
                      return A.Line == B.Line && A.File == B.File;
                    });
}

bool isOneOf(const Places &Where, std::initializer_list<FindingKind> Kinds) {
  return Where.Finding.Kind && std::find(Kinds.begin(), Kinds.end(),
                                         *Where.Finding.Kind) != Kinds.end();
}

/// The operation whose result a statement leaves: of the nearest ones that take
/// memory, the one that ran last for the first time.
const Site *resultOf(const CallPath &Path) {
  const Site *Result = nullptr;
  for (const Site *S : Path.Sites)
    if (S->Allocations + S->CudaAllocations &&
        (!Result || S->Stack.size() <= Result->Stack.size()))
      Result = S;
  return Result;
}

/// The new tensor is gone when the statement ends. One that is put into a copy
/// of a handle may be used through the copy.
std::optional<Verdict> ofUnusedResult(const Places &Where, bool IsCopy) {
  Verdict V;
  V.Rule = "results that nothing uses";
  V.Unit = "results";
  V.Iterations = Where.iterations();
  uint64_t Hits = 0, Unused = 0;
  std::string Operation;
  for (const CallPath &Path : Where.Statement)
    if (const Site *S = resultOf(Path)) {
      Hits += S->Hits;
      Unused += std::min(S->DiedAtOnce, S->Hits);
      Operation = S->Operation;
    }
  if (!Hits)
    return std::nullopt;
  V.Number = double(Unused);
  if (double(Unused) >= ShareOfUnusedHits * double(Hits))
    return wrongResult(std::move(V), double(Unused),
                       "the result of " + Operation +
                           " is gone before any operation has used it, " +
                           numberText(double(Unused)) + " of " +
                           countText(double(Hits), "time"));
  if (IsCopy && Unused)
    return std::nullopt;
  V.Sentence = "the result of " + Operation +
               " is used: it is there when the "
               "next operation begins, " +
               numberText(double(Hits - Unused)) + " of " +
               countText(double(Hits), "time");
  // Through the copy, perhaps.
  if (IsCopy)
    return std::nullopt;
  V.Result = Outcome::Refuted;
  return V;
}

/// Parameters that are made at the line, trained, and in no optimizer, though
/// others are.
std::optional<Verdict> ofLeaves(const Places &Where) {
  Verdict V;
  V.Rule = "leaves that get gradients and that no step changes";
  V.Unit = "leaves";
  V.Iterations = Where.iterations();
  uint64_t Trained = 0, Stepped = 0;
  for (const Site *S : sitesOf(Where.Statement)) {
    Trained += S->LeavesTrained;
    Stepped += S->LeavesStepped;
  }
  const bool IsAnyStepped =
      std::any_of(Where.Run.Sites.begin(), Where.Run.Sites.end(),
                  [](const Site &S) { return S.LeavesStepped > 0; });
  if (!Trained || (!IsAnyStepped && !Stepped))
    return std::nullopt;
  V.Number = double(Trained - std::min(Trained, Stepped));
  const std::string Of = numberText(*V.Number) + " of " +
                         countText(double(Trained), "leaf tensor") +
                         " made at this line get gradients, and no step "
                         "changes them";
  if (*V.Number > 0)
    return wrongResult(std::move(V), double(Trained - Stepped),
                       Of + ", though a step changes others");
  V.Result = Outcome::Refuted;
  V.Sentence = "all " + countText(double(Trained), "leaf tensor") +
               " made at this line that get gradients are changed by a step";
  return V;
}

/// Each time the state of the optimizer before is forgotten.
std::optional<Verdict> ofOptimizers(const Places &Where) {
  Verdict V;
  V.Rule = "optimizers of the same parameters";
  V.Unit = "optimizers";
  uint64_t Made = 0, Again = 0;
  for (const Site *S : sitesOf(Where.Statement))
    if (S->Operation == "optimizer") {
      Made += S->Hits;
      Again += S->MadeAgain;
    }
  if (Made < FewestOptimizers)
    return std::nullopt;
  V.Iterations = Made;
  V.Number = double(Again);
  const std::string Of = numberText(double(Again)) + " of " +
                         countText(double(Made), "optimizer") +
                         " made at this line are for parameters that the one "
                         "before had stepped";
  if (double(Again) >= ShareMadeAgain * double(Made))
    return wrongResult(std::move(V), double(Again), Of);
  V.Sentence = Of;
  if (!Again)
    V.Result = Outcome::Refuted;
  return V;
}

/// What the operations with two modes of some paths did.
struct Modes {
  uint64_t Training = 0, Evaluation = 0;
  /// Of the nodes that any backward runs, the share that one does.
  double ShareTrained = 0;
  std::string Operation;
};

Modes modesOf(const std::vector<CallPath> &Paths) {
  Modes Result;
  uint64_t Made = 0, Run = 0;
  for (const Site *S : sitesOf(Paths)) {
    Result.Training += S->InTraining;
    Result.Evaluation += S->InEvaluation;
    if (S->InTraining + S->InEvaluation)
      Result.Operation = S->Operation;
    if (S->NodesRunOnce) {
      Made += S->NodesMade;
      Run += S->NodesRunOnce;
    }
  }
  Result.ShareTrained = Made ? double(Run) / double(Made) : 0;
  return Result;
}

const std::vector<CallPath> &passOf(const Places &Where) {
  return Where.IterationSite.empty() ? Where.Statement : Where.IterationSite;
}

std::string modesText(const Modes &Of) {
  return Of.Operation + " ran " + countText(double(Of.Training), "time") +
         " in training mode and " + countText(double(Of.Evaluation), "time") +
         " in eval mode";
}

/// A pass that backwards run, in the mode of evaluation since one was. What was
/// in that mode from the start is meant to be.
std::optional<Verdict> ofTrainingInEvalMode(const Places &Where) {
  const Modes Of = modesOf(passOf(Where));
  if (Of.Training + Of.Evaluation == 0 || Of.ShareTrained == 0)
    return std::nullopt;
  Verdict V;
  V.Rule = "modes of passes that a backward runs";
  V.Unit = "operations in eval mode";
  V.Iterations = iterationsOf(passOf(Where));
  V.Number = double(Of.Evaluation);
  if (Of.Evaluation && Of.Training && Of.ShareTrained >= ShareTrainedAlways)
    return wrongResult(std::move(V), double(Of.Evaluation),
                       "a backward() runs all passes, and " + modesText(Of));
  V.Sentence = modesText(Of) + " in this pass";
  if (!Of.Evaluation)
    V.Result = Outcome::Refuted;
  return V;
}

/// A pass that no backward runs, and a part of it in training mode.
std::optional<Verdict> ofEvaluationInTrainingMode(const Places &Where) {
  const Modes Of = modesOf(passOf(Where));
  if (Of.Training + Of.Evaluation == 0)
    return std::nullopt;
  Verdict V;
  V.Rule = "modes of passes that no backward runs";
  V.Unit = "operations in training mode";
  V.Iterations = iterationsOf(passOf(Where));
  V.Number = double(Of.Training);
  if (Of.Training && Of.ShareTrained == 0)
    return wrongResult(std::move(V), double(Of.Training),
                       "no backward() runs this pass, and " + modesText(Of));
  V.Sentence = modesText(Of) + " in this pass";
  if (!Of.Training)
    V.Result = Outcome::Refuted;
  return V;
}

/// Hits of a site until some time, as its samples have it.
double hitsUntil(const Site &S, double Seconds) {
  double Result = 0;
  for (const Sample &Each : S.Series)
    if (Each.Seconds <= Seconds)
      Result = double(Each.Hit);
  return Result;
}

/// Hooks that the statement registers, and of these those for a tensor that has
/// one of it already.
struct Hooks {
  uint64_t Registered = 0, Again = 0;

  explicit Hooks(const Places &Where) {
    for (const Site *S : sitesOf(Where.Statement))
      if (S->Operation == "register_hook") {
        Registered += S->Hits;
        Again += S->HookedAgain;
      }
  }
  bool areOnePerTensor() const {
    return Registered && double(Again) < ShareHookedAgain * double(Registered);
  }
};

/// The operations of a hook that the statement registers, by the backwards that
/// call it: in the second half of these far more than in the first. One for
/// each of several tensors is called as often from the start.
std::optional<Verdict> ofHooks(const Places &Where) {
  for (const CallPath &Path : Where.Statement)
    for (const Site &Backward : Where.Run.Sites) {
      const Site *Hook = Path.Clock;
      if (!Hook || Backward.Operation != "backward" ||
          Backward.Series.empty() || Backward.Hits < FewestBackwards ||
          !endsWith(Hook->Stack, Backward.Stack))
        continue;
      const double Middle = Backward.Series[Backward.Series.size() / 2].Seconds;
      const double First = hitsUntil(*Hook, Middle);
      const double Second = double(Hook->Hits) - First;
      Verdict V;
      V.Rule = "calls of the hook in each half of the backward passes";
      V.Unit = "calls of the hook";
      V.Iterations = Backward.Hits;
      V.Number = double(Hook->Hits);
      V.Sentence =
          "the hook was called " + countText(double(Hook->Hits), "time") +
          " in " + numberText(double(Backward.Hits)) + " backward passes" +
          ", " + numberText(First) + " times in the first half of them";
      const Hooks Of(Where);
      if (Of.areOnePerTensor()) {
        V.Rule = "hooks of each tensor";
        V.Sentence += "; " + numberText(double(Of.Again)) + " of " +
                      countText(double(Of.Registered), "hook") +
                      " were for a tensor that had one of this line already";
        if (!Of.Again)
          V.Result = Outcome::Refuted;
        return V;
      }
      if (First && Second >= GrowthOfHooks * First)
        return wrongResult(V, double(Hook->Hits), V.Sentence);
      if (Second <= NoGrowthOfHooks * First)
        V.Result = Outcome::Refuted;
      return V;
    }
  return std::nullopt;
}

} // namespace

std::optional<Verdict> judgeResult(const Places &Where) {
  using K = FindingKind;
  if (std::optional<Verdict> Seen = judgeMembers(Where))
    return Seen;
  if (std::optional<Verdict> Seen = judgeScale(Where))
    return Seen;
  if (isOneOf(Where, {K::BlobReadsBeyond}))
    return judgeWidth(Where);
  if (isOneOf(Where, {K::DiscardedConversion, K::DiscardedComputation}))
    return ofUnusedResult(Where, /*IsCopy=*/false);
  if (isOneOf(Where,
              {K::WriteIntoTemporary, K::WriteIntoTemporaryRange,
               K::WriteIntoLoopCopy, K::WriteIntoParameter, K::WriteIntoCopy}))
    return ofUnusedResult(Where, /*IsCopy=*/true);
  if (isOneOf(Where, {K::UnregisteredSubmodule, K::UnregisteredParameter,
                      K::ReassignedParameter, K::ReassignedModule}))
    return ofLeaves(Where);
  if (isOneOf(Where, {K::OptimizerInLoop}))
    return ofOptimizers(Where);
  if (isOneOf(Where, {K::EvalModeNotRestored}))
    return ofTrainingInEvalMode(Where);
  if (isOneOf(Where, {K::PartialEvalMode}))
    return ofEvaluationInTrainingMode(Where);
  if (isOneOf(Where, {K::HookChangesGradient, K::HookPilesUp}))
    return ofHooks(Where);
  return std::nullopt;
}

} // namespace torchtidy::confirm
