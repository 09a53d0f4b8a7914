#include "scenarios/Compare.h"
#include "scenarios/Format.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace torchtidy::confirm;
using namespace torchtidy::confirm::scenarios;

namespace {

const Quantity Nodes{"training", "nodes-kept"};

Claim claim() {
  Claim Result;
  Result.What = Nodes;
  return Result;
}

Runs runs(double Wrong, double Fixed) {
  Runs Result;
  Result.Wrong.Values.insert_or_assign(Nodes, Wrong);
  Result.Fixed.Values.insert_or_assign(Nodes, Fixed);
  return Result;
}

bool holds(const Claim &C, double Wrong, double Fixed) {
  return compare({C}, "cpu", {{1, runs(Wrong, Fixed)}}).holds();
}

TEST(Compare, FactorAsksForMore) {
  Claim C = claim();
  C.Factor = 3;
  EXPECT_TRUE(holds(C, 30, 10));
  EXPECT_FALSE(holds(C, 29, 10));
  EXPECT_TRUE(holds(C, 1, 0));
  EXPECT_FALSE(holds(C, 0, 0));
  EXPECT_FALSE(holds(C, NAN, 0));
}

TEST(Compare, MoreIsADifference) {
  Claim C = claim();
  C.More = 2;
  EXPECT_TRUE(holds(C, 44, 42));
  EXPECT_FALSE(holds(C, 43, 42));
}

TEST(Compare, SameAllowsForRounding) {
  Claim C = claim();
  C.Same = true;
  EXPECT_TRUE(holds(C, 0.80000, 0.80001));
  EXPECT_TRUE(holds(C, 0, 0));
  EXPECT_FALSE(holds(C, 0.80, 0.81));
}

TEST(Compare, WhatIsReportedNeverFails) {
  EXPECT_TRUE(holds(claim(), 0, 10));
  EXPECT_TRUE(compare({claim()}, "cpu", {{1, Runs()}}).holds());
}

TEST(Compare, WhatWasNotMeasuredFails) {
  Claim C = claim();
  C.Factor = 2;
  const Outcome O = compare({C}, "cpu", {{1, Runs()}});
  ASSERT_EQ(O.Rows.size(), 1u);
  EXPECT_EQ(O.Rows[0].Says, Verdict::Failed);
  EXPECT_EQ(O.Rows[0].Why, "not measured");
}

TEST(Compare, FixedCopyMeasuresAsFixed) {
  Claim C = claim();
  C.Factor = 2;
  Runs R = runs(10, 1);
  R.Fixit.emplace();
  R.Fixit->Values.insert_or_assign(Nodes, 1);
  EXPECT_TRUE(compare({C}, "cpu", {{1, R}}).holds());
  R.Fixit->Values.insert_or_assign(Nodes, 10);
  EXPECT_FALSE(compare({C}, "cpu", {{1, R}}).holds());
  C.IsFixed = false;
  EXPECT_TRUE(compare({C}, "cpu", {{1, R}}).holds());
  R.Fixit->Values.clear();
  EXPECT_FALSE(compare({C}, "cpu", {{1, R}}).holds());
}

TEST(Compare, GrowthIsThatOfTheDifference) {
  Claim C = claim();
  C.Growth = 1;
  const auto Grows = [&](double Small, double Large) {
    return compare({C}, "cpu", {{1, runs(Small, 5)}, {2, runs(Large, 5)}})
        .holds();
  };
  EXPECT_TRUE(Grows(15, 25));
  EXPECT_TRUE(Grows(15, 25.9));
  EXPECT_FALSE(Grows(15, 30));
  EXPECT_FALSE(Grows(5, 5));
  C.Growth = 0;
  EXPECT_TRUE(Grows(15, 15));
  EXPECT_FALSE(Grows(15, 25));
  C.Growth = 2;
  EXPECT_TRUE(Grows(15, 45));
}

TEST(Compare, ClaimsOfAnotherDeviceAreLeftOut) {
  Claim C = claim();
  C.Factor = 2;
  C.Device = "cuda";
  EXPECT_TRUE(compare({C}, "cpu", {{1, runs(0, 0)}}).Rows.empty());
  EXPECT_FALSE(compare({C}, "cuda", {{1, runs(0, 0)}}).holds());
}

Site mark(const std::string &Name, std::vector<Sample> Series) {
  Site Result;
  Result.Operation = "mark:" + Name;
  Result.Series = std::move(Series);
  return Result;
}

Sample sample(uint64_t Hit, int64_t NodesAlive, int64_t Allocated) {
  Sample Result;
  Result.Hit = Hit;
  Result.Nodes = NodesAlive;
  Result.CpuBytes = Allocated;
  return Result;
}

TEST(Measures, RatesAreOfTheSecondHalf) {
  Recording R;
  R.Capabilities["graph-nodes"].IsAvailable = true;
  R.Capabilities["cpu-memory"].IsAvailable = true;
  // The first iterations make what stays: gradients, an optimizer's state.
  R.Sites = {mark("training", {sample(1, 100, 1000), sample(3, 150, 5000),
                               sample(5, 160, 5000)})};
  const Numbers N = measure(R, false);
  EXPECT_EQ(N.at({"training", "nodes-per-iteration"}).Value, 5);
  EXPECT_EQ(N.at({"training", "bytes-per-iteration"}).Value, 0);
  EXPECT_EQ(N.at({"training", "nodes-kept"}).Value, 60);
}

TEST(Measures, WhatWasNotMeasuredIsMissing) {
  Recording R;
  R.Sites = {mark("training", {sample(1, 0, 0), sample(2, 0, 0)})};
  EXPECT_TRUE(measure(R, false).empty());
}

TEST(Measures, ResultsOutsideOfLoopsAreTheProcess) {
  Recording R;
  R.Sites = {mark("", {})};
  R.Sites[0].Values["accuracy"] = 0.5;
  EXPECT_EQ(measure(R, false).at({"process", "accuracy"}).Value, 0.5);
}

TEST(Format, NumbersAreReadable) {
  EXPECT_EQ(formatNumber(0), "0");
  EXPECT_EQ(formatNumber(131072), "131,072");
  EXPECT_EQ(formatNumber(-1234567), "-1,234,567");
  EXPECT_EQ(formatNumber(0.98203), "0.982");
  EXPECT_EQ(formatNumber(52492.5), "52,492");
  EXPECT_EQ(formatNumber(NAN), "nan");
}

} // namespace
