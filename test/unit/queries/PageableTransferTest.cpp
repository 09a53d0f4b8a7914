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
Tensor made(torch::Device device) { return torch::rand({256, 256}).to(device, true); }
Tensor computed(torch::Device device) {
  auto x = torch::rand({256, 256}).pin_memory();
  return (x * 2).to(device, true);
}
Tensor unpinned(torch::Device device) {
  auto options = torch::TensorOptions().pinned_memory(false);
  return torch::empty({256, 256}, options).to(device, true);
}
void together(const std::vector<Tensor> &all, torch::Device device) {
  for (size_t i = 0; i < all.size(); ++i) {
    torch::rand({256, 256}).to(device, true);
    torch::randn({256, 256}).to(device, true);
  }
}
void whereThere(torch::Device device, int n) {
  for (int i = 0; i < n; ++i) {
    std::optional<Tensor> x = torch::rand({256, 256});
    if (x.has_value())
      x->to(device, true);
  }
}
// Quiet.
Tensor whereDevice(torch::Device device) {
  auto options = torch::TensorOptions().pinned_memory(device.is_cuda());
  return torch::empty({256, 256}, options).to(device, true);
}
Tensor small(torch::Device device) { return torch::rand({64, 64}).to(device, true); }
Tensor written(const std::vector<Tensor> &all, torch::Device device) {
  auto buffer = torch::empty({9, 999}, torch::TensorOptions().pinned_memory(true));
  return torch::stack_out(buffer, all).to(device, true);
}
Tensor pinned(torch::Device device) {
  return torch::rand({256, 256}).pin_memory().to(device, true);
}
Tensor byOptions(torch::Device device) {
  auto options = torch::TensorOptions().pinned_memory(true);
  return torch::empty({256, 256}, options.dtype(torch::kHalf)).to(device, true);
}
Tensor unknown(Tensor x, torch::Device device) { return x.to(device, true); }
Tensor blob(float *p, torch::Device device) {
  return torch::from_blob(p, {256, 256}).to(device, true);
}
Tensor blocking(torch::Device device) { return torch::rand({256, 256}).to(device); }
Tensor toHost() { return torch::rand({256, 256}).to(torch::kCPU, true); }
)cpp";

} // namespace

TEST_F(PageableTransferTest, Found) {
  for (const char *Root : {"made", "computed", "unpinned", "whereThere"})
    EXPECT_EQ(ask(Root).size(), 1u) << Root;
}

TEST_F(PageableTransferTest, OneCauseForALoop) {
  const std::vector<PageableTransfer> Found = ask("together");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Around, nullptr);
  EXPECT_EQ(Found[0].Others.size(), 1u);
}

TEST_F(PageableTransferTest, Quiet) {
  for (const char *Root :
       {"small", "written", "pinned", "byOptions", "whereDevice", "unknown",
        "blob", "blocking", "toHost"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
