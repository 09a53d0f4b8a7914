// What autocast has made in half precision, where that is refused. The tests of
// torch-autocast-boundary (test/checks) have more programs.
#include "training/AutocastBoundary.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct AutocastBoundaryTest : ModelTest<AutocastBoundaryTest> {
  static const char Code[];
  static std::vector<AutocastBoundary> ask(llvm::StringRef Root) {
    return entry(Root).of(autocastBoundaries(Shared->program()));
  }
};

const char AutocastBoundaryTest::Code[] = R"cpp(
#include <ATen/autocast_mode.h>
using torch::Tensor;
using torch::nn::Linear;

void turn(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }
Tensor half(Linear &net, Tensor x) {
  turn(true);
  Tensor result = net->forward(x);
  turn(false);
  return result;
}

void loss(Tensor x, Tensor target) {
  Linear net(2, 2);
  torch::mse_loss(half(net, x), target).backward();
}
void atOnce(Tensor x, Tensor target) {
  Linear net(2, 2);
  torch::binary_cross_entropy(half(net, x).sigmoid(), target);
}
void layer(Tensor x) {
  Linear net(2, 2), head(2, 2);
  head->forward(torch::relu(half(net, x)));
}
void product(Tensor x) {
  Linear net(2, 2);
  half(net, x).mm(torch::zeros({2, 2}));
}
void elements(Tensor x) {
  Linear net(2, 2);
  half(net, x).data_ptr<float>();
}
void noBackward(Tensor x, Tensor target) {
  Linear net(2, 2);
  torch::mse_loss(half(net, x), target);
}
void converted(Tensor x, Tensor target) {
  Linear net(2, 2);
  torch::mse_loss(half(net, x).to(torch::kFloat), target).backward();
}
void inside(Tensor x, Tensor target) {
  Linear net(2, 2);
  turn(true);
  torch::mse_loss(net->forward(x), target).backward();
}
void taken(Tensor x, Tensor target) {
  Linear net(2, 2);
  torch::l1_loss(half(net, x), target).backward();
  torch::cross_entropy_loss(half(net, x), target).backward();
}
)cpp";

} // namespace

TEST_F(AutocastBoundaryTest, ALossWhoseBackwardThrows) {
  const std::vector<AutocastBoundary> Found = ask("loss");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Use->How, HalfUse::LossOfBackward);
  EXPECT_TRUE(Found[0].Backward);
}

TEST_F(AutocastBoundaryTest, Others) {
  for (auto [Root, How] :
       {std::pair("atOnce", HalfUse::Loss), std::pair("layer", HalfUse::Layer),
        std::pair("product", HalfUse::Product),
        std::pair("elements", HalfUse::Elements)}) {
    const std::vector<AutocastBoundary> Found = ask(Root);
    ASSERT_EQ(Found.size(), 1u) << Root;
    EXPECT_EQ(Found[0].Use->How, How) << Root;
    EXPECT_FALSE(Found[0].Backward) << Root;
  }
}

TEST_F(AutocastBoundaryTest, Quiet) {
  for (const char *Root : {"noBackward", "converted", "inside", "taken"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
