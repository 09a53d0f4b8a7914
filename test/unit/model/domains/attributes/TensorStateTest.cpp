// Device, data type, layout and storage of tensors.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct TensorState : ModelTest<TensorState> {
  static const char Code[];
};

const char TensorState::Code[] = R"cpp(
using torch::Tensor;

void devices(bool gpu) {
  Tensor host = torch::zeros({2});
  Tensor device = torch::zeros({2}, torch::kCUDA);
  torch::Device chosen(torch::kCUDA), either = gpu ? torch::kCUDA : torch::kCPU;
  observe("default", host);
  observe("option", device);
  observe("options", torch::ones({2}, torch::TensorOptions().device(torch::kCUDA)));
  observe("options device", torch::ones({2}, torch::device(torch::kCUDA)));
  observe("moved", host.to(torch::kCUDA));
  observe("cuda", host.cuda());
  observe("cpu", device.cpu());
  observe("variable", host.to(chosen));
  observe("either", host.to(either));
  observe("computed", device * 2 + 1);
  observe("view of it", device.view({-1}));
  Tensor joined = host;
  if (gpu)
    joined = device;
  observe("joined", joined);
  std::vector<Tensor> batches;
  batches.push_back(host.to(torch::kCUDA));
  observe("element", batches[0]);
}

struct Run { torch::Device device{torch::kCPU}; };
void notConstant(torch::Device given, Run &run, torch::Dtype dtype, bool integral) {
  Tensor host = torch::zeros({2}, torch::kFloat);
  Tensor gpu = torch::zeros({2}, torch::kCUDA);
  observe("given", host.to(given));
  observe("member", host.to(run.device));
  observe("factory given", torch::zeros({2}, given));
  observe("factory options", torch::zeros({2}, torch::TensorOptions().device(given)));
  observe("like device", host.to(gpu.device()));
  observe("like tensor", host.to(gpu));
  observe("like options", torch::zeros({2}, gpu.options()));
  observe("like", torch::zeros_like(gpu));
  observe("new", gpu.new_zeros({2}));
  observe("either type", host.to(integral ? torch::kLong : torch::kFloat));
  observe("given type", host.to(dtype));
  observe("compared", host > 0);
  observe("isnan", torch::isnan(host));
  observe("argmax", host.argmax(0));
  observe("nonzero", host.nonzero());
  observe("sum", host.sum());
  Tensor labels = torch::zeros({2}, torch::kLong);
  observe("mixed", labels * host);
  observe("type as", labels.type_as(host));
  observe("mean", labels.to(torch::kFloat).mean());
}

void types() {
  Tensor x = torch::zeros({2}, torch::kFloat32);
  observe("float", x);
  observe("integral", torch::zeros({2}, torch::kInt64));
  observe("long", x.to(torch::kLong));
  observe("bool", x.to(torch::kBool));
  observe("half", x.to(torch::kHalf));
  observe("both", x.to(torch::kCUDA, torch::kInt64));
  observe("options", torch::ones({2}, torch::TensorOptions().dtype(torch::kInt32)));
  observe("same", x * 2);
}

void storages(float *memory) {
  Tensor x = torch::zeros({2, 3});
  Tensor blob = torch::from_blob(memory, {2, 3});
  Tensor view = x.view({-1});
  observe("owned", x);
  observe("computed", x + 1);
  observe("view", view);
  observe("row", x[0]);
  observe("transposed", x.t());
  observe("maybe", x.reshape({-1}));
  observe("blob", blob);
  observe("copy of blob", blob.clone());
  Tensor same = blob;
  observe("same blob", same);
  observe("fresh layout", x);
  observe("contiguous", x.t().contiguous());
  observe("cloned", x.t().clone());
  observe("elementwise", torch::relu(x.t()));
}
)cpp";

} // namespace

TEST_F(TensorState, Device) {
  Entry W = entry("devices");
  for (const char *Name : {"default", "cpu"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), Device::CPU) << Name;
  for (const char *Name :
       {"option", "options", "options device", "moved", "cuda", "variable",
        "computed", "view of it", "element"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), Device::CUDA) << Name;
  for (const char *Name : {"either", "joined"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), std::nullopt) << Name;
}

TEST_F(TensorState, DataType) {
  Entry W = entry("types");
  for (const char *Name : {"float", "half", "same"})
    EXPECT_EQ(W.observed(Name).OfType.get(), DType::Floating) << Name;
  for (const char *Name : {"integral", "long", "both", "options"})
    EXPECT_EQ(W.observed(Name).OfType.get(), DType::Integral) << Name;
  EXPECT_EQ(W.observed("bool").OfType.get(), DType::Bool);
}

TEST_F(TensorState, DeviceThatIsNoConstant) {
  Entry W = entry("notConstant");
  for (const char *Name :
       {"given", "member", "factory given", "factory options"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), std::nullopt) << Name;
  for (const char *Name : {"like device", "like tensor", "like options"})
    EXPECT_NE(W.observed(Name).OnDevice.get(), Device::CPU) << Name;
  for (const char *Name : {"like", "new"})
    EXPECT_EQ(W.observed(Name).OnDevice.get(), Device::CUDA) << Name;
}

TEST_F(TensorState, DataTypeThatIsNoConstant) {
  Entry W = entry("notConstant");
  for (const char *Name : {"either type", "given type"})
    EXPECT_EQ(W.observed(Name).OfType.get(), std::nullopt) << Name;
  for (const char *Name : {"compared", "isnan", "argmax", "nonzero"})
    EXPECT_NE(W.observed(Name).OfType.get(), DType::Floating) << Name;
  for (const char *Name : {"mixed", "type as"})
    EXPECT_NE(W.observed(Name).OfType.get(), DType::Integral) << Name;
  for (const char *Name : {"sum", "mean"})
    EXPECT_EQ(W.observed(Name).OfType.get(), DType::Floating) << Name;
}

TEST_F(TensorState, Storage) {
  Entry W = entry("storages");
  for (const char *Name : {"owned", "computed", "copy of blob"})
    EXPECT_EQ(W.observed(Name).InStorage.get(), Storage::Owns) << Name;
  for (const char *Name : {"view", "row", "transposed"})
    EXPECT_EQ(W.observed(Name).InStorage.get(), Storage::View) << Name;
  for (const char *Name : {"blob", "same blob"})
    EXPECT_EQ(W.observed(Name).InStorage.get(), Storage::Blob) << Name;
  EXPECT_EQ(W.observed("maybe").InStorage.get(), std::nullopt);
  const PlaceSet &Bases = W.observed("row").ViewOf;
  ASSERT_EQ(Bases.size(), 1u);
  EXPECT_EQ(W->places().name(Bases.front()), "x");
}

TEST_F(TensorState, Layout) {
  Entry W = entry("storages");
  for (const char *Name : {"fresh layout", "contiguous"})
    EXPECT_EQ(W.observed(Name).InLayout.get(), Layout::Contiguous) << Name;
  for (const char *Name : {"transposed", "cloned", "elementwise"})
    EXPECT_NE(W.observed(Name).InLayout.get(), Layout::Contiguous)
        << Name << ": operations keep the strides of what they are given";
}
