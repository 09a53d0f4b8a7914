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

/// All of a table in one source: its header is in no precompiled one.
template <class T>
void expect(const std::vector<std::pair<const char *, T>> &Answers,
            T (*Ask)(const clang::CallExpr *Call)) {
  Names Expressions;
  for (const auto &Each : Answers)
    Expressions.push_back(Each.first);
  const Calls All(Declarations, Expressions);
  ASSERT_TRUE(All.isRead());
  for (const auto &[Text, Answer] : Answers)
    EXPECT_EQ(Ask(All.call(Text)), Answer) << Text;
}

} // namespace

TEST(Autocast, Calls) {
  expect<AutocastCall>(
      {{"at::autocast::set_autocast_enabled(at::kCPU, true)",
        AutocastCall::Switch},
       {"at::autocast::set_enabled(on)", AutocastCall::Switch},
       {"at::autocast::set_cpu_enabled(false)", AutocastCall::Switch},
       {"at::autocast::clear_cache()", AutocastCall::EmptyCache},
       {"at::autocast::set_autocast_cache_enabled(on)",
        AutocastCall::SwitchCache},
       {"at::autocast::set_autocast_dtype(at::kCPU, at::kFloat)",
        AutocastCall::OtherType},
       {"at::autocast::set_autocast_cpu_dtype(type)", AutocastCall::OtherType},
       {"at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16)",
        AutocastCall::None},
       {"at::autocast::set_autocast_gpu_dtype(at::kHalf)", AutocastCall::None},
       {"at::autocast::is_autocast_enabled(at::kCPU)", AutocastCall::None},
       {"at::autocast::increment_nesting()", AutocastCall::None},
       {"at::autocast::decrement_nesting()", AutocastCall::None},
       {"mine::autocast::clear_cache()", AutocastCall::None}},
      torch::autocastCall);
}

TEST(Autocast, Devices) {
  expect<std::optional<DeviceKind>>(
      {{"at::autocast::set_autocast_enabled(at::kCPU, on)", DeviceKind::CPU},
       {"at::autocast::set_autocast_enabled(at::kCUDA, on)", DeviceKind::CUDA},
       {"at::autocast::set_autocast_enabled(device.type(), true)",
        std::nullopt},
       {"at::autocast::set_enabled(true)", DeviceKind::CUDA},
       {"at::autocast::set_cpu_enabled(true)", DeviceKind::CPU},
       {"at::autocast::set_xpu_enabled(true)", DeviceKind::Other}},
      torch::autocastDevice);
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
