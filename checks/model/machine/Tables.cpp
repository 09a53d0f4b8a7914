#include "model/machine/Tables.h"

namespace torchtidy::model {

/// The id of Key in Map; a new one gets Row at the end of Table.
template <class MapT, class KeyT, class RowT>
static auto intern(MapT &Map, const KeyT &Key, std::vector<RowT> &Table,
                   RowT Row) {
  using IdT = typename MapT::mapped_type;
  auto [It, Inserted] = Map.try_emplace(Key, IdT(Table.size()));
  if (Inserted)
    Table.push_back(Row);
  return It->second;
}

OriginId Tables::origin(Origin::Kind Of, const Frame *In,
                        const clang::Expr *Site) {
  assert(Site && Of != Origin::Entry && Of != Origin::Member);
  return intern(OriginsAt, std::pair(Key(In, Site), unsigned(Of)), Origins,
                Origin{Of, In, Site, PlaceId()});
}

OriginId Tables::origin(Origin::Kind Of, const Frame *Root, PlaceId Place) {
  assert(Of == Origin::Entry || Of == Origin::Member);
  return intern(OriginsOf, std::pair(Place, unsigned(Of)), Origins,
                Origin{Of, Root, nullptr, Place});
}

AllocationId Tables::allocation(const Frame *In, const clang::Expr *Site) {
  return intern(AllocationsAt, Key(In, Site), Allocations,
                Allocation{In, Site, PlaceId()});
}

AllocationId Tables::allocation(const Frame *Root, PlaceId Place) {
  return intern(AllocationsOf, Place, Allocations,
                Allocation{Root, nullptr, Place});
}

LoanId Tables::loan(const Frame *In, const clang::Expr *Site, PlaceId Owner) {
  return intern(LoansAt, std::pair(Key(In, Site), Owner), Loans,
                Loan{In, Site, Owner});
}

SaveId Tables::save(const Save &New) {
  return intern(SavesAt,
                std::pair(Key(New.In, New.Site),
                          std::pair(New.Operand, unsigned(New.What))),
                Saves, New);
}

OverwriteId Tables::overwrite(const Overwrite &New) {
  return intern(OverwritesAt, std::pair(Key(New.In, New.Site), New.Of),
                Overwrites, New);
}

} // namespace torchtidy::model
