// What the query finds, and what it does not. The tests of
// torch-unsynchronized-copy (test/checks) have more programs.
#include "transfer/UnsynchronizedCopy.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct UnsynchronizedCopyTest : ModelTest<UnsynchronizedCopyTest> {
  static const char Code[];
  static std::vector<UnsynchronizedCopy> ask(llvm::StringRef Root) {
    return entry(Root).of(unsynchronizedCopies(Shared->program()));
  }
};

const char UnsynchronizedCopyTest::Code[] = R"cpp(
using torch::Tensor;
float read(Tensor x) {
  auto host = x.to(torch::kCPU, true);
  return host.item<float>() + host.sum().item<float>();
}
float *pointer(Tensor x) { return x.to(torch::kCPU, true).data_ptr<float>(); }
// Quiet.
float waits(Tensor x) {
  auto host = x.to(torch::kCPU, true);
  torch::cuda::synchronize();
  return host.item<float>();
}
float waitsOnOnePath(Tensor x, bool cuda) {
  auto host = x.to(torch::kCPU, true);
  if (cuda)
    torch::cuda::synchronize();
  return host.item<float>();
}
Tensor computed(Tensor x) {
  auto buffer = torch::empty({4});
  buffer.copy_(x, true);
  return buffer + 1;
}
)cpp";

} // namespace

TEST_F(UnsynchronizedCopyTest, OneFindingForTwoReads) {
  const std::vector<UnsynchronizedCopy> Found = ask("read");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_FALSE(Found[0].Read->IsPointer);
}

TEST_F(UnsynchronizedCopyTest, Pointer) {
  const std::vector<UnsynchronizedCopy> Found = ask("pointer");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_TRUE(Found[0].Read->IsPointer);
}

TEST_F(UnsynchronizedCopyTest, Quiet) {
  for (const char *Root : {"waits", "waitsOnOnePath", "computed"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
