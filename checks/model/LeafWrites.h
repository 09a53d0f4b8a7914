// Query about leaves that need a gradient and are written in place.
#ifndef TORCHTIDY_MODEL_LEAFWRITES_H
#define TORCHTIDY_MODEL_LEAFWRITES_H

#include "model/Execution.h"

namespace torchtidy::model {

/// An in-place operation on a leaf that needs a gradient, or on a view of one,
/// with grad mode on: it throws.
struct LeafWrite {
  const Event *Write;
  /// The tensor as it is written at the site.
  const clang::Expr *Target;
  bool IsThroughView;
  /// It throws under a guard, too: resize_().
  bool IsResize;
  /// The backward() that shows grad mode to be on, where callers lie elsewhere;
  /// null where it is known.
  const Event *Backward;
};

/// Nothing is reported where a guard of any caller may be in force, where the
/// tensor may be no leaf or need no gradient, or where code that cannot be seen
/// may have frozen it.
std::vector<LeafWrite> leafWrites(const Execution &Way);

} // namespace torchtidy::model

#endif
