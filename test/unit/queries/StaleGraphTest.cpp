// backward() through a graph whose weights were changed since. The tests of
// torch-stale-graph (test/checks) have more programs.
#include "autograd/StaleGraph.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct StaleGraphTest : ModelTest<StaleGraphTest> {
  static const char Code[];
  static std::vector<StaleUse> ask(llvm::StringRef Root) {
    return entry(Root).of(staleUses(Shared->program()));
  }
  static std::string text(const clang::Expr *E) {
    return Shared->program().text(E);
  }
};

const char StaleGraphTest::Code[] = R"cpp(
using torch::Tensor;
namespace nn = torch::nn;

template <class Optimizer> void steps(Tensor x) {
  nn::Linear net(4, 4);
  Optimizer optimizer(net->parameters(), 0.1);
  x = x.detach().requires_grad_();
  Tensor a = net->forward(x).sum(), b = net->forward(x).mean();
  a.backward();
  optimizer.step();
  b.backward();
}
void adam(Tensor x) { steps<torch::optim::Adam>(x); }
void sgd(Tensor x) { steps<torch::optim::SGD>(x); }
void byHand(Tensor x) {
  Tensor w = torch::zeros({2}, torch::requires_grad());
  Tensor v = torch::zeros({2}, torch::requires_grad());
  Tensor loss = (w * v).sum();
  {
    torch::NoGradGuard off;
    w.zero_();
  }
  loss.backward();
}
void inputWithoutGradient() {
  nn::Linear net(4, 4);
  torch::optim::Adam optimizer(net->parameters(), 0.1);
  Tensor x = torch::zeros({4, 4});
  Tensor a = net->forward(x).sum(), b = net->forward(x).mean();
  a.backward();
  optimizer.step();
  b.backward();
}
void others(Tensor x) {
  nn::Linear net(4, 4), other(4, 4);
  torch::optim::Adam optimizer(other->parameters(), 0.1);
  x = x.detach().requires_grad_();
  Tensor b = net->forward(x).mean();
  other->forward(x).sum().backward();
  optimizer.step();
  b.backward();
}
)cpp";

} // namespace

TEST_F(StaleGraphTest, OptimizersThatRaiseVersions) {
  const std::vector<StaleUse> Found = ask("adam");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Outcome, StaleUse::Throws);
  EXPECT_EQ(text(Found[0].Use->Site), "b.backward()");
  EXPECT_EQ(text(Found[0].Change->Site), "optimizer.step()");
}

TEST_F(StaleGraphTest, SGDIsSilent) {
  const std::vector<StaleUse> Found = ask("sgd");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Outcome, StaleUse::Silent);
}

TEST_F(StaleGraphTest, AWriteUnderAGuard) {
  const std::vector<StaleUse> Found = ask("byHand");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Outcome, StaleUse::Throws);
  EXPECT_EQ(text(Found[0].Change->Site), "w.zero_()");
}

TEST_F(StaleGraphTest, AFirstLayerHasNotSavedItsWeight) {
  EXPECT_TRUE(ask("inputWithoutGradient").empty());
}

TEST_F(StaleGraphTest, OtherWeights) { EXPECT_TRUE(ask("others").empty()); }
