// Where autocast is on.
#ifndef TORCHTIDY_QUERIES_MODES_AUTOCASTREGIONS_H
#define TORCHTIDY_QUERIES_MODES_AUTOCASTREGIONS_H

#include "model/execution/Program.h"
#include "queries/paths/Paths.h"

namespace torchtidy::model {

class AutocastRegions {
public:
  explicit AutocastRegions(const Execution &Entry);

  bool isEmpty() const { return Switches.empty(); }
  /// The switch that has it on at E on some path, with nothing in between that
  /// may change it. Null where there is none.
  const AutocastEvent *switchOf(const Event &E) const;
  /// Of all places that switch it on, by a constant or a flag.
  llvm::ArrayRef<const AutocastEvent *> switches() const { return Switches; }
  /// Points behind which it is another, or may be.
  const Nodes &changes() const { return Changes; }

private:
  const Execution &Entry;
  llvm::SmallVector<const AutocastEvent *, 4> Switches;
  Nodes Changes;
};

/// The variable of a guard, and not what its constructor does.
const clang::Stmt *writtenSwitch(const AutocastEvent &On);

/// The file switches the cache off, or casts to another type than half
/// precision, or may.
bool hasOtherAutocast(Program &Program);
/// The weights of some module may be in another type than float.
bool convertsModules(const Execution &Entry);

} // namespace torchtidy::model

#endif
