// Whether devices have an index, where they are compared.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DeviceIndices : ModelTest<DeviceIndices> {
  static const char Code[];
  using Index = Known<DeviceIndex>;
  static const CompareEvent &compared(llvm::StringRef Root,
                                      const std::string &Other) {
    return entry(Root).event<CompareEvent>("x.device() == " + Other);
  }
  static void expectNone(llvm::StringRef Root, const char *Other) {
    EXPECT_EQ(compared(Root, Other).Right.Index.get(), DeviceIndex::None)
        << Other;
  }
  static void expectUnknown(llvm::StringRef Root, const char *Other) {
    EXPECT_TRUE(compared(Root, Other).Right.Index.isUnknown()) << Other;
  }
};

const char DeviceIndices::Code[] = R"cpp(
using torch::Tensor;
torch::Device elsewhere();
void choose(torch::Device &);
struct Config { torch::Device device = torch::kCUDA; };
void parse(Config *);

void made(Tensor x, bool gpu) {
  const torch::Device variable(torch::kCUDA), named(gpu ? "cuda" : "cpu");
  torch::Device either = torch::kCPU;
  if (gpu)
    either = torch::kCUDA;
  const auto options = torch::TensorOptions().device(torch::kCUDA).dtype(torch::kHalf);
  (void)(x.device() == torch::kCUDA);
  (void)(x.device() == variable);
  (void)(x.device() == named);
  (void)(x.device() == either);
  (void)(x.device() == options.device());
  (void)(x.device() == torch::Device("cuda"));
  (void)(x.device() == torch::kCPU);
  (void)(x.device() == x.options().device());
}
void notKnown(Tensor x, torch::Device given, torch::DeviceType type, int i,
              std::optional<torch::Device> maybe) {
  torch::Device set(torch::kCUDA), written(torch::kCUDA);
  set.set_index(1);
  choose(written);
  Config config;
  parse(&config);
  (void)(x.device() == given);
  (void)(x.device() == torch::Device(type));
  (void)(x.device() == torch::Device(torch::kCUDA, i));
  (void)(x.device() == maybe.value_or(torch::kCUDA));
  (void)(x.device() == elsewhere());
  (void)(x.device() == set);
  (void)(x.device() == written);
  (void)(x.device() == config.device);
  (void)(x.device() == torch::Device("cuda:0"));
  (void)(x.device() == torch::device({torch::kCUDA, 1}).device());
  (void)(x.device() == torch::Device(x.device().type()));
}
void places(Tensor x, torch::TensorOptions given) {
  observe("type only", torch::zeros({2}, torch::kLong));
  observe("options of a type", torch::zeros({2}, torch::dtype(torch::kLong)));
  observe("given", torch::zeros({2}, given));
  observe("given with a type", torch::zeros({2}, given.dtype(torch::kLong)));
  observe("elsewhere", torch::zeros({2}, elsewhere()));
  observe("meta", torch::zeros({2}, torch::kMeta));
  observe("like", torch::zeros({2}, x.options()));
}
)cpp";

} // namespace

TEST_F(DeviceIndices, OfATensor) {
  EXPECT_EQ(compared("made", "torch::kCUDA").Left.Index.get(),
            DeviceIndex::OfTensor);
  EXPECT_EQ(compared("made", "x.options().device()").Right.Index.get(),
            DeviceIndex::OfTensor);
}

TEST_F(DeviceIndices, WithoutIndex) {
  for (const char *Other : {"torch::kCUDA", "variable", "named", "either",
                            "options.device()", "torch::Device(\"cuda\")"})
    expectNone("made", Other);
  EXPECT_TRUE(compared("made", "torch::kCPU").Right.Index.isEmpty());
}

TEST_F(DeviceIndices, NotKnown) {
  for (const char *Other :
       {"given", "torch::Device(type)", "torch::Device(torch::kCUDA, i)",
        "maybe.value_or(torch::kCUDA)", "elsewhere()", "set", "written",
        "config.device", "torch::Device(\"cuda:0\")",
        "torch::device({torch::kCUDA, 1}).device()",
        "torch::Device(x.device().type())"})
    expectUnknown("notKnown", Other);
}

TEST_F(DeviceIndices, OfFactories) {
  Entry W = entry("places");
  for (const char *Name : {"type only", "options of a type"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), Device::CPU) << Name;
  for (const char *Name : {"given", "given with a type", "elsewhere", "like"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), std::nullopt) << Name;
  EXPECT_EQ(W.observed("meta").OnDevice.get(), Device::Other);
}
