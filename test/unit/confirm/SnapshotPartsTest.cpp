// What a snapshot is made of; as a whole it is read by PyTorch's own reader, in
// test/tool/report-snapshot.test.
#include "export/Blocks.h"
#include "export/PickleWriter.h"
#include <gtest/gtest.h>
#include <sstream>

using namespace torchtidy::confirm;

namespace {

TEST(Pickle, Values) {
  std::ostringstream Out;
  PickleWriter Pickle(Out);
  Pickle.list([&] {
    for (int64_t Each :
         {int64_t(7), int64_t(300), int64_t(-2), int64_t(1) << 40}) {
      Pickle.item();
      Pickle.value(Each);
    }
    Pickle.item();
    Pickle.dictionary([&] { Pickle.pair("a", "a"); });
    Pickle.item();
    Pickle.dictionary([] {});
  });
  Pickle.finish();
  using namespace std::string_literals;
  EXPECT_EQ(Out.str(), "\x80\x02](K\x07M\x2c\x01J\xfe\xff\xff\xff\x8a\x08"s +
                           "\0\0\0\0\0\x01\0\0}(X\x01\0\0\0aq\0h\0u}e."s);
}

TEST(Blocks, NeverOverlapAndLieInSegments) {
  Blocks Allocator(4096);
  std::map<int64_t, int64_t> Live, Segments;
  unsigned Random = 1;
  std::vector<int64_t> Held(50);
  const auto Apply = [&](const std::vector<BlockAction> &Actions) {
    for (const BlockAction &Each : Actions)
      switch (Each.What) {
      case BlockAction::SegmentAlloc:
        Segments[Each.Address] = Each.Bytes;
        break;
      case BlockAction::SegmentFree:
        ASSERT_EQ(Segments.at(Each.Address), Each.Bytes);
        Segments.erase(Each.Address);
        break;
      case BlockAction::Free:
        ASSERT_EQ(Live.at(Each.Address), Each.Bytes);
        Live.erase(Each.Address);
        break;
      case BlockAction::Alloc: {
        ASSERT_GT(Each.Bytes, 0);
        auto Around = Segments.upper_bound(Each.Address);
        ASSERT_NE(Around, Segments.begin());
        --Around;
        ASSERT_LE(Each.Address + Each.Bytes, Around->first + Around->second);
        auto [It, IsNew] = Live.emplace(Each.Address, Each.Bytes);
        ASSERT_TRUE(IsNew);
        if (std::next(It) != Live.end()) {
          ASSERT_LE(Each.Address + Each.Bytes, std::next(It)->first);
        }
        if (It != Live.begin()) {
          ASSERT_LE(std::prev(It)->first + std::prev(It)->second, Each.Address);
        }
      }
      }
  };
  for (int Round = 0; Round < 300; ++Round) {
    int64_t Sum = 0, Reserved = 0;
    for (int64_t &Each : Held) {
      Random = Random * 1103515245 + 12345;
      if (Random >> 30 == 0)
        Each = Random >> 8 & 0xffff;
      Sum += Each;
    }
    Apply(Allocator.hold(Held, 2000000));
    for (const auto &[Address, Bytes] : Live)
      Sum -= Bytes;
    ASSERT_EQ(Sum, 0) << "all that is held, and no more";
    for (const auto &[Address, Bytes] : Segments)
      Reserved += Bytes;
    ASSERT_GE(Reserved, 2000000);
  }
  Apply(Allocator.end());
  EXPECT_TRUE(Live.empty());
  EXPECT_TRUE(Segments.empty());
}

TEST(Blocks, GrowthIsABlockOfItsOwnAndTheNewestGoesFirst) {
  Blocks Allocator(4096);
  const auto Grow = [&](int64_t Bytes) {
    std::string Result;
    for (const BlockAction &Each : Allocator.hold({Bytes}, 0))
      if (Each.What == BlockAction::Alloc || Each.What == BlockAction::Free)
        Result += (Each.What == BlockAction::Alloc ? "+" : "-") +
                  std::to_string(Each.Bytes);
    return Result;
  };
  EXPECT_EQ(Grow(100), "+100");
  EXPECT_EQ(Grow(130), "+30");
  EXPECT_EQ(Grow(130), "");
  EXPECT_EQ(Grow(110), "-30+10");
  EXPECT_EQ(Grow(0), "-10-100");
}

} // namespace
