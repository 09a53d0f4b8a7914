// RUN: %check_torch %s torch-missing-no-grad %t
//
// A test runs once, on a small input: what it records for nobody is of no
// concern. The same helper in a program that people run is.
// UNNAMED: SetUp, TEST_F, TEST_P

#include <torch/torch.h>

#include <functional>
#include <gtest/gtest.h>

using torch::Tensor;
using torch::nn::Linear;

TEST(Network, HasTheRightShape) {
  Linear net(8, 2);
  net->eval();
  EXPECT_EQ(net->forward(torch::rand({3, 8})).size(1), 2);
}

// A fixture: members and helpers of it run for the test only.
class WithNetwork : public ::testing::Test {
protected:
  void SetUp() override {
    net->eval();
    expected = net->forward(torch::ones({1, 8})).argmax().item<int64_t>();
  }
  int64_t answer(Tensor x) { return net->forward(x).argmax().item<int64_t>(); }

  Linear net{8, 2};
  int64_t expected = 0;
};

TEST_F(WithNetwork, Repeats) {
  EXPECT_EQ(answer(torch::ones({1, 8})), expected);
  const auto again = [&](Tensor x) {
    Linear other(8, 2);
    other->eval();
    return other->forward(x).sum().item<float>();
  };
  EXPECT_EQ(again(torch::ones({1, 8})), again(torch::ones({1, 8})));
}

class OfSizes : public WithNetwork, public ::testing::WithParamInterface<int> {};

TEST_P(OfSizes, AreKept) {
  net->eval();
  EXPECT_EQ(net->forward(torch::ones({GetParam(), 8})).size(0), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, OfSizes, ::testing::Values(1, 2, 3));

// Only tests lead here.
static float error(const std::function<Linear()> &make) {
  Linear net = make();
  net->eval();
  return net->forward(torch::ones({4, 8})).sum().item<float>();
}

TEST(Network, IsNotWrong) {
  EXPECT_LT(error([] { return Linear(8, 1); }), 100);
}

// A class that is only called so.
namespace mine {
struct Test {
  virtual ~Test() = default;
  virtual float run(Tensor x) = 0;
};
} // namespace mine

struct Trial : mine::Test {
  float run(Tensor x) override {
    Linear net(8, 2);
    net->eval();
    return net->forward(x).sum().item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  }
};

static int64_t classify(Linear &net, Tensor x) {
  return net->forward(x).argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

TEST(Classify, OfOnes) {
  Linear net(8, 2);
  net->eval();
  EXPECT_GE(classify(net, torch::ones({1, 8})), 0);
}

int main(int argc, char *argv[]) {
  Linear net(8, 2);
  torch::load(net, argv[1]);
  net->eval();
  std::cout << classify(net, torch::ones({5000, 8})) << '\n';
  Trial trial;
  std::cout << trial.run(torch::ones({5000, 8})) << '\n';
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
