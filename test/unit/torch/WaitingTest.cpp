// What makes the host wait for the device.
#include "torch/Waiting.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;
using torch::Wait;

namespace {

using Names = std::vector<std::string>;

const char Declarations[] = R"cpp(
  #include <iostream>
  extern "C" int cudaDeviceSynchronize();
  extern "C" int cudaMemcpy(void *, const void *, unsigned long, int);
  struct Mine { void synchronize(); void item(); };
  extern Mine mine;
  void synchronize();
  extern c10::Event event;
  extern c10::Stream stream;
  torch::Tensor t, u; torch::Device device(torch::kCPU);
  std::vector<torch::Tensor> v; int i;
)cpp";

/// Of these calls, those with the answer.
void expect(Wait Answer, const Names &Expressions) {
  const Calls All(Declarations, Expressions);
  ASSERT_TRUE(All.isRead());
  for (const std::string &Text : Expressions)
    EXPECT_EQ(torch::waitOf(All.call(Text)), Answer) << Text;
}

} // namespace

TEST(Waiting, Synchronisations) {
  const Names Written = {"torch::cuda::synchronize()", "event.synchronize()",
                         "stream.synchronize()", "cudaDeviceSynchronize()"};
  expect(Wait::Device, Written);
  Names WithOthers = Written;
  for (const char *Other : {"mine.synchronize()", "synchronize()", "t.item()"})
    WithOthers.push_back(Other);
  const Calls All(Declarations, WithOthers);
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(torch::isSynchronisation), Written);
  EXPECT_FALSE(torch::isSynchronisation(nullptr));
}

TEST(Waiting, ForNumbers) {
  expect(Wait::Number, {"t.item()", "t.item<float>()", "t.is_nonzero()",
                        "torch::equal(t, u)", "t.allclose(u)", "t[u]"});
}

TEST(Waiting, ForCopies) {
  expect(Wait::Copy, {"t.cpu()", "t.to(device)", "t.to(torch::kCPU)",
                      "t.copy_(u)", "t.copy_(u, false)", "t.to(u)"});
  expect(Wait::None,
         {"t.to(torch::kCPU, torch::kFloat, true)", "t.copy_(u, true)",
          "t.to(device, /*non_blocking=*/true)"});
}

TEST(Waiting, ForText) {
  expect(Wait::Text,
         {"std::cout << t", "torch::print(t)", "torch::save(t, \"t.pt\")"});
  expect(Wait::None, {"std::cout << 1", "std::cout << t.sizes()"});
}

TEST(Waiting, ForShapes) {
  expect(Wait::Shape,
         {"t.nonzero()", "torch::argwhere(t)", "t.masked_select(u)",
          "torch::where(t)", "torch::_unique2(t)", "t.repeat_interleave(u)"});
  expect(Wait::MaskedShape, {"t.index({u})", "t.index_put_({u}, 1)"});
}

TEST(Waiting, ForOther) {
  expect(Wait::Other,
         {"torch::linalg_svd(t)", "torch::nn::utils::clip_grad_norm_(v, 1.0)",
          "cudaMemcpy(nullptr, nullptr, 1, 2)"});
}

TEST(Waiting, Nothing) {
  expect(Wait::None,
         {"t.add(u)", "t[i]", "torch::where(t, t, u)", "t.repeat_interleave(3)",
          "t.data_ptr<float>()", "t.size(0)", "mine.item()", "t.numel()"});
  EXPECT_EQ(torch::waitOf(nullptr), Wait::None);
}
