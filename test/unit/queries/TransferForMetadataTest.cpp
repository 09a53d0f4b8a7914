// What the query finds, and what it does not. The tests of
// torch-transfer-for-metadata (test/checks) have more programs.
#include "transfer/TransferForMetadata.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct TransferForMetadataTest : ModelTest<TransferForMetadataTest> {
  static const char Code[];
  static std::vector<MetadataTransfer> ask(llvm::StringRef Root) {
    return entry(Root).of(metadataTransfers(Shared->program()));
  }
};

const char TransferForMetadataTest::Code[] = R"cpp(
using torch::Tensor;
int64_t direct(Tensor x) { return x.cpu().size(0); }
int64_t variable(Tensor x, torch::Device device) {
  auto y = x.to(device);
  return y.size(0) + y.dim();
}
// Quiet.
bool converted(Tensor x) { return x.to(torch::kHalf).dtype() == torch::kHalf; }
Tensor used(Tensor x) {
  auto y = x.cpu();
  y.size(0);
  return y;
}
int64_t there(torch::Device device) {
  return torch::zeros({2}, device).to(device).size(0);
}
)cpp";

} // namespace

TEST_F(TransferForMetadataTest, Direct) {
  const std::vector<MetadataTransfer> Found = ask("direct");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Variable, nullptr);
  EXPECT_EQ(Found[0].Questions.size(), 1u);
}

TEST_F(TransferForMetadataTest, ByVariable) {
  const std::vector<MetadataTransfer> Found = ask("variable");
  ASSERT_EQ(Found.size(), 1u);
  ASSERT_TRUE(Found[0].Variable);
  EXPECT_EQ(Found[0].Variable->getName(), "y");
  EXPECT_EQ(Found[0].Questions.size(), 2u);
}

TEST_F(TransferForMetadataTest, Quiet) {
  for (const char *Root : {"converted", "used", "there"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
