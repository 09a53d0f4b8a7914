// Operations on tensors of two devices: which pair meets, whose device it is,
// and how that can be named. The tests of torch-device-mismatch (test/checks)
// have more programs.
#include "transfer/DeviceMismatch.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DeviceMismatchTest : ModelTest<DeviceMismatchTest> {
  static const char Code[];
  static std::vector<DeviceMismatch> ask(llvm::StringRef Root) {
    return entry(Root).of(deviceMismatches(Shared->program()));
  }
  static std::string text(const clang::Expr *E) {
    return E ? Shared->program().text(E) : "";
  }
};

const char DeviceMismatchTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;

struct Net : torch::nn::Module {
  Net() : a(register_module("a", Linear(2, 2))), b(register_module("b", Linear(2, 2))) {}
  Tensor forward(Tensor x) { return b->forward(a->forward(x)); }
  Linear a, b;
};
static Tensor run(Net &net, Tensor input) { return net.forward(input); }
void local() {
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net;
  net.to(device);
  net.forward(torch::ones({1, 2}));
}
void throughAFunction(torch::Device device) {
  Net net;
  net.to(device);
  run(net, torch::ones({1, 2}));
}
static void fit(Net &net, torch::Device where) {
  net.forward(torch::zeros({1, 2}));
}
void passed() {
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Net net;
  net.to(device);
  fit(net, device);
}
void constant() {
  Tensor a = torch::ones({2}, torch::kCUDA);
  a + torch::zeros({2});
}
void notMoved(torch::Device device) {
  Linear net(2, 2);
  net->forward(torch::ones({1, 2}, device));
}
void byBranch(bool cuda) {
  Linear net(2, 2);
  if (cuda)
    net->to(torch::kCUDA);
  if (!cuda)
    net->forward(torch::ones({1, 2}));
}
void leftBefore(bool cuda) {
  Linear net(2, 2);
  if (cuda)
    net->to(torch::kCUDA);
  if (cuda)
    return;
  net->forward(torch::ones({1, 2}));
}
void inTheSameBranch(bool cuda) {
  Linear net(2, 2);
  if (cuda) {
    net->to(torch::kCUDA);
    net->forward(torch::full({1, 2}, 1.0));
  }
}
void onTheCpu() {
  torch::Device device(torch::kCPU);
  Linear net(2, 2);
  net->to(device);
  net->forward(torch::ones({1, 2}));
}
)cpp";

} // namespace

TEST_F(DeviceMismatchTest, OutermostCallWithTheVariable) {
  const std::vector<DeviceMismatch> Found = ask("local");
  ASSERT_EQ(Found.size(), 1u) << "not once more for the layer";
  EXPECT_EQ(text(Found[0].Meeting->Site), "net.forward(torch::ones({1, 2}))");
  EXPECT_EQ(text(Found[0].Meeting->OnCpu), "torch::ones({1, 2})");
  ASSERT_TRUE(Found[0].Nameable);
  EXPECT_EQ(Found[0].Nameable->getName(), "device");
}

TEST_F(DeviceMismatchTest, VariableOfTheCaller) {
  const std::vector<DeviceMismatch> Found = ask("throughAFunction");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(text(Found[0].Meeting->OnCpu), "input");
  EXPECT_EQ(text(Found[0].Tensor), "torch::ones({1, 2})");
  EXPECT_EQ(text(Found[0].Site), "run(net, torch::ones({1, 2}))");
  EXPECT_EQ(Found[0].Device->getName(), "device");
  ASSERT_TRUE(Found[0].Nameable);
  EXPECT_EQ(Found[0].Nameable->getName(), "device");
  const std::vector<DeviceMismatch> Passed = ask("passed");
  ASSERT_EQ(Passed.size(), 1u);
  EXPECT_EQ(Passed[0].Device->getName(), "device");
  ASSERT_TRUE(Passed[0].Nameable);
  EXPECT_EQ(Passed[0].Nameable->getName(), "where");
}

TEST_F(DeviceMismatchTest, OperandsAndModules) {
  const std::vector<DeviceMismatch> Constant = ask("constant");
  ASSERT_EQ(Constant.size(), 1u);
  EXPECT_FALSE(Constant[0].Device);
  EXPECT_EQ(text(Constant[0].Meeting->OnCpu), "torch::zeros({2})");
  const std::vector<DeviceMismatch> Module = ask("notMoved");
  ASSERT_EQ(Module.size(), 1u);
  EXPECT_FALSE(Module[0].Meeting->OnCpu);
}

TEST_F(DeviceMismatchTest, Branches) {
  EXPECT_EQ(ask("inTheSameBranch").size(), 1u);
  for (const char *Root : {"byBranch", "leftBefore", "onTheCpu"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
