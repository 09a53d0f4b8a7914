// Memory that is lent: when it ends, for whom, and what keeps it alive.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Loans : ModelTest<Loans> {
  static const char Code[];

  /// How the memory of each owner ends that somebody still uses, in order.
  static std::vector<std::string> ends(llvm::StringRef Root) {
    static const char *const Names[] = {"scope", "statement", "delete",
                                        "reallocation"};
    const Entry W = entry(Root);
    std::vector<std::string> Result;
    for (const EndEvent &E : W->events<EndEvent>())
      Result.push_back(W->places().name(E.Owner) + " " +
                       Names[static_cast<unsigned>(E.How)]);
    return Result;
  }
};

using Ends = std::vector<std::string>;

const char Loans::Code[] = R"cpp(
#include <utility>
#include <vector>
using torch::Tensor;
using Floats = std::vector<float>;

Tensor over(Floats &v) { return torch::from_blob(v.data(), {8}, torch::kFloat); }

void grows() {
  Floats v(8);
  Tensor t = torch::from_blob(v.data(), {8}, torch::kFloat);
  v.push_back(1);
  observe("grown", t);
}

void hasRoom() {
  Floats v(8);
  v.reserve(100);
  Tensor t = torch::from_blob(v.data(), {8}, torch::kFloat);
  v.push_back(1);
  observe("in place", t);
}

void getsRoomLater() {
  Floats v(8);
  Tensor t = torch::from_blob(v.data(), {8}, torch::kFloat);
  v.push_back(1);
  observe("before the room", t);
  v.reserve(100);
}

void moved(Floats &out) {
  Floats v(8);
  Tensor t = torch::from_blob(v.data(), {8}, torch::kFloat);
  out = std::move(v);
  observe("moved", t);
}

void movedLater(Floats &out) {
  Floats v(8);
  Tensor t = torch::from_blob(v.data(), {8}, torch::kFloat);
  v.resize(100);
  observe("before the move", t);
  out = std::move(v);
}

void movedOnOnePath(Floats &out, bool keeps) {
  Tensor t;
  {
    Floats v(8);
    t = torch::from_blob(v.data(), {8}, torch::kFloat);
    if (keeps)
      out = std::move(v);
  }
  observe("perhaps moved", t);
}

void eachIteration(Floats &out) {
  for (int i = 0; i < 3; ++i) {
    Floats v(8);
    Tensor t = torch::from_blob(v.data(), {8}, torch::kFloat);
    v.push_back(1);
    observe("anew", t);
    out.swap(v);
  }
}

void throughAFunction() {
  Tensor t;
  {
    Floats v(8);
    t = over(v);
  }
  observe("over", t);
}
)cpp";

TEST_F(Loans, GrowingEndsThem) {
  EXPECT_EQ(ends("grows"), Ends{"v reallocation"});
  EXPECT_EQ(entry("grows").observed("grown").Dangling.size(), 1u);
}

TEST_F(Loans, RoomCountsFromWhereItIsMade) {
  // The tensor ends before the vector.
  EXPECT_EQ(ends("hasRoom"), Ends());
  EXPECT_TRUE(entry("hasRoom").observed("in place").Dangling.empty());
  EXPECT_EQ(entry("getsRoomLater").observed("before the room").Dangling.size(),
            1u);
}

TEST_F(Loans, WhatIsGivenUpEndsNothingFromThenOn) {
  EXPECT_EQ(ends("moved"), Ends());
  EXPECT_TRUE(entry("moved").observed("moved").Dangling.empty());
  EXPECT_EQ(entry("movedLater").observed("before the move").Dangling.size(),
            1u);
  EXPECT_EQ(ends("movedOnOnePath"), Ends());
}

TEST_F(Loans, ANewObjectIsNotGivenUp) {
  EXPECT_EQ(entry("eachIteration").observed("anew").Dangling.size(), 1u);
}

TEST_F(Loans, ThroughFunctions) {
  const Ends All = ends("throughAFunction");
  ASSERT_FALSE(All.empty());
  EXPECT_TRUE(llvm::all_of(All, [](const auto &E) { return E == "v scope"; }));
  EXPECT_EQ(entry("throughAFunction").observed("over").Dangling.size(), 1u);
}

} // namespace
