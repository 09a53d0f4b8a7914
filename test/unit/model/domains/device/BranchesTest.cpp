// Branches that ask where a tensor is, or which device another names: where
// that is known, only one side runs.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DeviceBranchesTest : ModelTest<DeviceBranchesTest> {
  static const char Code[];

  /// Which of the constants that stand for a side is left.
  static std::string sides(const char *Root, const char *Name) {
    const Devices &Of = entry(Root).observed(Name).OnDevice;
    std::string Result;
    Result += Of.has(Device::CPU) ? "cpu " : "";
    Result += Of.has(Device::CUDA) ? "cuda " : "";
    Result += Of.isOpen() ? "any " : "";
    return Result.empty() ? "?" : llvm::StringRef(Result).drop_back().str();
  }
};

const char DeviceBranchesTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
bool ask();
Tensor fresh() { return torch::ones({2, 2}); }

// What is moved in the branch is where the side that ran has put it.
Tensor byOptions(torch::TensorOptions options) {
  Tensor x = fresh();
  if (options.device() == torch::kCUDA)
    x = x.to(torch::kCUDA);
  return x;
}
Tensor byDevice(torch::Device device) {
  Tensor x = fresh();
  if (device != torch::Device(torch::kCPU))
    return x.cuda();
  return x;
}
Tensor byType(const Tensor &like) {
  Tensor x = fresh();
  if (like.device().type() == torch::kCUDA)
    x = x.cuda();
  return x;
}
Tensor byQuestion(const Tensor &like) {
  return like.is_cuda() ? fresh().cuda() : fresh();
}
Tensor byDevicesQuestion(torch::Device device) {
  return !device.is_cpu() ? fresh().cuda() : fresh();
}
Tensor byFlag(bool gpu) {
  torch::Device device = gpu ? torch::kCUDA : torch::kCPU;
  return byOptions(torch::TensorOptions().dtype(torch::kFloat32).device(device));
}

void certain() {
  observe("options, cpu", byOptions(torch::TensorOptions().device(torch::kCPU)));
  observe("options, cuda",
          byOptions(torch::TensorOptions(torch::kFloat).device(torch::kCUDA)));
  observe("device, cpu", byDevice(torch::kCPU));
  observe("device, cuda", byDevice(torch::kCUDA));
  observe("type, cpu", byType(fresh()));
  observe("type, cuda", byType(fresh().cuda()));
  observe("question, cpu", byQuestion(fresh()));
  observe("question, cuda", byQuestion(fresh().cuda()));
  observe("device's, cpu", byDevicesQuestion(torch::kCPU));
  observe("device's, cuda", byDevicesQuestion(torch::kCUDA));
  observe("flag, cpu", byFlag(false));
  observe("flag, cuda", byFlag(true));
}

void open(Tensor x, torch::Device device, bool gpu) {
  observe("from outside", byQuestion(x));
  observe("parameter", byDevice(device));
  observe("unknown flag", byFlag(gpu));
  torch::Device either(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  observe("either", byDevice(either));
  // A tensor's device has an index, which kCUDA has not.
  Tensor y = fresh();
  if (fresh().cuda().device() == torch::kCUDA)
    y = y.cuda();
  observe("with an index", y);
}

struct Trainer {
  torch::Device device_{torch::kCPU};
  void use(torch::Device device) { device_ = device; }
  void run() { observe("member", byDevice(device_)); }
};
// The member says the same wherever the module goes.
struct Scorer : torch::nn::Module {
  explicit Scorer(torch::Device device)
      : where(device), head(register_module("head", Linear(2, 1))) {
    this->to(device);
    observe("in the constructor", torch::zeros({1}, this->where));
  }
  torch::Device where;
  Linear head;
};
void moved() {
  Scorer scorer(torch::kCPU);
  observe("member of a module", torch::zeros({1}, scorer.where));
  scorer.to(torch::kCUDA);
  observe("after another move", torch::zeros({1}, scorer.where));
}

void indices() {
  torch::Device second(torch::kCUDA, 1), first("cuda:0");
  Tensor x = fresh();
  if (second == first)
    x = x.cuda();
  observe("two indices", x);
}
)cpp";

} // namespace

TEST_F(DeviceBranchesTest, OneSideRunsWhereTheDeviceIsKnown) {
  for (const char *How :
       {"options", "device", "type", "question", "device's", "flag"}) {
    const std::string Name = How;
    EXPECT_EQ(sides("certain", (Name + ", cpu").c_str()), "cpu") << How;
    EXPECT_EQ(sides("certain", (Name + ", cuda").c_str()), "cuda") << How;
  }
}

TEST_F(DeviceBranchesTest, BothRunWhereItIsNot) {
  for (const char *How :
       {"from outside", "parameter", "unknown flag", "either", "with an index"})
    EXPECT_EQ(sides("open", How), "cpu cuda") << How;
  EXPECT_EQ(sides("Trainer::run", "member"), "cpu cuda")
      << "another method may have set it";
  EXPECT_EQ(sides("indices", "two indices"), "cpu cuda");
}

TEST_F(DeviceBranchesTest, AModuleThatMovesLeavesItsDeviceMember) {
  for (const char *Name :
       {"in the constructor", "member of a module", "after another move"})
    EXPECT_EQ(sides("moved", Name), "cpu") << Name;
}
