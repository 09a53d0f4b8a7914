#include "training/AutocastBoundary.h"
#include "queries/modes/AutocastRegions.h"

namespace torchtidy::model {

/// What goes back through the loss.
static const BackwardEvent *backwardBehind(const Execution &Entry,
                                           const HalfUseEvent &Use) {
  for (const BackwardEvent &Backward : Entry.events<BackwardEvent>())
    if (llvm::any_of(
            Use.OfHalf.Origins,
            [&](OriginId Id) { return Backward.Root.hasOrigin(Id); }) &&
        reaches(Entry, Use.Point, Backward.Point, {}))
      return &Backward;
  return nullptr;
}

/// In the function of the use, or in one that it calls; null where a constant
/// switches it on there.
static const AutocastEvent *switchedByFlag(const Execution &Entry,
                                           const HalfUseEvent &Use) {
  const AutocastEvent *Result = nullptr;
  for (const AutocastEvent &Change : Entry.events<AutocastEvent>()) {
    if (!Change.In->isWithin(Use.In))
      continue;
    if (Change.How == AutocastChange::On)
      return nullptr;
    if (Change.How == AutocastChange::OnIf && !Result)
      Result = &Change;
  }
  return Result;
}

std::vector<AutocastBoundary> autocastBoundaries(Program &Program) {
  std::vector<AutocastBoundary> Result;
  if (hasOtherAutocast(Program))
    return Result;
  for (const auto &Entry : Program.executions()) {
    if (Entry->events<HalfUseEvent>().empty() || convertsModules(*Entry))
      continue;
    for (const HalfUseEvent &Use : Entry->events<HalfUseEvent>()) {
      const BackwardEvent *Backward = nullptr;
      if (Use.How == HalfUse::LossOfBackward) {
        Backward = backwardBehind(*Entry, Use);
        if (!Backward)
          continue;
      }
      Result.push_back(
          {Entry.get(), &Use, Backward, switchedByFlag(*Entry, Use)});
    }
  }
  return Result;
}

} // namespace torchtidy::model
