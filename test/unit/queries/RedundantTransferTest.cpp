// What the query finds, and what it does not. The tests of
// torch-redundant-transfer (test/checks) have more programs.
#include "transfer/RedundantTransfer.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct RedundantTransferTest : ModelTest<RedundantTransferTest> {
  static const char Code[];
  static std::vector<RedundantTransfer> ask(llvm::StringRef Root) {
    return entry(Root).of(redundantTransfers(Shared->program()));
  }
  static std::optional<RedundantTransfer::Kind> only(llvm::StringRef Root) {
    const std::vector<RedundantTransfer> Found = ask(Root);
    if (Found.size() != 1)
      return std::nullopt;
    return Found[0].How;
  }
};

const char RedundantTransferTest::Code[] = R"cpp(
using torch::Tensor;
Tensor before(float *p) {
  return torch::from_blob(p, {256, 256}).clone().to(torch::kCUDA);
}
Tensor after() { return torch::rand({256, 256}).to(torch::kCUDA).clone(); }
Tensor ofTemporary(Tensor x) { return x.mul(2).to(torch::kByte).clone(); }
Tensor back(Tensor x, torch::Device device) {
  auto y = x.to(device);
  return y.cpu().to(device);
}
Tensor there(Tensor x, torch::Device device) {
  auto y = x.to(device) * 2;
  return y.to(device);
}
Tensor ofItsOwn(Tensor x) { return torch::zeros_like(x).to(x.device()); }
Tensor ofType(Tensor x) { return x.to(torch::kFloat).to(torch::kFloat); }
// Quiet.
Tensor mayBeThere(float *p, torch::Device device) {
  return torch::from_blob(p, {256, 256}).clone().to(device);
}
Tensor ofUnknownType(Tensor x) { return x.to(torch::kByte).clone(); }
Tensor changes(Tensor x, torch::Device device, torch::Device other) {
  auto y = x.to(device) * 2;
  device = other;
  return y.to(device);
}
Tensor promoted() {
  auto counts = torch::zeros({256, 256}, torch::kInt);
  return (counts * 0.5).to(torch::kInt);
}
Tensor parameter(Tensor x, torch::Device device) { return x.to(device); }
)cpp";

} // namespace

TEST_F(RedundantTransferTest, Copies) {
  EXPECT_EQ(only("before"), RedundantTransfer::CloneBefore);
  EXPECT_EQ(only("after"), RedundantTransfer::CloneAfter);
  EXPECT_EQ(only("ofTemporary"), RedundantTransfer::CloneAfter);
  EXPECT_EQ(only("back"), RedundantTransfer::WayBack);
}

TEST_F(RedundantTransferTest, NothingToDo) {
  EXPECT_EQ(only("there"), RedundantTransfer::IsThere);
  EXPECT_EQ(only("ofItsOwn"), RedundantTransfer::IsThere);
  EXPECT_EQ(only("ofType"), RedundantTransfer::HasType);
}

TEST_F(RedundantTransferTest, Quiet) {
  for (const char *Root :
       {"mayBeThere", "ofUnknownType", "changes", "promoted", "parameter"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
