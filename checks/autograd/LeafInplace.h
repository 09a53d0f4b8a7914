// Query: leaves that need a gradient and are written in place.
#ifndef TORCHTIDY_AUTOGRAD_LEAFINPLACE_H
#define TORCHTIDY_AUTOGRAD_LEAFINPLACE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// An in-place operation on a leaf that needs a gradient, or on a view of one,
/// with grad mode on: it throws.
struct LeafWrite {
  const Execution *Entry = nullptr;
  const WriteEvent *Write = nullptr;
  /// The tensor as it is written at the site.
  const clang::Expr *Target = nullptr;
  bool IsThroughView = false;
  /// It throws under a guard, too: resize_().
  bool IsResize = false;
  /// The backward() that shows grad mode to be on, where callers lie elsewhere;
  /// null where it is known.
  const BackwardEvent *Backward = nullptr;
};

/// Nothing is reported where a guard of any caller may be in force, where the
/// tensor may be no leaf or need no gradient, or where code that cannot be seen
/// may have frozen it.
std::vector<LeafWrite> leafWrites(Program &Program);

} // namespace torchtidy::model

#endif
