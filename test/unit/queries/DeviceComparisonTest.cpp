// What the query finds, and what it does not. The tests of
// torch-device-comparison (test/checks) have more programs.
#include "transfer/DeviceComparison.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DeviceComparisonTest : ModelTest<DeviceComparisonTest> {
  static const char Code[];
  static std::vector<DeviceComparison> ask(llvm::StringRef Root) {
    return entry(Root).of(deviceComparisons(Shared->program()));
  }
};

const char DeviceComparisonTest::Code[] = R"cpp(
bool constant(torch::Tensor x) { return x.device() == torch::kCUDA; }
bool reversed(torch::Tensor x, bool gpu) {
  torch::Device device = gpu ? torch::kCUDA : torch::kCPU;
  return device != x.device();
}
// Quiet.
bool cpu(torch::Tensor x) { return x.device() == torch::kCPU; }
bool both(torch::Tensor x, torch::Tensor y) { return x.device() == y.device(); }
bool given(torch::Tensor x, torch::Device d) { return x.device() == d; }
torch::Tensor moved(torch::Tensor x) {
  if (x.device() != torch::kCUDA)
    x = x.to(torch::kCUDA);
  return x;
}
)cpp";

} // namespace

TEST_F(DeviceComparisonTest, Constant) {
  const std::vector<DeviceComparison> Found = ask("constant");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].TensorIsLeft);
  EXPECT_FALSE(Found[0].MayBeCpu);
  EXPECT_EQ(Shared->program().text(Found[0].OfTensor), "x.device()");
}

TEST_F(DeviceComparisonTest, ChosenAndReversed) {
  const std::vector<DeviceComparison> Found = ask("reversed");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].TensorIsLeft);
  EXPECT_TRUE(Found[0].MayBeCpu);
}

TEST_F(DeviceComparisonTest, Quiet) {
  for (const char *Root : {"cpu", "both", "given", "moved"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
