// Query: small views that are kept, or saved, and with them a whole storage.
#ifndef TORCHTIDY_MEMORY_VIEWPINSSTORAGE_H
#define TORCHTIDY_MEMORY_VIEWPINSSTORAGE_H

#include "model/execution/Program.h"

namespace torchtidy::model {

/// A view that is a quarter of its storage at most goes into a list, which gets
/// another storage with each iteration or call; or into a file.
struct ViewPinsStorage {
  const Execution *Entry = nullptr;
  const KeepEvent *Keep = nullptr;
  /// It goes to a file.
  bool IsSaved = false;
  /// The list; of a file none.
  std::optional<PlaceId> Place;
  /// The loop that repeats it; null where callers do, and of a file.
  const flow::Loop *Around = nullptr;
  /// The operation that makes the storage, where there is one.
  const clang::Expr *Maker = nullptr;
};

/// Nothing is reported where the storage lives on anyway (it is kept itself, a
/// view of it is that is not small, or code elsewhere gets it), where it is not
/// made anew for each view that is kept, where it is known to be small, or
/// where the list lets its elements go. A view with a graph is
/// torch-retained-graph's: what the graph has saved lives anyway.
std::vector<ViewPinsStorage> findViewPinsStorage(Program &Program);

} // namespace torchtidy::model

#endif
