// What gives work to a device, what waits for it, what may do either.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct Waits : ModelTest<Waits> {
  static const char Code[];
};

using Texts = std::vector<std::string>;

const char Waits::Code[] = R"cpp(
#include <chrono>
using torch::Tensor;
void foreign(int);
struct Foreign { Foreign(int); };
static void followed(Tensor x) { x.item(); }

void waits(Tensor x, Tensor host) {
  x.item();
  x.cpu();
  x.sizes();
  torch::rand({2}).item();
  std::cout << x;
  host.copy_(x);
  x.to(torch::kCPU, true);
  torch::cuda::synchronize();
  followed(x);
}
void computes(Tensor x, Tensor unknown) {
  x = x.cuda();
  x + 1;
  x.view({2, 2});
  x.mul_(2);
  unknown * 3;
  torch::rand({2}) * 4;
}
void opaque(Tensor x) {
  foreign(x.size(0));
  Foreign made(1);
  std::chrono::steady_clock::now();
  std::vector<int> list(2);
  followed(x);
}
)cpp";

} // namespace

TEST_F(Waits, OfWhatMayBeOnADevice) {
  EXPECT_EQ(entry("waits").sites<WaitEvent>(),
            (Texts{"x.item()", "x.item()", "x.cpu()", "std::cout << x",
                   "host.copy_(x)", "torch::cuda::synchronize()"}));
}

TEST_F(Waits, WorkForADevice) {
  EXPECT_EQ(entry("computes").sites<ComputeEvent>(),
            (Texts{"x + 1", "x.mul_(2)"}));
}

TEST_F(Waits, OpaqueCode) {
  EXPECT_EQ(entry("opaque").sites<OpaqueEvent>().size(), 3u);
}
