// What switches autocast, and of which weights it keeps copies.
#include "torch/Autocast.h"
#include "torch/Functions.h"

using namespace torchtidy;
using namespace torchtidy::test;
using torch::AutocastCall;
using torch::DeviceKind;
using torch::KeptCasts;

namespace {

using Names = std::vector<std::string>;

const char Declarations[] = R"cpp(
  #include <ATen/autocast_mode.h>
  namespace mine { namespace autocast { void clear_cache(); } }
  extern bool on; extern torch::Device device; extern at::ScalarType type;
)cpp";

void expect(AutocastCall Answer, const Names &Expressions) {
  const Calls All(Declarations, Expressions);
  ASSERT_TRUE(All.isRead());
  for (const std::string &Text : Expressions)
    EXPECT_EQ(torch::autocastCall(All.call(Text)), Answer) << Text;
}

void expect(std::optional<DeviceKind> Answer, const std::string &Text) {
  const Calls All(Declarations, {Text});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(torch::autocastDevice(All.call(Text)), Answer) << Text;
}

} // namespace

TEST(Autocast, Calls) {
  expect(AutocastCall::Switch,
         {"at::autocast::set_autocast_enabled(at::kCPU, true)",
          "at::autocast::set_enabled(on)",
          "at::autocast::set_cpu_enabled(false)"});
  expect(AutocastCall::EmptyCache, {"at::autocast::clear_cache()"});
  expect(AutocastCall::SwitchCache,
         {"at::autocast::set_autocast_cache_enabled(on)"});
  expect(AutocastCall::OtherType,
         {"at::autocast::set_autocast_dtype(at::kCPU, at::kFloat)",
          "at::autocast::set_autocast_cpu_dtype(type)"});
  expect(AutocastCall::None,
         {"at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16)",
          "at::autocast::set_autocast_gpu_dtype(at::kHalf)",
          "at::autocast::is_autocast_enabled(at::kCPU)",
          "at::autocast::increment_nesting()",
          "at::autocast::decrement_nesting()",
          "mine::autocast::clear_cache()"});
}

TEST(Autocast, Devices) {
  expect(DeviceKind::CPU, "at::autocast::set_autocast_enabled(at::kCPU, on)");
  expect(DeviceKind::CUDA, "at::autocast::set_autocast_enabled(at::kCUDA, on)");
  expect(std::nullopt,
         "at::autocast::set_autocast_enabled(device.type(), true)");
  expect(DeviceKind::CUDA, "at::autocast::set_enabled(true)");
  expect(DeviceKind::CPU, "at::autocast::set_cpu_enabled(true)");
  expect(DeviceKind::Other, "at::autocast::set_xpu_enabled(true)");
}

TEST(Autocast, KeptCasts) {
  const auto Of = [](llvm::StringRef Name) {
    const torch::Operation *Op =
        torch::findOperation(Name, torch::operation::Function);
    EXPECT_TRUE(Op) << Name.str();
    return Op ? torch::keptCasts(*Op) : KeptCasts::None;
  };
  for (const char *Name : {"conv2d", "conv_transpose1d", "linear", "mm", "bmm"})
    EXPECT_EQ(Of(Name), KeptCasts::Everywhere) << Name;
  for (const char *Name : {"add", "einsum", "layer_norm"})
    EXPECT_EQ(Of(Name), KeptCasts::None) << Name;
  const torch::Operation *Linear =
      torch::findOperation("linear", torch::operation::Function);
  ASSERT_TRUE(Linear);
  EXPECT_EQ(torch::keptCastsOfFunctional(*Linear), KeptCasts::None);
}
