// Tensors that grow by being concatenated with themselves. The tests of
// torch-cat-in-loop (test/checks) have many more programs.
#include "memory/CatInLoop.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct CatInLoopTest : ModelTest<CatInLoopTest> {
  static const char Code[];
  static std::vector<CatInLoop> ask(llvm::StringRef Root) {
    return entry(Root).of(findCatInLoop(Shared->program()));
  }
};

const char CatInLoopTest::Code[] = R"cpp(
using torch::Tensor;
using Tensors = std::vector<Tensor>;

Tensor grows(const Tensors &xs) {
  Tensor all = xs[0];
  for (const Tensor &x : xs) all = torch::cat({all, x});
  return all;
}
Tensor nested(const std::vector<Tensors> &batches) {
  Tensor all = batches[0][0];
  for (const Tensors &xs : batches)
    for (const Tensor &x : xs) all = torch::cat({all, x});
  return all;
}
Tensor perBatch(const std::vector<Tensors> &batches) {
  Tensor sum = torch::zeros({1});
  for (const Tensors &xs : batches) {
    Tensor all = xs[0];
    for (const Tensor &x : xs) all = torch::cat({all, x});
    sum += all.sum();
  }
  return sum;
}
Tensor used(const Tensors &xs) {
  Tensor all = xs[0];
  for (const Tensor &x : xs) { all = torch::cat({all, x}); all.sum(); }
  return all;
}
Tensor rebound(const Tensors &xs) {
  Tensor all = xs[0];
  for (const Tensor &x : xs) { all = x * 2; all = torch::cat({all, x}); }
  return all;
}
Tensor asked(const Tensors &xs) {
  Tensor all;
  for (const Tensor &x : xs)
    if (all.defined()) all = torch::cat({all, x}); else all = x;
  return all;
}
)cpp";

TEST_F(CatInLoopTest, Grows) {
  for (const char *Root : {"grows", "nested", "perBatch", "asked"})
    EXPECT_EQ(ask(Root).size(), 1u) << Root;
}

TEST_F(CatInLoopTest, TheInnermostLoopThatItSurvives) {
  const auto Found = ask("nested");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Around->Depth, 2u);
}

TEST_F(CatInLoopTest, UsedInTheLoop) {
  for (const char *Root : {"used", "rebound"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}

} // namespace
