#include "autograd/InplaceSaved.h"
#include "queries/graphs/InnerDerivatives.h"

using namespace clang;

namespace torchtidy::model {

/// Modules that code elsewhere was given may be frozen, and a TorchScript
/// module may be: what they return then has no graph.
static bool mayBeFrozen(const Execution &Entry, const ForwardEvent &Forward) {
  return isUnseen(Forward) ||
         llvm::any_of(Entry.events<EscapeEvent>(), [&](const auto &Escape) {
           return Entry.mayAlias(Escape.Places, Forward.Modules);
         });
}

/// What was written was computed by such a module.
static bool mayBeUnrecorded(const SpoiledGraph &Found) {
  const Execution &Entry = *Found.Entry;
  for (const WriteEvent &Write : Entry.events<WriteEvent>()) {
    if (Write.Site != Found.Change->Site || Write.In != Found.Change->In)
      continue;
    for (const ForwardEvent &Forward : Entry.events<ForwardEvent>())
      if (Write.Before.hasOrigin(Forward.Origin) && mayBeFrozen(Entry, Forward))
        return true;
  }
  return false;
}

std::vector<SavedWrite> savedWrites(Program &Program) {
  std::vector<SavedWrite> Result;
  for (const auto &Entry : Program.executions()) {
    const size_t First = Result.size();
    for (const SpoiledGraph &Found : spoiledGraphs(*Entry)) {
      const bool IsKnown = std::any_of(
          Result.begin() + First, Result.end(), [&](const SavedWrite &Other) {
            return Other.Change->Site == Found.Change->Site &&
                   Other.Change->In == Found.Change->In;
          });
      if (IsKnown || Found.Saved->What == torch::Saved::Weights ||
          mayBeUnrecorded(Found))
        continue;
      Result.push_back({Found, writtenAt(Found.Change->Site)});
    }
  }
  return Result;
}

} // namespace torchtidy::model
