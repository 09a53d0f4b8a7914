// Queries about containers whose elements are all one tensor or one module.
#ifndef TORCHTIDY_MODEL_SHAREDFILLS_H
#define TORCHTIDY_MODEL_SHAREDFILLS_H

#include "model/Program.h"

namespace torchtidy::model {

/// A container is filled with handles to one object, and then used as if each
/// element were one of its own.
struct SharedFill {
  const Execution *Way;
  const Event *Fill;
  /// The write into an element that changes all of them; null for modules,
  /// whose parameters are the same.
  const Event *Write;
  /// The loop that adds the same tensor again and again; null where one
  /// statement fills the container.
  const flow::Loop *Around;
};

/// Nothing is reported where elements are only read, or get another object
/// before; and where the shared object has a name of its own under which it is
/// used as well, so that sharing it is meant.
std::vector<SharedFill> sharedFills(Program &Program);

} // namespace torchtidy::model

#endif
