#include "queries/modes/LeakedGradMode.h"
#include "queries/paths/Paths.h"

namespace torchtidy::model {

namespace {

class LeakQuery {
public:
  LeakQuery(const Execution &Entry, const Event &E) : Entry(Entry), E(E) {
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (Change.By == GradModeBy::Set && Change.Mode == mode::On)
        Ons.insert(Change.Point);
  }

  bool run() const {
    if (!(E.GradMode & mode::Off) || (E.GradMode & mode::Inference) ||
        !(E.GradMode & (mode::On | mode::Inherited)))
      return false;
    bool HasLeak = false;
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>()) {
      if (!(Change.Mode & mode::Off))
        continue;
      if (isLeak(Change))
        HasLeak = true;
      else if (isMeant(Change))
        return false;
    }
    return HasLeak;
  }

private:
  /// The stretch that it is meant for is one of its own function.
  bool isLeak(const GradModeChangeEvent &Off) const {
    return Off.By == GradModeBy::Set && Off.Mode == mode::Off &&
           !E.In->isWithin(Off.In) &&
           llvm::any_of(Entry.events<GradModeChangeEvent>(),
                        [&](const GradModeChangeEvent &On) {
                          return On.In == Off.In && Ons.count(On.Point) &&
                                 Entry.comesBefore(Off.Point, On.Point);
                        });
  }

  /// It is in force at E. The end of a guard, and of a thread, only restores
  /// what was before it.
  bool isMeant(const GradModeChangeEvent &Change) const {
    switch (Change.By) {
    case GradModeBy::Set:
      return !onlyRestores(Change) &&
             reaches(Entry, Change.Point, E.Point, endsOfStretch(Change));
    case GradModeBy::GuardBegins:
      return reaches(Entry, Change.Point, E.Point, endsOf(Change));
    case GradModeBy::GuardEnds:
    case GradModeBy::Thread:
      break;
    }
    return false;
  }

  /// The function that has switched grad mode off sets it to what it was
  /// before: set_enabled(before).
  bool restores(const GradModeChangeEvent &Change,
                const GradModeChangeEvent &Off) const {
    return Change.By == GradModeBy::Set && Change.In == Off.In &&
           Off.By == GradModeBy::Set && Off.Mode == mode::Off &&
           Change.Mode == Off.GradMode && Change.Mode != mode::Off &&
           Entry.comesBefore(Off.Point, Change.Point);
  }

  bool onlyRestores(const GradModeChangeEvent &Change) const {
    return llvm::any_of(
        Entry.events<GradModeChangeEvent>(),
        [&](const GradModeChangeEvent &Off) { return restores(Change, Off); });
  }

  /// Where it is on again, or what it was before.
  Nodes endsOfStretch(const GradModeChangeEvent &Off) const {
    Nodes Result = Ons;
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (restores(Change, Off))
        Result.insert(Change.Point);
    return Result;
  }

  Nodes endsOf(const GradModeChangeEvent &Begin) const {
    Nodes Result;
    for (const GradModeChangeEvent &Change :
         Entry.events<GradModeChangeEvent>())
      if (Change.By == GradModeBy::GuardEnds && Change.Guard == Begin.Guard &&
          Change.In == Begin.In)
        Result.insert(Change.Point);
    return Result;
  }

  const Execution &Entry;
  const Event &E;
  /// Where grad mode is switched on for certain.
  Nodes Ons;
};

} // namespace

bool isOffByLeak(const Execution &Entry, const Event &E) {
  return LeakQuery(Entry, E).run();
}

} // namespace torchtidy::model
