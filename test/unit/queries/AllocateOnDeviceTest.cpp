// What the query finds, and what it does not. The tests of
// torch-allocate-on-device (test/checks) have more programs.
#include "transfer/AllocateOnDevice.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct AllocateOnDeviceTest : ModelTest<AllocateOnDeviceTest> {
  static const char Code[];
  static std::vector<HostAllocation> ask(llvm::StringRef Root) {
    return entry(Root).of(hostAllocations(Shared->program()));
  }
};

const char AllocateOnDeviceTest::Code[] = R"cpp(
using torch::Tensor;
Tensor direct(int64_t n, torch::Device device) {
  return torch::zeros({n}, torch::kLong).to(device);
}
void inLoop(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    auto noise = torch::randn({2});
    noise = noise.to(x.device());
    x.add(noise);
  }
}
// Quiet.
Tensor small(torch::Device device) { return torch::zeros({2}).to(device); }
Tensor filled(int64_t n, torch::Device device) {
  auto x = torch::zeros({n});
  x[0] = 1;
  return x.to(device);
}
Tensor cpu(int64_t n) { return torch::zeros({n}).to(torch::kCPU); }
)cpp";

} // namespace

TEST_F(AllocateOnDeviceTest, Direct) {
  const std::vector<HostAllocation> Found = ask("direct");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].IsRandom);
  EXPECT_EQ(Found[0].Around, nullptr);
  EXPECT_EQ(Found[0].Variable, nullptr);
}

TEST_F(AllocateOnDeviceTest, ByVariableInALoop) {
  const std::vector<HostAllocation> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].IsRandom);
  EXPECT_NE(Found[0].Around, nullptr);
  ASSERT_TRUE(Found[0].Variable);
  EXPECT_EQ(Found[0].Variable->getName(), "noise");
}

TEST_F(AllocateOnDeviceTest, Quiet) {
  for (const char *Root : {"small", "filled", "cpu"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
