#include "rules/Series.h"
#include "Recordings.h"
#include <gtest/gtest.h>

using namespace torchtidy::confirm;

namespace {

std::vector<Sample> series(uint64_t Hits,
                           const std::function<int64_t(uint64_t)> &Nodes,
                           uint64_t Stride = 1) {
  std::vector<Sample> Result;
  for (uint64_t Hit = 1; Hit <= Hits; Hit += Stride) {
    Sample Each;
    Each.Hit = Hit;
    Each.Nodes = Nodes(Hit);
    Result.push_back(Each);
  }
  return Result;
}

TEST(Series, SteadyGrowth) {
  EXPECT_DOUBLE_EQ(
      *growthPerHit(series(40, [](uint64_t H) { return 11 * int64_t(H); }),
                    &Sample::Nodes),
      11);
}

TEST(Series, WarmUpIsNoGrowth) {
  // Momentum comes into being in the first iterations.
  EXPECT_DOUBLE_EQ(
      *growthPerHit(
          series(40, [](uint64_t H) { return std::min<int64_t>(H, 9) * 100; }),
          &Sample::Nodes),
      0);
}

TEST(Series, EveryOtherIterationIsNoGrowth) {
  // zero_grad() every other iteration: gradients come and go.
  EXPECT_DOUBLE_EQ(
      *growthPerHit(series(41, [](uint64_t H) { return H % 2 ? 37098 : 0; }),
                    &Sample::Nodes),
      0);
}

TEST(Series, ReleaseAtTheEndOfEpochsDoesNotHideGrowth) {
  EXPECT_DOUBLE_EQ(
      *growthPerHit(series(80, [](uint64_t H) { return int64_t(H % 20) * 11; }),
                    &Sample::Nodes),
      11);
}

TEST(Series, EveryNthHit) {
  EXPECT_DOUBLE_EQ(
      *growthPerHit(series(
                        10000, [](uint64_t H) { return 11 * int64_t(H); }, 128),
                    &Sample::Nodes),
      11);
}

TEST(Series, TooShort) {
  EXPECT_FALSE(growthPerHit(series(29, [](uint64_t H) { return int64_t(H); }),
                            &Sample::Nodes));
  EXPECT_TRUE(growthPerHit(series(30, [](uint64_t H) { return int64_t(H); }),
                           &Sample::Nodes));
}

TEST(Series, Numbers) {
  EXPECT_EQ(bytesText(0), "0 bytes");
  EXPECT_EQ(bytesText(1), "1 byte");
  EXPECT_EQ(bytesText(1023), "1,023 bytes");
  EXPECT_EQ(bytesText(8397), "8.2 KiB");
  EXPECT_EQ(bytesText(131072), "128 KiB");
  EXPECT_EQ(bytesText(3.5 * 1024 * 1024), "3.5 MiB");
  EXPECT_EQ(numberText(10000), "10,000");
  EXPECT_EQ(numberText(1234567), "1,234,567");
  EXPECT_EQ(numberText(-1234), "-1,234");
  EXPECT_EQ(numberText(0.5), "0.5");
  EXPECT_EQ(countText(1, "iteration"), "1 iteration");
}

} // namespace
