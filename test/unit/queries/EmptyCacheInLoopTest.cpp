// What the query finds, and what it does not. The tests of
// torch-empty-cache-in-loop (test/checks) have more programs.
#include "memory/EmptyCacheInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct EmptyCacheInLoopTest : ModelTest<EmptyCacheInLoopTest> {
  static const char Code[];
  static std::vector<EmptiedCache> ask(llvm::StringRef Root) {
    return entry(Root).of(emptiedCaches(Shared->program()));
  }
};

const char EmptyCacheInLoopTest::Code[] = R"cpp(
using torch::Tensor;
static void clean() { at::getDeviceAllocator(torch::kCUDA)->emptyCache(); }
void direct(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    net->forward(x);
    at::getDeviceAllocator(torch::kCUDA)->emptyCache();
  }
}
void byHelper(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    net->forward(x);
    clean();
  }
}
// Quiet.
void now(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  int i = 0;
  for (const auto &x : xs) {
    net->forward(x);
    if (++i % 10 == 0)
      clean();
  }
}
void phases(std::vector<torch::nn::Linear> nets, Tensor x) {
  for (auto &net : nets) {
    net->forward(x);
    clean();
  }
}
void epochs(torch::nn::Linear net, const std::vector<Tensor> &xs, int n) {
  while (n-- > 0) {
    for (const auto &x : xs)
      net->forward(x);
    clean();
  }
}
void once(torch::nn::Linear net, Tensor x) {
  net->forward(x);
  clean();
}
)cpp";

} // namespace

TEST_F(EmptyCacheInLoopTest, Direct) {
  const std::vector<EmptiedCache> Found = ask("direct");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Call, Found[0].Empties);
}

TEST_F(EmptyCacheInLoopTest, ByFunction) {
  const std::vector<EmptiedCache> Found = ask("byHelper");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Call, Found[0].Empties);
  EXPECT_EQ(Found[0].In->Function->getName(), "byHelper");
}

TEST_F(EmptyCacheInLoopTest, Quiet) {
  for (const char *Root : {"now", "phases", "epochs", "once"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
