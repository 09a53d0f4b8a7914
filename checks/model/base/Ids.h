// Numbers that stand for things, each kind a type of its own: a place is no
// origin, and a loan no allocation.
#ifndef TORCHTIDY_BASE_IDS_H
#define TORCHTIDY_BASE_IDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cassert>

namespace torchtidy::model {

/// An index into the table that Tag names. Ordered by when the thing was first
/// met, which is deterministic.
template <class Tag> class Id {
public:
  constexpr Id() = default;
  constexpr explicit Id(unsigned Number) : Number(Number) {}

  constexpr unsigned number() const { return Number; }

  friend constexpr bool operator==(Id A, Id B) { return A.Number == B.Number; }
  friend constexpr bool operator!=(Id A, Id B) { return A.Number != B.Number; }
  friend constexpr bool operator<(Id A, Id B) { return A.Number < B.Number; }
  friend llvm::raw_ostream &operator<<(llvm::raw_ostream &Out, Id I) {
    return Out << I.Number;
  }

private:
  unsigned Number = 0;
};

/// A set of ids: sorted, without duplicates.
template <class Tag, unsigned N = 2>
using IdSet = llvm::SmallVector<Id<Tag>, N>;

/// Adds I to a set; true when it was not there.
template <class Tag>
bool insert(llvm::SmallVectorImpl<Id<Tag>> &Set, Id<Tag> I) {
  auto It = llvm::lower_bound(Set, I);
  if (It != Set.end() && *It == I)
    return false;
  Set.insert(It, I);
  return true;
}
template <class Tag>
bool insert(llvm::SmallVectorImpl<Id<Tag>> &Set,
            const llvm::SmallVectorImpl<Id<Tag>> &Others) {
  assert(llvm::is_sorted(Set) && llvm::is_sorted(Others) && "not a set");
  // As a rule all of them are there already.
  if (std::includes(Set.begin(), Set.end(), Others.begin(), Others.end()))
    return false;
  bool Changed = false;
  for (Id<Tag> I : Others)
    Changed |= insert(Set, I);
  return Changed;
}

/// Access paths: PlaceTable.
using PlaceId = Id<struct PlaceTag>;
using PlaceSet = IdSet<struct PlaceTag>;
/// Where values come from: Origin.
using OriginId = Id<struct OriginTag>;
using OriginSet = IdSet<struct OriginTag>;
/// Memory that something makes: Allocation.
using AllocationId = Id<struct AllocationTag>;
using AllocationSet = IdSet<struct AllocationTag>;
/// Memory that something uses without owning it: Loan.
using LoanId = Id<struct LoanTag>;
using LoanSet = IdSet<struct LoanTag>;
/// What a graph keeps for backward(): Save.
using SaveId = Id<struct SaveTag>;
using SaveSet = IdSet<struct SaveTag>;
/// Where what it keeps is changed: Overwrite.
using OverwriteId = Id<struct OverwriteTag>;
using OverwriteSet = IdSet<struct OverwriteTag>;

} // namespace torchtidy::model

namespace llvm {
template <class Tag> struct DenseMapInfo<torchtidy::model::Id<Tag>> {
  using Id = torchtidy::model::Id<Tag>;
  static Id getEmptyKey() { return Id(~0u); }
  static Id getTombstoneKey() { return Id(~0u - 1); }
  static unsigned getHashValue(Id I) { return I.number() * 37u; }
  static bool isEqual(Id A, Id B) { return A == B; }
};
} // namespace llvm

#endif
