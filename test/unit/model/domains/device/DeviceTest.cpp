// Where tensors and modules are, along all ways in which a program says so.
#include "model/Model.h"

using namespace torchtidy::model;
using namespace torchtidy::test;

namespace {

struct DeviceTest : ModelTest<DeviceTest> {
  static const char Code[];

  /// "cpu cuda", with "any" for what is not known; "?" where nothing is said.
  static std::string set(const Devices &Of) {
    std::string Result;
    for (auto [D, Name] :
         {std::pair(Device::CPU, "cpu "), std::pair(Device::CUDA, "cuda "),
          std::pair(Device::Other, "other ")})
      Result += Of.has(D) ? Name : "";
    Result += Of.isOpen() ? "any " : "";
    return Result.empty() ? "?" : llvm::StringRef(Result).drop_back().str();
  }
  static std::string on(const Entry &W, llvm::StringRef Name) {
    return set(W.observed(Name).OnDevice);
  }
  /// The variable that said so.
  static std::string from(const Entry &W, llvm::StringRef Name) {
    const Known<PlaceId> &From = W.observed(Name).DeviceFrom;
    if (std::optional<PlaceId> P = From.get())
      return W->places().name(*P);
    return From.isUnknown() ? "unknown" : "none";
  }
  /// Who meets whom, in source order: "x on cpu, y".
  static std::vector<std::string> meetings(const Entry &W) {
    std::vector<std::string> Result;
    for (const MeetEvent *E : W.all<MeetEvent>()) {
      auto Text = [](const clang::Expr *Operand) {
        return Operand ? Shared->program().text(Operand) : "the module";
      };
      Result.push_back(Text(E->OnCpu) + ", " + Text(E->Elsewhere));
    }
    llvm::sort(Result);
    return Result;
  }
};

const char DeviceTest::Code[] = R"cpp(
using torch::Tensor;
using torch::nn::Linear;
bool ask();

void variables(bool gpu, torch::DeviceType chosen) {
  Tensor x = torch::zeros({2});
  observe("written as text", x.to("cuda:0"));
  torch::Device choice(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  observe("choice", x.to(choice));
  torch::Device assigned(torch::kCPU);
  if (torch::cuda::is_available())
    assigned = torch::kCUDA;
  observe("assigned", x.to(assigned));
  torch::DeviceType type;
  if (gpu)
    type = torch::kCUDA;
  else
    type = torch::kCPU;
  torch::Device typed(type);
  observe("typed", x.to(typed));
  torch::Device host(torch::kCPU), number(torch::kCUDA, 1), text("cuda:0"), mps("mps"), cpu("cpu");
  observe("host", x.to(host));
  observe("number", x.to(number));
  observe("text", x.to(text));
  observe("mps", x.to(mps));
  observe("cpu by text", x.to(cpu));
  torch::Device given(chosen);
  observe("given type", x.to(given));
  auto copy = choice;
  observe("copy", x.to(copy));
  observe("written there", x.to(torch::Device(torch::kCUDA)));
  observe("type of unknown", x.to(torch::Device(chosen)));
  observe("meta", x.to(torch::kMeta));
}
torch::Device select(bool gpu) {
  if (gpu)
    return torch::Device(torch::kCUDA);
  return torch::Device(torch::kCPU);
}
torch::Device elsewhere(int argc);
torch::Device otherwise(torch::Device given) {
  return given.is_cpu() ? torch::Device(torch::kMeta) : given;
}
void functions(bool gpu, int argc) {
  Tensor x = torch::zeros({2});
  auto device = select(gpu);
  observe("selected", x.to(device));
  torch::Device other = elsewhere(argc);
  observe("not seen", x.to(other));
  const torch::Device mixed = otherwise(elsewhere(argc));
  observe("mixed", x.to(mixed));
}
void parameter(torch::Device device, torch::TensorOptions options, Tensor y) {
  Tensor x = torch::zeros({2});
  observe("by parameter", x.to(device));
  observe("by options", x.to(options));
  observe("made by options", torch::zeros({2}, options));
  observe("of a tensor", x.to(y.device()));
  observe("like a tensor", x.to(y));
  observe("options of a tensor", torch::zeros({2}, y.options()));
  observe("the tensor", y);
}
void options(torch::Device device) {
  auto said = torch::TensorOptions().dtype(torch::kFloat).device(device);
  observe("device", torch::zeros({2}, said));
  auto nothing = torch::TensorOptions().dtype(torch::kFloat);
  observe("nothing", torch::zeros({2}, nothing));
  observe("type", torch::zeros({2}, torch::kFloat));
  observe("type option", torch::zeros({2}, torch::dtype(torch::kFloat)));
  Tensor x = torch::zeros({2}, device);
  observe("converted", x.to(torch::kHalf));
  observe("like", torch::zeros_like(x));
  observe("of it", torch::zeros({2}, x.options()));
  observe("at its device", torch::zeros({2}).to(x.device()));
  observe("with it", x * torch::tensor(2.0));
  observe("stacked", torch::stack({x, x}));
  observe("picked", x.index({torch::zeros({1}, torch::kLong)}));
  observe("list", torch::cat({torch::zeros({2}), torch::zeros({2})}));
}
Tensor returned(bool gpu, Tensor a) { return gpu ? a.cuda() : a; }
Tensor passed(const Tensor &a) { return a; }
void paths(bool gpu) {
  Tensor a = torch::zeros({2});
  Tensor x = torch::zeros({2});
  observe("before", x);
  if (gpu)
    x = x.cuda();
  observe("on one path", x);
  torch::Device device(torch::kCUDA);
  Tensor y = torch::zeros({2});
  if (gpu)
    y = y.to(device);
  observe("by a variable on one path", y);
  Tensor z;
  if (gpu)
    z = torch::zeros({2}, device);
  else
    z = torch::ones({2}, device);
  observe("the same on both", z);
  Tensor chosen = gpu ? torch::zeros({2}).cuda() : a;
  observe("chosen", chosen);
  chosen = a;
  observe("one", chosen);
  chosen = gpu ? a.cuda() : a;
  observe("assigned", chosen);
  const Tensor &referred = gpu ? a.cuda() : a;
  observe("referred", referred);
  observe("returned", returned(gpu, a));
  observe("passed", passed(gpu ? a.cuda() : a));
}
Tensor foreign();
void change(Tensor &);
void unknown(Tensor given) {
  observe("foreign", foreign());
  Tensor x = torch::zeros({2});
  change(x);
  observe("changed", x);
  observe("given", given);
  Tensor y = torch::zeros({2});
  torch::load(y, "y.pt");
  observe("loaded", y);
  observe("computed", foreign() + torch::tensor(2.0));
  // It throws where both are not together.
  observe("together", foreign() + torch::zeros({2}));
}
void sized(int64_t n, torch::Dtype type) {
  Tensor x = torch::zeros({n});
  observe("sized", x);
  observe("converted", x.to(type));
  observe("typed", torch::zeros({n}, type));
}
struct Net : torch::nn::Module {
  Net() : fc(register_module("fc", Linear(2, 2))) {
    scale = register_buffer("scale", torch::ones({2}));
    mask = torch::ones({2});
  }
  Tensor forward(Tensor x) {
    observe("buffer", scale);
    observe("member", mask);
    return fc->forward(x);
  }
  Linear fc;
  Tensor scale, mask;
};
void moved(torch::Device device) {
  Net net;
  observe("never moved", net.parameters()[0]);
  net.to(device);
  observe("moved", net.parameters()[0]);
  observe("at its parameters", torch::zeros({2}).to(net.parameters()[0].device()));
  net.forward(torch::zeros({2, 2}));
}
void inOneBranch() {
  auto net = std::make_shared<Net>();
  if (torch::cuda::is_available())
    net->to(torch::kCUDA);
  observe("in one branch", net->parameters()[0]);
}
void part(torch::Device device) {
  Net net;
  net.fc->to(device);
  observe("part", net.fc->parameters()[0]);
  net.to(torch::kCPU);
  observe("moved back", net.fc->parameters()[0]);
}
void configure(Net &);
void handedOut() {
  Net net;
  configure(net);
  observe("handed out", net.parameters()[0]);
}
void scripts(torch::Device device) {
  torch::jit::Module where = torch::jit::load("a.pt");
  where.forward({torch::zeros({2})});
  torch::jit::Module there = torch::jit::load("a.pt", device);
  there.forward({torch::ones({2})});
  torch::jit::Module later = torch::jit::load("a.pt");
  later.to(torch::kCUDA);
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(torch::full({2}, 1.0));
  later.forward(inputs);
}
class Trainer {
public:
  explicit Trainer(bool gpu) : device_(gpu ? torch::kCUDA : torch::kCPU), net_(2, 2) {
    net_->to(device_);
  }
  void run() {
    observe("by a member", torch::zeros({2}).to(device_));
    net_->forward(torch::zeros({2, 2}));
    net_->train();
    net_->forward(torch::ones({2, 2}));
    net_->forward(torch::ones({2, 2}).to(device_));
  }
private:
  torch::Device device_;
  Linear net_;
};
struct Sets : torch::data::Dataset<Sets> {
  torch::data::Example<> get(size_t i) override { return {images[i], torch::full({1}, int(i))}; }
  torch::optional<size_t> size() const override { return 1; }
  std::vector<Tensor> images = {torch::zeros({2})};
};
struct Given : torch::data::Dataset<Given> {
  Given(Tensor x) : x(x) {}
  torch::data::Example<> get(size_t i) override { return {x[i], x[i]}; }
  torch::optional<size_t> size() const override { return 1; }
  Tensor x;
};
struct OnDevice : torch::data::Dataset<OnDevice> {
  torch::data::Example<> get(size_t) override { return {torch::zeros({2}, torch::kCUDA), torch::zeros({2})}; }
  torch::optional<size_t> size() const override { return 1; }
};
template <class Set> auto loaderOf(Set set) {
  return torch::data::make_data_loader(set.map(torch::data::transforms::Stack<>()), 2);
}
void loaders(Tensor x, torch::Device device) {
  auto mnist = torch::data::datasets::MNIST(".")
                   .map(torch::data::transforms::Normalize<>(0.1, 0.3))
                   .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(mnist), 2);
  for (auto &batch : *loader) {
    observe("mnist", batch.data);
    observe("target", batch.target);
    observe("moved batch", batch.data.to(device));
  }
  auto own = loaderOf(Sets());
  for (const auto &batch : *own)
    observe("own set", batch.data);
  auto given = loaderOf(Given(x));
  for (auto &batch : *given)
    observe("given to the set", batch.data);
  auto there = loaderOf(OnDevice());
  for (auto &batch : *there)
    observe("made on a device", batch.data);
  auto tensors = torch::data::make_data_loader(
      torch::data::datasets::TensorDataset(x).map(
          torch::data::transforms::Stack<torch::data::TensorExample>()), 2);
  for (auto it = tensors->begin(); it != tensors->end(); ++it)
    observe("tensors", it->data);
}
void meet(torch::Device device, Tensor given, std::vector<float> numbers) {
  Tensor a = torch::zeros({2}), b = torch::zeros({2}, device);
  a + b;
  b *= a;
  b + torch::tensor(1.0);
  b + torch::tensor(numbers);
  b + torch::tensor({1.0, 2.0});
  b + 2;
  b + a.sum();
  b.copy_(a);
  b.index({a});
  torch::cat({b, a});
  torch::mse_loss(b, a);
  torch::nn::functional::cross_entropy(b, a);
  torch::nn::CrossEntropyLoss()(b, a);
  given + a;
  b + given;
  b + a.to(device);
  torch::where(b > 0, b, a);
}
)cpp";

} // namespace

TEST_F(DeviceTest, Variables) {
  Entry W = entry("variables");
  for (const char *Name : {"choice", "assigned", "typed", "copy"})
    EXPECT_EQ(on(W, Name), "cpu cuda") << Name;
  EXPECT_EQ(from(W, "choice"), "choice");
  EXPECT_EQ(from(W, "assigned"), "assigned");
  EXPECT_EQ(from(W, "copy"), "choice");
  for (const char *Name : {"host", "cpu by text"})
    EXPECT_EQ(on(W, Name), "cpu") << Name;
  for (const char *Name :
       {"number", "text", "written there", "written as text"})
    EXPECT_EQ(on(W, Name), "cuda") << Name;
  for (const char *Name : {"mps", "meta"})
    EXPECT_EQ(on(W, Name), "other") << Name;
  for (const char *Name : {"given type", "type of unknown"})
    EXPECT_EQ(on(W, Name), "any") << Name;
}

TEST_F(DeviceTest, Functions) {
  Entry W = entry("functions");
  EXPECT_EQ(on(W, "selected"), "cpu cuda");
  EXPECT_EQ(on(W, "not seen"), "any");
  EXPECT_EQ(from(W, "not seen"), "other");
  EXPECT_EQ(on(W, "mixed"), "other any");
  EXPECT_EQ(from(W, "mixed"), "mixed");
}

TEST_F(DeviceTest, Parameters) {
  Entry W = entry("parameter");
  for (const char *Name :
       {"by parameter", "by options", "made by options", "of a tensor",
        "like a tensor", "options of a tensor", "the tensor"})
    EXPECT_EQ(on(W, Name), "any") << Name;
  EXPECT_EQ(from(W, "by parameter"), "device");
  EXPECT_EQ(from(W, "by options"), "none");
}

TEST_F(DeviceTest, Options) {
  Entry W = entry("options");
  for (const char *Name : {"device", "converted", "like", "of it",
                           "at its device", "with it", "stacked", "picked"})
    EXPECT_EQ(from(W, Name), "device") << Name;
  for (const char *Name : {"nothing", "type", "type option", "list"})
    EXPECT_EQ(on(W, Name), "cpu") << Name;
}

TEST_F(DeviceTest, Paths) {
  Entry W = entry("paths");
  EXPECT_EQ(on(W, "before"), "cpu");
  for (const char *Name :
       {"on one path", "chosen", "assigned", "referred", "returned", "passed"})
    EXPECT_EQ(on(W, Name), "cpu cuda") << Name;
  EXPECT_EQ(on(W, "one"), "cpu");
  EXPECT_EQ(on(W, "by a variable on one path"), "cpu cuda");
  EXPECT_EQ(from(W, "by a variable on one path"), "unknown");
  EXPECT_EQ(from(W, "the same on both"), "device");
}

TEST_F(DeviceTest, Unknown) {
  Entry W = entry("unknown");
  for (const char *Name : {"foreign", "given", "loaded", "computed"})
    EXPECT_EQ(on(W, Name), "any") << Name;
  EXPECT_EQ(on(W, "changed"), "cpu any");
  EXPECT_EQ(on(W, "together"), "cpu");
}

TEST_F(DeviceTest, NumbersAndTypesSayNothing) {
  Entry W = entry("sized");
  for (const char *Name : {"sized", "converted", "typed"})
    EXPECT_EQ(on(W, Name), "cpu") << Name;
}

TEST_F(DeviceTest, Modules) {
  Entry W = entry("moved");
  EXPECT_EQ(on(W, "never moved"), "cpu");
  EXPECT_EQ(from(W, "moved"), "device");
  EXPECT_EQ(from(W, "at its parameters"), "device");
  EXPECT_EQ(from(W, "buffer"), "device") << "moves with the module";
  EXPECT_EQ(on(W, "member"), "cpu") << "stays";
  EXPECT_EQ(on(entry("inOneBranch"), "in one branch"), "cpu cuda");
  Entry Part = entry("part");
  EXPECT_EQ(from(Part, "part"), "device");
  EXPECT_EQ(on(Part, "moved back"), "cpu");
  EXPECT_EQ(on(entry("handedOut"), "handed out"), "cpu any");
}

TEST_F(DeviceTest, ModulesMeetTheirInput) {
  using Meetings = std::vector<std::string>;
  // The argument as it is given, and as the layer gets it.
  EXPECT_EQ(meetings(entry("moved")),
            (Meetings{"torch::zeros({2, 2}), the module", "x, the module"}));
  EXPECT_EQ(meetings(entry("scripts")),
            (Meetings{"inputs, the module", "torch::ones({2}), the module"}));
  EXPECT_EQ(meetings(entry("Trainer::run")),
            (Meetings{"torch::ones({2, 2}), the module",
                      "torch::zeros({2, 2}), the module"}));
}

TEST_F(DeviceTest, Members) {
  Entry W = entry("Trainer::run");
  EXPECT_EQ(on(W, "by a member"), "cpu cuda any");
  EXPECT_EQ(from(W, "by a member"), "device_");
}

TEST_F(DeviceTest, Loaders) {
  Entry W = entry("loaders");
  for (const char *Name : {"mnist", "target", "own set"})
    EXPECT_EQ(on(W, Name), "cpu") << Name;
  for (const char *Name : {"given to the set", "made on a device", "tensors"})
    EXPECT_EQ(on(W, Name), "any") << Name;
  EXPECT_EQ(from(W, "moved batch"), "device");
}

TEST_F(DeviceTest, TensorsMeet) {
  EXPECT_EQ(meetings(entry("meet")),
            (std::vector<std::string>{
                "a, b", "a, b", "a, b", "a, b", "a, b", "a, b", "a, b > 0",
                "torch::tensor(numbers), b", "torch::tensor({1.0, 2.0}), b"}));
}
