// What the query finds, and what it does not. The tests of
// torch-pageable-transfer (test/checks) have more programs.
#include "transfer/PageableTransfer.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct PageableTransferTest : ModelTest<PageableTransferTest> {
  static const char Code[];
  static std::vector<PageableTransfer> ask(llvm::StringRef Root) {
    return entry(Root).of(pageableTransfers(Shared->program()));
  }
};

const char PageableTransferTest::Code[] = R"cpp(
using torch::Tensor;
Tensor made(torch::Device device) { return torch::rand({4}).to(device, true); }
Tensor computed(torch::Device device) {
  auto x = torch::rand({4}).pin_memory();
  return (x * 2).to(device, true);
}
Tensor unpinned(torch::Device device) {
  auto options = torch::TensorOptions().pinned_memory(false);
  return torch::empty({4}, options).to(device, true);
}
// Quiet.
Tensor pinned(torch::Device device) {
  return torch::rand({4}).pin_memory().to(device, true);
}
Tensor byOptions(torch::Device device) {
  auto options = torch::TensorOptions().pinned_memory(true);
  return torch::empty({4}, options.dtype(torch::kHalf)).to(device, true);
}
Tensor unknown(Tensor x, torch::Device device) { return x.to(device, true); }
Tensor blob(float *p, torch::Device device) {
  return torch::from_blob(p, {4}).to(device, true);
}
Tensor blocking(torch::Device device) { return torch::rand({4}).to(device); }
Tensor toHost() { return torch::rand({4}).to(torch::kCPU, true); }
)cpp";

} // namespace

TEST_F(PageableTransferTest, Found) {
  for (const char *Root : {"made", "computed", "unpinned"})
    EXPECT_EQ(ask(Root).size(), 1u) << Root;
}

TEST_F(PageableTransferTest, Quiet) {
  for (const char *Root :
       {"pinned", "byOptions", "unknown", "blob", "blocking", "toHost"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
