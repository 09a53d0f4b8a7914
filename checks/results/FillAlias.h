// Query: containers whose elements are all one tensor or one module.
#ifndef TORCHTIDY_RESULTS_FILLALIAS_H
#define TORCHTIDY_RESULTS_FILLALIAS_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A container is filled with handles to one object, and then used as if each
/// element were one of its own.
struct SharedFill {
  const Execution *Entry = nullptr;
  const FillEvent *Fill = nullptr;
  /// The write into an element that changes all of them; null for modules,
  /// whose parameters are the same.
  const WriteEvent *Write = nullptr;
  /// The loop that adds the same tensor again and again; null where one
  /// statement fills the container.
  const flow::Loop *Around = nullptr;
};

/// Nothing is reported where elements are only read, or get another object
/// before; and where the shared object has a name of its own under which it is
/// used as well, so that sharing it is meant.
std::vector<SharedFill> sharedFills(Program &User);

} // namespace torchtidy::model

#endif
