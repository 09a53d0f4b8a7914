// Query about values that use memory of others longer than it lives.
#ifndef TORCHTIDY_MODEL_LIFETIME_H
#define TORCHTIDY_MODEL_LIFETIME_H

#include "model/Program.h"

namespace torchtidy::model {

struct Outlived {
  const Execution *Way;
  /// Who took the memory, and from whom.
  const Origin *Loan;
  /// The memory ends.
  const Event *End;
  /// What uses it is read afterwards; or else it lives on:
  const Event *Touch;
  /// in this place, when the way is over.
  std::optional<PlaceId> Holder;
};

/// Memory is lent by from_blob() for a tensor. Nothing is reported where the
/// owner is not known, or where its memory may live on without it (it is moved,
/// swapped, or shared by handles).
std::vector<Outlived> outlivedBlobs(Program &Program);

/// The same for what leads into objects: pointers to the data of a tensor, its
/// sizes, ArrayRef, references to parts of results.
std::vector<Outlived> outlivedWindows(Program &Program);

} // namespace torchtidy::model

#endif
