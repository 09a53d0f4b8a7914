// What the query finds, and what it does not. The tests of
// torch-device-round-trip (test/checks) have more programs.
#include "transfer/DeviceRoundTrip.h"
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DeviceRoundTripTest : ModelTest<DeviceRoundTripTest> {
  static const char Code[];
  static std::vector<RoundTrip> ask(llvm::StringRef Root) {
    return entry(Root).of(roundTrips(Shared->program()));
  }
};

const char DeviceRoundTripTest::Code[] = R"cpp(
using torch::Tensor;
Tensor variables(Tensor x, torch::Device device) {
  auto host = x.cpu();
  auto scaled = host * 2;
  return scaled.to(device);
}
Tensor inLoop(Tensor x) {
  x = x.to(torch::kCPU);
  Tensor sum = torch::zeros({2}, torch::kCUDA);
  for (int i = 0; i < 100; ++i)
    sum = sum + x[i].to(torch::kCUDA) + x[i + 1].to(torch::kCUDA);
  return sum;
}
static Tensor twice(Tensor x) { return x * 2; }
Tensor throughFunction(Tensor x, torch::Device device) {
  return twice(x.cpu()).to(device);
}
// Quiet.
Tensor read(Tensor x, torch::Device device) {
  auto host = x.cpu() * 2;
  host.item();
  return host.to(device);
}
void use(Tensor);
Tensor given(Tensor x, torch::Device device) {
  auto host = x.cpu() * 2;
  use(host);
  return host.to(device);
}
Tensor parked(Tensor x, torch::Device device) {
  auto host = x.cpu();
  return host.to(device);
}
Tensor made(torch::Device device) {
  return (torch::zeros({2}).cpu() * 2).to(device);
}
Tensor onOnePath(Tensor x, bool b, torch::Device device) {
  Tensor host = torch::zeros({2});
  if (b)
    host = x.cpu();
  return (host * 2).to(device);
}
)cpp";

} // namespace

TEST_F(DeviceRoundTripTest, Found) {
  for (const char *Root : {"variables", "throughFunction"}) {
    const std::vector<RoundTrip> Found = ask(Root);
    ASSERT_EQ(Found.size(), 1u) << Root;
    EXPECT_EQ(Found[0].Up.size(), 1u) << Root;
  }
}

TEST_F(DeviceRoundTripTest, EachPieceGoesUp) {
  const std::vector<RoundTrip> Found = ask("inLoop");
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Up.size(), 2u);
}

TEST_F(DeviceRoundTripTest, Quiet) {
  for (const char *Root : {"read", "given", "parked", "made", "onOnePath"})
    EXPECT_TRUE(ask(Root).empty()) << Root;
}
