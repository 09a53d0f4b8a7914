// What a value designates, and whose storage it shares.
#ifndef TORCHTIDY_DOMAINS_ALIASES_LATTICE_H
#define TORCHTIDY_DOMAINS_ALIASES_LATTICE_H

#include "model/base/Ids.h"
#include "model/base/Known.h"
#include <cstdint>

namespace clang {
class Expr;
}

namespace torchtidy::model {

struct Frame;

/// Memory that a site makes: a factory, a transfer, or (without a site) what a
/// tensor from outside has.
struct Allocation {
  const Frame *In;
  const clang::Expr *Site;
  /// Of memory from outside: the tensor.
  PlaceId Place;
};

enum class Storage : uint8_t {
  /// Its own.
  Owns,
  /// Another tensor's: see Aliases::ViewOf.
  View,
  /// Memory that LibTorch does not own: from_blob.
  Blob,
};

struct Aliases {
  /// The points-to set. For a pointer, reference or handle: the objects it
  /// designates. For a tensor: the parameter it is a handle to.
  PlaceSet Refs;
  /// The tensors whose storage it may share.
  PlaceSet ViewOf;
  /// The allocations whose memory it may use.
  AllocationSet Memory;
  Known<Storage> InStorage;

  bool uses(AllocationId Allocation) const {
    return llvm::is_contained(Memory, Allocation);
  }

  bool join(const Aliases &Other) {
    bool Changed = insert(Refs, Other.Refs);
    Changed |= insert(ViewOf, Other.ViewOf);
    Changed |= insert(Memory, Other.Memory);
    return InStorage.join(Other.InStorage) || Changed;
  }
  bool operator==(const Aliases &Other) const {
    return Refs == Other.Refs && ViewOf == Other.ViewOf &&
           Memory == Other.Memory && InStorage == Other.InStorage;
  }
};

} // namespace torchtidy::model

#endif
