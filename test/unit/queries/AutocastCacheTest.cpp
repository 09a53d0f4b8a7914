// Weights that are trained while autocast keeps copies of them. The tests of
// torch-autocast-cache (test/checks) have more programs.
#include "training/AutocastCache.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct AutocastCacheTest : ModelTest<AutocastCacheTest> {
  static const char Code[];
  static std::vector<AutocastCache> ask(llvm::StringRef Root) {
    return entry(Root).of(autocastCaches(Shared->program()));
  }
  static std::string weights(const AutocastCache &Found) {
    return Found.Entry->places().name(Found.Stale->Weights);
  }
};

const char AutocastCacheTest::Code[] = R"cpp(
#include <ATen/autocast_mode.h>
using torch::Tensor;
using torch::nn::Conv2d;
using torch::nn::GRU;
using torch::nn::Linear;
using torch::optim::SGD;

struct Net : torch::nn::Module {
  Conv2d conv = register_module("conv", Conv2d(3, 4, 3));
  Linear fc = register_module("fc", Linear(4, 2));
  Tensor forward(Tensor x) { return fc(conv(x).mean({2, 3})); }
};
void turn(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }

void member(Tensor x) {
  Net net;
  SGD sgd(net.parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    sgd.zero_grad();
    turn(true);
    Tensor loss = net.forward(x).sum();
    turn(false);
    loss.backward();
    sgd.step();
  }
}
void leaf(Tensor x) {
  Tensor w = torch::randn({4, 4}, torch::requires_grad());
  SGD sgd({w}, 0.1);
  at::autocast::set_cpu_enabled(true);
  for (int i = 0; i < 9; ++i) {
    torch::mm(x, w).sum().backward();
    sgd.step();
  }
}
void sequential(Tensor x) {
  torch::nn::Sequential net(Conv2d(3, 4, 3), torch::nn::ReLU());
  SGD sgd(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  for (int i = 0; i < 9; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
  }
}
void cleared(Tensor x) {
  Net net;
  SGD sgd(net.parameters(), 0.1);
  turn(true);
  for (int i = 0; i < 9; ++i) {
    net.forward(x).sum().backward();
    sgd.step();
    at::autocast::clear_cache();
  }
}
void off(Tensor x) {
  Net net;
  SGD sgd(net.parameters(), 0.1);
  turn(true);
  net.forward(x);
  turn(false);
  for (int i = 0; i < 9; ++i) {
    net.forward(x).sum().backward();
    sgd.step();
  }
}
void linear(Tensor x) {
  Linear net(4, 4);
  SGD sgd(net->parameters(), 0.1);
  turn(true);
  for (int i = 0; i < 9; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
  }
}
void recurrentOnCuda(Tensor x) {
  GRU net(4, 4);
  net->to(torch::kCUDA);
  SGD sgd(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  for (int i = 0; i < 9; ++i) {
    std::get<0>(net->forward(x)).sum().backward();
    sgd.step();
  }
}
void otherDevice(Tensor x) {
  Conv2d net(3, 4, 3);
  SGD sgd(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  for (int i = 0; i < 9; ++i) {
    net->forward(x).sum().backward();
    sgd.step();
  }
}
)cpp";

} // namespace

TEST_F(AutocastCacheTest, ALayer) {
  const std::vector<AutocastCache> Found = ask("member");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(weights(Found[0]), "net.conv");
  EXPECT_EQ(Found[0].On->Of, Device::CPU);
}

TEST_F(AutocastCacheTest, ALeaf) {
  const std::vector<AutocastCache> Found = ask("leaf");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(weights(Found[0]), "w");
  EXPECT_EQ(Found[0].On->Of, Device::CPU);
}

TEST_F(AutocastCacheTest, InASequential) {
  EXPECT_EQ(ask("sequential").size(), 1u);
}

TEST_F(AutocastCacheTest, Quiet) {
  for (const char *Root :
       {"cleared", "off", "linear", "recurrentOnCuda", "otherDevice"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
