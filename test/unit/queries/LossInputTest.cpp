// Losses that are given numbers on another scale than they take. The tests of
// torch-loss-input (test/checks) have more programs.
#include "results/LossInput.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;
using torchtidy::torch::Scale;
using torchtidy::torch::ScaledLoss;

namespace {

struct LossInputTest : ModelTest<LossInputTest> {
  static const char Code[];
  static std::vector<LossInput> ask(llvm::StringRef Root) {
    return entry(Root).of(lossInputs(Shared->program()));
  }
};

const char LossInputTest::Code[] = R"cpp(
using torch::Tensor;

Tensor twice(Tensor x, Tensor y) {
  return torch::cross_entropy_loss(torch::softmax(x, 1), y);
}
Tensor elsewhere(Tensor x, Tensor y) {
  Tensor p = torch::sigmoid(x).squeeze(1);
  return torch::nll_loss(p, y);
}
Tensor onceMore(Tensor x, Tensor y) {
  return torch::cross_entropy_loss(torch::log_softmax(x, 1), y);
}
Tensor changed(Tensor x, Tensor y) {
  Tensor p = torch::softmax(x, 1);
  p.mul_(10);
  return torch::cross_entropy_loss(p, y);
}
Tensor either(Tensor x, Tensor y, bool b) {
  Tensor p = x;
  if (b)
    p = torch::softmax(x, 1);
  return torch::cross_entropy_loss(p, y);
}
)cpp";

} // namespace

TEST_F(LossInputTest, WrittenThere) {
  const std::vector<LossInput> Found = ask("twice");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Loss, ScaledLoss::CrossEntropy);
  EXPECT_EQ(Found[0].Given, Scale::Probabilities);
  EXPECT_TRUE(Found[0].IsWrittenThere);
}

TEST_F(LossInputTest, ThroughAVariable) {
  const std::vector<LossInput> Found = ask("elsewhere");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Given, Scale::Sigmoids);
  EXPECT_NE(Found[0].ScaledBy, nullptr);
  EXPECT_FALSE(Found[0].IsWrittenThere);
}

TEST_F(LossInputTest, Quiet) {
  for (const char *Root : {"onceMore", "changed", "either"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
