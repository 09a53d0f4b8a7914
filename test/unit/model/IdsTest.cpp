// Numbers that stand for different things cannot be mixed.
#include "model/base/Ids.h"
#include "model/state/Value.h"
#include "gtest/gtest.h"

using namespace torchtidy::model;

namespace {

template <class To, class From>
constexpr bool MayBecome =
    std::is_convertible_v<From, To> || std::is_constructible_v<To, From> ||
    std::is_assignable_v<To &, From>;

static_assert(!MayBecome<PlaceId, OriginId> && !MayBecome<OriginId, PlaceId>);
static_assert(!MayBecome<LoanId, OriginId> && !MayBecome<AllocationId, LoanId>);
static_assert(!MayBecome<PlaceSet, OriginSet> &&
              !MayBecome<LoanSet, AllocationSet>);
static_assert(!std::is_convertible_v<unsigned, PlaceId>);
static_assert(!std::is_convertible_v<PlaceId, unsigned>);

/// Whether insert(Set, I) compiles.
template <class Set, class I, class = void>
struct MayInsert : std::false_type {};
template <class Set, class I>
struct MayInsert<
    Set, I,
    std::void_t<decltype(insert(std::declval<Set &>(), std::declval<I>()))>>
    : std::true_type {};

static_assert(MayInsert<PlaceSet, PlaceId>::value);
static_assert(MayInsert<PlaceSet, const PlaceSet &>::value);
static_assert(!MayInsert<PlaceSet, OriginId>::value);
static_assert(!MayInsert<OriginSet, const PlaceSet &>::value);
static_assert(!MayInsert<LoanSet, AllocationId>::value);

TEST(Ids, SetsAreSorted) {
  PlaceSet Set;
  EXPECT_TRUE(insert(Set, PlaceId(3)));
  EXPECT_TRUE(insert(Set, PlaceId(1)));
  EXPECT_FALSE(insert(Set, PlaceId(3)));
  EXPECT_EQ(Set, (PlaceSet{PlaceId(1), PlaceId(3)}));
  EXPECT_TRUE(insert(Set, PlaceSet{PlaceId(1), PlaceId(2)}));
  EXPECT_FALSE(insert(Set, PlaceSet{PlaceId(1), PlaceId(2)}));
  EXPECT_EQ(Set.size(), 3u);
}

} // namespace
