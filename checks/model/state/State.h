// What is known at a point of the program. All of it: the transfer function
// reads nothing else, and writes nothing else.
#ifndef TORCHTIDY_STATE_STATE_H
#define TORCHTIDY_STATE_STATE_H

#include "model/state/Value.h"
#include <map>

namespace torchtidy::model {

/// What an expression denotes: the objects, for a glvalue or an object of class
/// type, and its value otherwise.
struct Denotation {
  PlaceSet Objects;
  Value Own;

  bool join(const Denotation &Other) {
    const bool Changed = insert(Objects, Other.Objects);
    return Own.join(Other.Own) || Changed;
  }
  bool operator==(const Denotation &Other) const {
    return Objects == Other.Objects && Own == Other.Own;
  }
};

/// Tensors on the host that a device writes while the host goes on.
struct UnwaitedCopies {
  /// Their memory; and what of it may have been written completely, because the
  /// host has waited on some path.
  AllocationSet Started, Finished;

  bool join(const UnwaitedCopies &Other) {
    const bool StartedMore = insert(Started, Other.Started);
    const bool FinishedMore = insert(Finished, Other.Finished);
    assert(std::includes(Started.begin(), Started.end(), Finished.begin(),
                         Finished.end()) &&
           "a copy is finished that was never started");
    return StartedMore || FinishedMore;
  }
  bool operator==(const UnwaitedCopies &Other) const {
    return Started == Other.Started && Finished == Other.Finished;
  }
};

struct State {
  std::map<PlaceId, Value> Places;
  uint8_t GradMode = 0;
  /// Possibilities of autocast in this thread: casting::Off and its like.
  uint8_t Autocast = 0;
  /// What the parts of the statements that are being evaluated denote, by the
  /// frame (Frame::Id) that evaluates them.
  std::map<std::pair<unsigned, const clang::Expr *>, Denotation> Denotations;
  /// Owners whose memory may live on without them: moved, swapped, shared.
  PlaceSet GivenUp;
  /// Containers for which reserve() may have been called: they grow in place.
  PlaceSet Reserved;
  /// Objects that an expression has made and that end with it.
  PlaceSet Temporaries;
  UnwaitedCopies Copies;

  const Value *find(PlaceId P) const {
    auto It = Places.find(P);
    return It == Places.end() ? nullptr : &It->second;
  }

  bool operator==(const State &Other) const {
    return Places == Other.Places && GradMode == Other.GradMode &&
           Autocast == Other.Autocast && Denotations == Other.Denotations &&
           GivenUp == Other.GivenUp && Reserved == Other.Reserved &&
           Temporaries == Other.Temporaries && Copies == Other.Copies;
  }
};

} // namespace torchtidy::model

#endif
