// What is repeated for operations that broadcast, and what expand() is given.
// The tests of torch-repeat-for-broadcast (test/checks) have more programs.
#include "memory/RepeatForBroadcast.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct RepeatForBroadcastTest : ModelTest<RepeatForBroadcastTest> {
  static const char Code[];
  static std::vector<RepeatForBroadcast> ask(llvm::StringRef Root) {
    return entry(Root).of(repeatsForBroadcast(Shared->program()));
  }
};

const char RepeatForBroadcastTest::Code[] = R"cpp(
using torch::Tensor;

Tensor known(Tensor x, int64_t n) {
  Tensor row = torch::arange(n).view({1, -1});
  return x + row.repeat({n, 1});
}
Tensor front(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1, 1});
  return torch::where(x > 0, x, rows);
}
Tensor middle(Tensor x, Tensor y, int64_t n) {
  return x * y.unsqueeze(1).repeat({1, n, 1});
}
Tensor rankUnknown(Tensor x, Tensor y, int64_t n) { return x + y.repeat({n, 1}); }
Tensor noOne(Tensor x, int64_t n) {
  return x + torch::ones({2, n}).repeat({n, 1});
}
Tensor product(Tensor x, Tensor y, int64_t n) {
  return x.mm(y.unsqueeze(0).repeat({n, 1}));
}
Tensor returned(Tensor y, int64_t n) { return y.unsqueeze(0).repeat({n, 1}); }
Tensor changed(Tensor x, Tensor y, int64_t n) {
  Tensor rows = y.unsqueeze(0).repeat({n, 1});
  y.zero_();
  return x + rows;
}
Tensor small(Tensor x) {
  return x + torch::ones({1, 8}).repeat({8, 1});
}
)cpp";

} // namespace

TEST_F(RepeatForBroadcastTest, AllSizesAreKnown) {
  const std::vector<RepeatForBroadcast> Found = ask("known");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_EQ(Found[0].Expanded.size(), 2u);
  EXPECT_NE(Found[0].Expanded[0], nullptr);
  EXPECT_EQ(Found[0].Expanded[1], nullptr);
}

TEST_F(RepeatForBroadcastTest, ByAVariable) {
  const std::vector<RepeatForBroadcast> Found = ask("front");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Expanded.size(), 3u);
}

TEST_F(RepeatForBroadcastTest, WithoutAFixWhereTheRankIsNotKnown) {
  const std::vector<RepeatForBroadcast> Found = ask("middle");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Expanded.empty());
}

TEST_F(RepeatForBroadcastTest, Quiet) {
  for (const char *Root :
       {"rankUnknown", "noOne", "product", "returned", "changed", "small"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
