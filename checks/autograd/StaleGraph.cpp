#include "autograd/StaleGraph.h"
#include "torch/Optimizers.h"

using namespace clang;

namespace torchtidy::model {

static const StepEvent *stepAt(const Execution &Entry,
                               const Overwrite &Change) {
  for (const StepEvent &Step : Entry.events<StepEvent>())
    if (Step.Site == Change.Site && Step.In == Change.In &&
        !Step.Optimizers.empty())
      return &Step;
  return nullptr;
}

static StaleUse::Kind outcome(const Execution &Entry, const Overwrite &Change) {
  const StepEvent *Step = stepAt(Entry, Change);
  // Under a guard, by hand.
  if (!Step)
    return StaleUse::Throws;
  if (Step->Optimizers.size() != 1)
    return StaleUse::Either;
  switch (torch::versionsOf(Entry.places().typeOf(Step->Optimizers.front()))) {
  case torch::Versions::Raised:
    return StaleUse::Throws;
  case torch::Versions::Kept:
    return StaleUse::Silent;
  case torch::Versions::Unknown:
    break;
  }
  return StaleUse::Either;
}

/// With SGD only a weight whose value some gradient is computed with matters: a
/// first layer keeps it, and needs it for no input.
static bool isUsed(const SpoiledGraph &Found, StaleUse::Kind Outcome) {
  return Outcome == StaleUse::Throws || Found.Saved->IsUsed;
}

std::vector<StaleUse> staleUses(Program &Program) {
  std::vector<StaleUse> Result;
  for (const auto &Entry : Program.executions()) {
    const size_t First = Result.size();
    for (const SpoiledGraph &Found : spoiledGraphs(*Entry)) {
      const bool IsKnown = std::any_of(
          Result.begin() + First, Result.end(), [&](const StaleUse &Other) {
            return Other.Use->Site == Found.Use->Site &&
                   Other.Use->In == Found.Use->In;
          });
      if (IsKnown || Found.Saved->What != torch::Saved::Weights)
        continue;
      const StaleUse::Kind Outcome = outcome(*Entry, *Found.Change);
      if (isUsed(Found, Outcome))
        Result.push_back({Found, Outcome});
    }
  }
  return Result;
}

} // namespace torchtidy::model
