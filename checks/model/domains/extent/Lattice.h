// How much of its storage a tensor is, and what has made the storage.
#ifndef TORCHTIDY_DOMAINS_EXTENT_LATTICE_H
#define TORCHTIDY_DOMAINS_EXTENT_LATTICE_H

#include "model/base/Ids.h"
#include "model/base/Known.h"
#include <cstdint>

namespace torchtidy::model {

/// A set of possibilities. Empty: nothing is known, or there is no tensor.
namespace share {
enum : uint8_t {
  /// All of it, in whatever order.
  Whole = 1,
  /// A quarter at most.
  Small = 2,
  /// The storage has few elements: nobody minds what of it is kept.
  Little = 4,
  /// Some of it, or the storage is not known.
  Unknown = 8,
};
} // namespace share

struct Extent {
  static constexpr int64_t SmallPart = 4;
  static constexpr uint64_t FewElements = 4096;

  uint8_t Share = 0;
  /// The operations that may have made it: each time that they run, another
  /// one. Allocations, with or without an AllocateEvent.
  AllocationSet StorageFrom;

  bool isSmallPart() const { return Share == share::Small; }
  bool hasStorageFrom(AllocationId Maker) const {
    return llvm::is_contained(StorageFrom, Maker);
  }

  bool join(const Extent &Other) {
    const bool Changed = joinBits(Share, Other.Share);
    return insert(StorageFrom, Other.StorageFrom) || Changed;
  }
  bool operator==(const Extent &Other) const {
    return Share == Other.Share && StorageFrom == Other.StorageFrom;
  }
};

} // namespace torchtidy::model

#endif
