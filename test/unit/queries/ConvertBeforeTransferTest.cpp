// What the query finds, and what it does not. The tests of
// torch-convert-before-transfer (test/checks) have more programs.
#include "transfer/ConvertBeforeTransfer.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct ConvertBeforeTransferTest : ModelTest<ConvertBeforeTransferTest> {
  static const char Code[];
  static std::vector<WideTransfer> ask(llvm::StringRef Root) {
    return entry(Root).of(wideTransfers(Shared->program()));
  }
};

const char ConvertBeforeTransferTest::Code[] = R"cpp(
using torch::Tensor;
Tensor direct(unsigned char *p, torch::Device device) {
  return torch::from_blob(p, {4, 1024}, torch::kByte).to(torch::kFloat).to(device);
}
Tensor variable(unsigned char *p) {
  auto wide = torch::from_blob(p, {4, 1024}, torch::kByte).to(torch::kDouble);
  wide = wide.cuda();
  return wide;
}
Tensor computed(unsigned char *p, torch::Device device) {
  auto bytes = torch::from_blob(p, {4, 1024}, torch::kByte);
  return bytes.to(torch::kFloat).div_(255).sub(0.5).to(device);
}
// Quiet.
Tensor withAnother(unsigned char *p, Tensor mean, torch::Device device) {
  auto bytes = torch::from_blob(p, {4, 1024}, torch::kByte);
  return bytes.to(torch::kFloat).sub(mean).to(device);
}
Tensor narrower(torch::Device device) {
  return torch::zeros({4, 1024}, torch::kDouble).to(torch::kFloat).to(device);
}
Tensor small(unsigned char *p, torch::Device device) {
  return torch::from_blob(p, {4, 1023}, torch::kByte).to(torch::kFloat).to(device);
}
Tensor unknown(Tensor x, torch::Device device) {
  return x.to(torch::kFloat).to(device);
}
)cpp";

} // namespace

TEST_F(ConvertBeforeTransferTest, Direct) {
  const std::vector<WideTransfer> Found = ask("direct");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Narrow, 1u);
  EXPECT_EQ(Found[0].Wide, 4u);
  EXPECT_EQ(Found[0].Variable, nullptr);
}

TEST_F(ConvertBeforeTransferTest, ByVariable) {
  const std::vector<WideTransfer> Found = ask("variable");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_TRUE(Found[0].Variable);
  EXPECT_EQ(Found[0].Variable->getName(), "wide");
  EXPECT_EQ(Found[0].Wide, 8u);
}

TEST_F(ConvertBeforeTransferTest, ComputedBetween) {
  const std::vector<WideTransfer> Found = ask("computed");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].IsComputed);
  EXPECT_EQ(Found[0].Wide, 4u);
}

TEST_F(ConvertBeforeTransferTest, Quiet) {
  for (const char *Root : {"withAnother", "narrower", "small", "unknown"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
