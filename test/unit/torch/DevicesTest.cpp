// What may say where a tensor is, and which classes put tensors somewhere.
#include "torch/Devices.h"
#include "torch/Data.h"
#include "torch/Functions.h"
#include "torch/Operations.h"
#include "torch/Types.h"
#include "torch/Variables.h"

using namespace clang;
using namespace torchtidy;
using namespace torchtidy::test;

namespace {

struct DeviceNames : testing::Test {
  static void SetUpTestSuite() {
    Shared = std::make_unique<Variables>(R"cpp(
torch::Device device(torch::kCPU);
const torch::Device &reference = device;
torch::DeviceType kind = torch::kCPU;
torch::TensorOptions options;
std::optional<torch::Device> maybe;
std::optional<torch::Dtype> type;
torch::Dtype dtype = torch::kFloat;
int64_t number = 0;
torch::Tensor tensor;
torch::nn::CrossEntropyLoss entropy;
torch::nn::CTCLoss ctc;
torch::nn::ReLU relu;
torch::data::datasets::MNIST mnist(".");
torch::data::datasets::TensorDataset tensors(tensor);
torch::data::transforms::Stack<> stack;
torch::data::transforms::Lambda<int> lambda([](int i) { return i; });
)cpp");
  }
  static void TearDownTestSuite() { Shared.reset(); }
  void SetUp() override { ASSERT_TRUE(Shared && Shared->isRead()); }

  static inline std::unique_ptr<Variables> Shared;
};

} // namespace

TEST_F(DeviceNames, ValuesThatMaySayADevice) {
  for (const char *Name : {"device", "reference", "kind", "options", "maybe"})
    EXPECT_TRUE(torch::maySayDevice(Shared->type(Name))) << Name;
  for (const char *Name : {"type", "dtype", "number", "tensor"})
    EXPECT_FALSE(torch::maySayDevice(Shared->type(Name))) << Name;
}

TEST_F(DeviceNames, Losses) {
  auto Is = [](const char *Name) {
    return torch::isLossOfOneDevice(torch::moduleClass(Shared->type(Name)));
  };
  EXPECT_TRUE(Is("entropy"));
  EXPECT_FALSE(Is("ctc")) << "takes lengths on the CPU";
  EXPECT_FALSE(Is("relu"));
}

TEST_F(DeviceNames, DataSets) {
  auto Origin = [](const char *Name) {
    return torch::dataOrigin(torch::recordOf(Shared->type(Name)));
  };
  for (const char *Name : {"mnist", "stack"})
    EXPECT_EQ(Origin(Name), torch::DataOrigin::Host) << Name;
  for (const char *Name : {"tensors", "lambda"})
    EXPECT_EQ(Origin(Name), torch::DataOrigin::Unknown) << Name;
}

TEST(DeviceOperations, ThatNeedOneDevice) {
  auto Find = [](llvm::StringRef Name) {
    const auto *Op = torch::findOperation(Name, torch::operation::Function);
    return Op ? Op : torch::findOperation(Name, torch::operation::Method);
  };
  for (const char *Name : {"add", "mm", "cat", "nll_loss", "where", "conv2d"})
    EXPECT_TRUE(torch::needsOneDevice(*Find(Name))) << Name;
  for (const char *Name : {"copy_", "index", "index_put_", "to", "ctc_loss"})
    EXPECT_FALSE(torch::needsOneDevice(*Find(Name))) << Name;
  EXPECT_TRUE(torch::takesHostNumber(*Find("add")));
  EXPECT_FALSE(torch::takesHostNumber(*Find("mm")));
}

TEST(DeviceMemory, CachesAndStatistics) {
  const Calls Read("#include <ATen/DeviceAccelerator.h>\n"
                   "#include <ATen/core/CachingHostAllocator.h>\n"
                   "struct Store { void emptyCache(); } store;\n"
                   "void emptyCache();\n",
                   {"at::accelerator::emptyCache()",
                    "at::getDeviceAllocator(torch::kCUDA)->emptyCache()",
                    "at::getHostAllocator(torch::kCUDA)->empty_cache()",
                    "store.emptyCache()", "emptyCache()",
                    "at::accelerator::getDeviceStats(0)",
                    "torch::cuda::is_available()"});
  ASSERT_TRUE(Read.isRead());
  EXPECT_EQ(Read.those(torch::emptiesCache),
            (std::vector<std::string>{
                "at::accelerator::emptyCache()",
                "at::getDeviceAllocator(torch::kCUDA)->emptyCache()",
                "at::getHostAllocator(torch::kCUDA)->empty_cache()"}));
  EXPECT_EQ(Read.those(torch::asksForMemory),
            (std::vector<std::string>{"at::accelerator::getDeviceStats(0)"}));
}

TEST(DeviceMemory, MemoryThatIsPinnedWhereItIs) {
  const Calls Read(
      "extern \"C\" int cudaHostRegister(void *, size_t, unsigned);\n"
      "extern \"C\" int cudaMemset(void *, int, size_t);\n",
      {"cudaHostRegister(nullptr, 4, 0)", "cudaMemset(nullptr, 0, 4)",
       "torch::zeros(4).pin_memory()"});
  ASSERT_TRUE(Read.isRead());
  EXPECT_EQ(Read.those(torch::pinsGivenMemory),
            (std::vector<std::string>{"cudaHostRegister(nullptr, 4, 0)"}));
}
