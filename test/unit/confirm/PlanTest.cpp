#include "scenarios/Plan.h"
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace fs = std::filesystem;

namespace torchtidy::confirm::scenarios {
namespace {

std::vector<std::string> order(bool HasDevice) {
  const fs::path Folder = fs::path(testing::TempDir()) / "plan";
  fs::create_directories(Folder / "stand-in");
  std::ofstream(Folder / "stand-in" / "wrong.cpp")
      << "#include \"pretend.h\"\n";
  std::vector<Row> Rows = {{"late", "value", 2},
                           {"first", "value", 0},
                           {"transfer", "copies-per-iteration", 1},
                           {"second", "peak-bytes", 0},
                           {"stand-in", "value", 2},
                           {"wait", "synchronisations-per-iteration", 0}};
  sortByWeight(Rows, HasDevice, Folder);
  std::vector<std::string> Result;
  for (const Row &R : Rows)
    Result.push_back(R.Check);
  return Result;
}

TEST(Plan, WhatNeedsADeviceComesFirst) {
  EXPECT_EQ(order(true),
            (std::vector<std::string>{"wait", "transfer", "stand-in", "first",
                                      "second", "late"}));
}

TEST(Plan, WithoutADeviceByLevel) {
  EXPECT_EQ(order(false),
            (std::vector<std::string>{"first", "second", "wait", "transfer",
                                      "late", "stand-in"}));
}

TEST(Plan, BudgetWithoutANumber) {
  const Budget Time(std::nullopt);
  EXPECT_FALSE(Time.isLimited());
  EXPECT_FALSE(Time.isOver());
  EXPECT_TRUE(Time.fits(1e9));
  EXPECT_EQ(Time.atMost(300), 300u);
}

TEST(Plan, BudgetThatIsOver) {
  const Budget Time(0.0);
  EXPECT_TRUE(Time.isOver());
  EXPECT_FALSE(Time.fits(0.1));
  // What is started nevertheless is ended soon.
  EXPECT_EQ(Time.atMost(300), 1u);
}

TEST(Plan, BudgetLimitsPrograms) {
  const Budget Time(100.0);
  EXPECT_FALSE(Time.isOver());
  EXPECT_FALSE(Time.fits(101));
  EXPECT_LE(Time.atMost(300), 100u);
  EXPECT_EQ(Time.atMost(2), 2u);
}

} // namespace
} // namespace torchtidy::confirm::scenarios
