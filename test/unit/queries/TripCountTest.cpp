// How often loops run at most, and what goes on with them.
#include "queries/loops/TripCount.h"
#include "ast/Expressions.h"
#include "model/Model.h"
#include "queries/loops/LoopCounters.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Elements.h"

using namespace torchtidy::model;
using namespace torchtidy::test;
namespace ast = torchtidy::ast;

namespace {

/// The only read of a number in a function.
CallAt readIn(const Execution &Entry) {
  std::vector<CallAt> Result;
  for (const CallAt &At : callsOf(Entry)) {
    const auto *Op = torchtidy::torch::classify(At.Call).Op;
    if (Op && torchtidy::torch::readsNumber(*Op))
      Result.push_back(At);
  }
  EXPECT_EQ(Result.size(), 1u);
  return Result.empty() ? CallAt() : Result.front();
}

struct TripCount : ModelTest<TripCount> {
  static const char Code[];
  static std::optional<uint64_t> trips(llvm::StringRef Root) {
    const Entry E = entry(Root);
    const auto Around = E->loopsAround(readIn(*E).Point);
    if (Around.empty()) {
      ADD_FAILURE() << Root.str() << " reads outside of a loop";
      return std::nullopt;
    }
    return mostTrips(*E, *Around.back());
  }
  static bool forObjects(llvm::StringRef Root) {
    const Entry E = entry(Root);
    return runsForObjects(*E, *E->loopsAround(readIn(*E).Point).back());
  }
};

const char TripCount::Code[] = R"cpp(
using torch::Tensor;
struct Box { int id; };
void range(Tensor t, std::vector<Box> &all) { for (const Box &b : all) t[b.id].item(); }
void sized(Tensor t, std::vector<Box> &all) { for (size_t i = 0; i < all.size(); ++i) t[all[i].id].item(); }
void keptSize(Tensor t, std::vector<Box> &all) { int n = (int)all.size() - 1; for (int i = 0; i < n; ++i) t[i].item(); }
void iterator(Tensor t, std::map<Box *, int> &all) { for (auto at = all.begin(); at != all.end(); ++at) t[at->second].item(); }
void numbers(Tensor t, std::vector<int> &ids) { for (int id : ids) t[id].item(); }
void values(Tensor t, std::vector<float> &out) { for (size_t i = 0; i < out.size(); ++i) out[i] = t[i].item<float>(); }
void tensors(Tensor t) { for (int i = 0; i < t.size(0); ++i) t[i].item(); }
void number(Tensor t, int n) { for (int i = 0; i < n; ++i) t[i].item(); }
void five(Tensor t, std::array<Box, 5> &all) { for (const Box &b : all) t[b.id].item(); }
constexpr int K = 5;

void up(Tensor t) { for (int i = 0; i < 10; ++i) t[i].item(); }
void inclusive(Tensor t) { for (int i = 1; i <= K; i++) t[i].item(); }
void down(Tensor t) { for (int i = 9; i >= 0; --i) t[i].item(); }
void steps(Tensor t) { for (int i = 0; i < 10; i += 4) t[i].item(); }
void swapped(Tensor t) { for (int i = 0; 7 > i; ++i) t[i].item(); }
void both(Tensor t, int n) { for (int i = 0; i < n && i < 3; ++i) t[i].item(); }
void least(Tensor t, int n) {
  const int k = std::min(n, 5);
  for (int i = 0; i < k; ++i) t[i].item();
}
void kept(Tensor t) { int n = 4; for (int i = 0; i < n; ++i) t[i].item(); }
void given(Tensor t, int n) { for (int i = 0; i < n; ++i) t[i].item(); }
void caller(Tensor t) { given(t, 6); }
void array(Tensor t) { int at[] = {1, 2, 3}; for (int i : at) t[i].item(); }
void list(Tensor t) { for (int i : {1, 2}) t[i].item(); }
void stdArray(Tensor t, std::array<int, 8> at) { for (int i : at) t[i].item(); }

void unknown(Tensor t, int64_t n) { for (int64_t i = 0; i < n; ++i) t[i].item(); }
void bySize(Tensor t) { for (int i = 0; i < t.size(0); ++i) t[i].item(); }
void changed(Tensor t) { int n = 4; ++n; for (int i = 0; i < n; ++i) t[i].item(); }
void again(Tensor t) { for (int i = 0; i < 4; ++i) { t[i].item(); if (K) --i; } }
void wrongWay(Tensor t) { for (int i = 0; i > -5; ++i) t[i].item(); }
void from(Tensor t, int first) { for (int i = first; i < 4; ++i) t[i].item(); }
void vector(Tensor t, std::vector<int> at) { for (int i : at) t[i].item(); }
void whileLoop(Tensor t) { int i = 0; while (i < 4) t[i++].item(); }
)cpp";

TEST_F(TripCount, ForTheObjectsOfAContainer) {
  for (const char *Root : {"range", "sized", "keptSize", "iterator"})
    EXPECT_TRUE(forObjects(Root)) << Root;
  // Numbers are data, and an array says how many it has.
  for (const char *Root : {"numbers", "values", "tensors", "number", "five"})
    EXPECT_FALSE(forObjects(Root)) << Root;
}

TEST_F(TripCount, CountedToAConstant) {
  EXPECT_EQ(trips("up"), 10u);
  EXPECT_EQ(trips("inclusive"), 5u);
  EXPECT_EQ(trips("down"), 10u);
  EXPECT_EQ(trips("steps"), 3u);
  EXPECT_EQ(trips("swapped"), 7u);
  EXPECT_EQ(trips("kept"), 4u);
  EXPECT_EQ(trips("caller"), 6u);
}

TEST_F(TripCount, AtMost) {
  EXPECT_EQ(trips("both"), 3u);
  EXPECT_EQ(trips("least"), 5u);
}

TEST_F(TripCount, RangesOfKnownSize) {
  EXPECT_EQ(trips("array"), 3u);
  EXPECT_EQ(trips("list"), 2u);
  EXPECT_EQ(trips("stdArray"), 8u);
}

TEST(TripCountAroundErrors, TheCounterIsAnOperandOfWhatIsNotUnderstood) {
  ParseOptions WithErrors;
  WithErrors.AllowErrors = true;
  Model M(R"cpp(
    void index(torch::Tensor t) { Unknown out; for (int i = 0; i < 3; ++i) out[i] = t[i].item<float>(); }
    void argument(torch::Tensor t) { Unknown out; for (int i = 0; i < 3; ++i) out(i) = t[i].item<float>(); }
    void member(torch::Tensor t) { Unknown out; for (int i = 0; i < 3; ++i) out.of[2 * i] = t[i].item<float>(); }
    void assigned(torch::Tensor t) { Unknown out; for (int i = 0; i < 3; ++i) { i = out[1]; t[i].item<float>(); } }
    )cpp",
          WithErrors);
  ASSERT_TRUE(M.isRead());
  const auto Trips = [&](llvm::StringRef Root) {
    const Entry E = M.entry(Root);
    return mostTrips(*E, *E->loopsAround(readIn(*E).Point).back());
  };
  EXPECT_EQ(Trips("index"), 3u);
  EXPECT_EQ(Trips("argument"), 3u);
  EXPECT_EQ(Trips("member"), 3u);
  EXPECT_EQ(Trips("assigned"), std::nullopt);
}

TEST_F(TripCount, NotKnown) {
  for (const char *Root : {"unknown", "bySize", "changed", "again", "wrongWay",
                           "from", "vector", "whileLoop"})
    EXPECT_EQ(trips(Root), std::nullopt) << Root;
}

struct Followers : ModelTest<Followers> {
  static const char Code[];
  /// For each loop around the read, outermost first, whether what is read goes
  /// on with it.
  static std::vector<bool> follows(llvm::StringRef Root) {
    const Entry E = entry(Root);
    const CallAt Read = readIn(*E);
    LoopCounters Counters(*E);
    std::vector<bool> Result;
    for (const auto *L : E->loopsAround(Read.Point))
      Result.push_back(Counters.follows(ast::objectOf(Read.Call), Read.In, *L));
    return Result;
  }
};

const char Followers::Code[] = R"cpp(
using torch::Tensor;
int next();

void counter(Tensor t, int n) { for (int i = 0; i < n; ++i) t[i].item(); }
void ofWhile(Tensor t, int n) { int i = 0; while (i < n) { t[i].item(); i += 2; } }
void element(Tensor t, std::vector<int> at) { for (int i : at) t[i].item(); }
void binding(Tensor t, std::map<int, int> at) { for (auto [i, j] : at) t[j].item(); }
void local(Tensor t, int n, int w) {
  for (int i = 0; i < n; ++i) { const int at = i * w; t[at].item(); }
}
float readAt(Tensor t, int64_t at) { return t[at].item<float>(); }
void parameter(Tensor t, int n) { for (int i = 0; i < n; ++i) readAt(t, i); }
void outer(Tensor t, int n) { for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) t[i].item(); }
void inner(Tensor t, int n) { for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) t[j].item(); }
void both(Tensor t, int n) { for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) t[i][j].item(); }

void constant(Tensor t, int n) { for (int i = 0; i < n; ++i) t[0].item(); }
void state(Tensor t, int n) { int s = 0; for (int i = 0; i < n; ++i) { t[s].item(); s = next(); } }
void drawn(Tensor t, int n) { for (int i = 0; i < n; ++i) { int s = next(); t[s].item(); } }
)cpp";

TEST_F(Followers, TheCounterAndWhatIsComputedFromIt) {
  for (const char *Root :
       {"counter", "ofWhile", "element", "binding", "local", "parameter"})
    EXPECT_EQ(follows(Root), std::vector<bool>{true}) << Root;
}

TEST_F(Followers, EachLoopHasItsOwn) {
  EXPECT_EQ(follows("outer"), (std::vector<bool>{true, false}));
  EXPECT_EQ(follows("inner"), (std::vector<bool>{false, true}));
  EXPECT_EQ(follows("both"), (std::vector<bool>{true, true}));
}

TEST_F(Followers, WhatComesFromElsewhereIsNone) {
  for (const char *Root : {"constant", "state", "drawn"})
    EXPECT_EQ(follows(Root), std::vector<bool>{false}) << Root;
}

} // namespace
