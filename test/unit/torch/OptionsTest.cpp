// Which devices are named, on LibTorch's real headers. Constants and types are
// asked in MembersTest.
#include "torch/Options.h"
#include "torch/Devices.h"
#include "torch/Functions.h"
#include "torch/Scalars.h"
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace clang;
using namespace torchtidy::torch;
using namespace torchtidy::test;

using Names = std::vector<std::string>;

TEST(DeviceOptions, NamedDevices) {
  const struct {
    const char *Text;
    std::optional<DeviceKind> Kind;
    bool HasIndex;
  } Cases[] = {
      {"\"cuda\"", DeviceKind::CUDA, false},
      {"\"cuda:1\"", DeviceKind::CUDA, true},
      {"\"cpu\"", DeviceKind::CPU, false},
      {"\"mps\"", DeviceKind::Other, false},
      {"\"gpu\"", {}, false},
      {"name", {}, false},
  };
  Names Texts;
  for (const auto &C : Cases)
    Texts.push_back(std::string("use(") + C.Text + ")");
  const Calls All("int use(const std::string &); extern std::string name;",
                  Texts);
  ASSERT_TRUE(All.isRead());
  for (const auto &C : Cases) {
    const CallExpr *Call = All.call(std::string("use(") + C.Text + ")");
    const std::optional<NamedDevice> Named = namedDevice(Call->getArg(0));
    ASSERT_EQ(Named.has_value(), C.Kind.has_value()) << C.Text;
    if (Named) {
      EXPECT_TRUE(Named->Kind == *C.Kind) << C.Text;
      EXPECT_EQ(Named->HasIndex, C.HasIndex) << C.Text;
    }
  }
}

TEST(DeviceOptions, Functions) {
  const Calls All("extern torch::Device d; extern torch::TensorOptions o;",
                  {"torch::cuda::is_available()", "torch::cuda::device_count()",
                   "torch::ones({1})", "d == d", "d != d", "d.type()",
                   "o.device()", "o.dtype()", "o.device_index(1)",
                   "torch::device(torch::kCUDA)"});
  ASSERT_TRUE(All.isRead());
  EXPECT_EQ(All.those(isOfAccelerator), (Names{"torch::cuda::is_available()",
                                               "torch::cuda::device_count()"}));
  EXPECT_EQ(All.those(comparesDevices), (Names{"d == d", "d != d"}));
  EXPECT_EQ(All.those(keepsDeviceIndex),
            (Names{"o.device()", "o.dtype()", "torch::device(torch::kCUDA)"}));
  EXPECT_FALSE(isOfAccelerator(nullptr));
  EXPECT_FALSE(comparesDevices(nullptr));
  EXPECT_FALSE(keepsDeviceIndex(nullptr));
}

TEST(DeviceOptions, TypesThatNameDevices) {
  const Variables Declared(R"cpp(
enum class DeviceType { CUDA };
extern torch::Device device; extern torch::DeviceType type;
extern torch::TensorOptions options; extern std::optional<torch::Device> maybe;
extern const torch::Device &reference;
extern torch::Dtype dtype; extern std::optional<torch::Dtype> other;
extern DeviceType mine; extern int number; extern torch::Tensor tensor;
)cpp");
  ASSERT_TRUE(Declared.isRead());
  for (const char *Name : {"device", "type", "options", "maybe", "reference"})
    EXPECT_TRUE(maySayDevice(Declared.type(Name))) << Name;
  for (const char *Name : {"dtype", "other", "mine", "number", "tensor"})
    EXPECT_FALSE(maySayDevice(Declared.type(Name))) << Name;
  EXPECT_TRUE(isDeviceType(Declared.type("type")));
  EXPECT_FALSE(isDeviceType(Declared.type("mine")));
}

TEST(DeviceOptions, Questions) {
  const Calls All("int use(torch::Device);",
                  {"use(torch::kCUDA)", "use(torch::kMPS)",
                   "use(c10::DeviceType::CUDA)", "use(torch::kCPU)"});
  ASSERT_TRUE(All.isRead());
  auto Question = [&](const char *Text) {
    const auto *Ref = dyn_cast<DeclRefExpr>(
        All.call(Text)->getArg(0)->IgnoreUnlessSpelledInSource());
    return Ref ? questionFor(Ref->getDecl()).str() : "none";
  };
  EXPECT_EQ(Question("use(torch::kCUDA)"), "is_cuda");
  EXPECT_EQ(Question("use(torch::kMPS)"), "is_mps");
  EXPECT_EQ(Question("use(c10::DeviceType::CUDA)"), "is_cuda");
  EXPECT_EQ(Question("use(torch::kCPU)"), "");
}

TEST(DeviceOptions, TypesOfScalars) {
  EXPECT_EQ(typeOfScalar("Float"), "float");
  EXPECT_EQ(typeOfScalar("Half"), "c10::Half");
  EXPECT_EQ(typeOfScalar("QInt8"), "");
  EXPECT_EQ(scalarName("kF32"), "Float");
  EXPECT_EQ(scalarName("kU8"), "Byte");
}
