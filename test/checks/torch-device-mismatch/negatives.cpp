// RUN: %check_torch %s torch-device-mismatch %t
//
// What looks like the mistake and is right, or is not known to be wrong.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Net : torch::nn::Module {
  Net() : fc(register_module("fc", Linear(784, 10))) {
    scale = register_buffer("scale", torch::ones({784}));
  }
  Tensor forward(Tensor x) { return torch::log_softmax(fc->forward(x * scale), 1); }
  Linear fc;
  Tensor scale;
};

torch::Device chosen() {
  return torch::cuda::is_available() ? torch::Device(torch::kCUDA)
                                     : torch::Device(torch::kCPU);
}

auto digits() {
  return torch::data::make_data_loader(
      torch::data::datasets::MNIST(".")
          .map(torch::data::transforms::Normalize<>(0.13, 0.31))
          .map(torch::data::transforms::Stack<>()),
      64);
}

// Everything is moved.
void right() {
  torch::Device device = chosen();
  Net net;
  net.to(device);
  auto loader = digits();
  for (auto &batch : *loader) {
    auto data = batch.data.to(device), target = batch.target.to(device);
    torch::nll_loss(net.forward(data), target).backward();
  }
}

// The program uses the CPU.
void host() {
  torch::Device device(torch::kCPU);
  Net net;
  net.to(device);
  auto loader = digits();
  for (auto &batch : *loader)
    torch::nll_loss(net.forward(batch.data), batch.target).backward();
}

// Both are moved on the same paths.
void underOneCondition(bool cuda) {
  Net net;
  if (cuda)
    net.to(torch::kCUDA);
  auto loader = digits();
  for (auto &batch : *loader) {
    Tensor data = batch.data, target = batch.target;
    if (cuda) {
      data = data.cuda();
      target = target.cuda();
    }
    torch::nll_loss(net.forward(data), target).backward();
  }
}

void inTwoBranches(bool cuda) {
  Net net;
  if (cuda)
    net.to(torch::kCUDA);
  Tensor x = torch::rand({1, 784});
  if (cuda)
    net.forward(x.to(torch::kCUDA));
  else
    net.forward(x);
  Tensor y = cuda ? net.forward(x.cuda()) : net.forward(x);
}

void leavesBefore() {
  const bool useGpu = torch::cuda::device_count() > 0;
  Net net;
  torch::Device device(useGpu ? torch::kCUDA : torch::kCPU);
  net.to(device);
  Tensor x = torch::rand({1, 784});
  if (useGpu) {
    net.forward(x.to(device));
    return;
  }
  net.forward(x);
}

void byTheDevice(torch::Device device) {
  Net net;
  net.to(device);
  Tensor x = torch::rand({1, 784});
  if (device.is_cpu())
    net.forward(x);
  if (device.type() == torch::kCPU)
    net.forward(x);
  switch (device.type()) {
  case torch::kCPU:
    net.forward(x);
    break;
  default:
    net.forward(x.to(device));
  }
}

void onTheHostOnly() {
  if (torch::cuda::is_available())
    return;
  torch::Device device = chosen();
  Net net;
  net.to(device);
  net.forward(torch::rand({1, 784}));
}

// Back on the CPU.
void backAgain(torch::Device device) {
  Net net;
  net.to(device);
  net.forward(torch::rand({1, 784}, device));
  net.to(torch::kCPU);
  net.forward(torch::rand({1, 784}));
}

// forward() moves its input.
struct Moving : torch::nn::Module {
  explicit Moving(torch::Device device)
      : device(device), fc(register_module("fc", Linear(4, 4))) {
    to(device);
  }
  Tensor forward(Tensor x) {
    x = x.to(device);
    return fc->forward(x);
  }
  torch::Device device;
  Linear fc;
};
struct ToItsWeight : torch::nn::Module {
  ToItsWeight() : fc(register_module("fc", Linear(4, 4))) {}
  Tensor forward(Tensor x) { return fc->forward(x.to(fc->weight.device())); }
  Linear fc;
};
// Nobody sees what it does.
struct Unseen : torch::nn::Module {
  Tensor forward(Tensor x);
  Linear fc{nullptr};
};
void moving(torch::Device device) {
  Moving net(device);
  net.forward(torch::rand({1, 4}));
  ToItsWeight other;
  other.to(device);
  other.forward(torch::rand({1, 4}));
  Unseen unseen;
  unseen.to(device);
  unseen.forward(torch::rand({1, 4}));
}

// Made there, or wherever something else is.
void madeThere(torch::Device device, Tensor given, torch::TensorOptions options) {
  Net net;
  net.to(device);
  net.forward(torch::rand({1, 784}, device));
  net.forward(torch::rand({1, 784}, torch::TensorOptions().device(device)));
  net.forward(torch::rand({1, 784}, options));
  net.forward(torch::rand({1, 784}, given.options()));
  net.forward(torch::rand({1, 784}).to(given.device()));
  net.forward(torch::rand({1, 784}).to(net.parameters()[0].device()));
  net.forward(torch::zeros_like(given));
  net.forward(given);
  auto there = torch::rand({1, 784}, device);
  net.forward(there.clone());
  net.forward(torch::stack({there[0], there[0]}));
  net.forward(torch::zeros({1, 784}).to(there));
}

// Code that is not seen.
Tensor read(const char *path);
void arrange(Tensor &x);
void configure(Net &net);
void unknown(torch::Device device) {
  Net net;
  net.to(device);
  net.forward(read("a.png"));
  Tensor x = torch::rand({1, 784});
  arrange(x);
  net.forward(x);
  Tensor y = torch::rand({1, 784});
  torch::load(y, "y.pt");
  net.forward(y);
  Net other;
  configure(other);
  other.forward(torch::rand({1, 784}));
  other.forward(torch::rand({1, 784}, device));
}

// A single number on the CPU goes with all devices; indices do as well.
void allowed(torch::Device device) {
  Tensor x = torch::rand({8, 8}, device), host = torch::rand({8});
  x + 1;
  x * torch::tensor(2.0);
  x * torch::scalar_tensor(2.0);
  x + torch::zeros({});
  x / host.sum();
  x / host.max();
  x / host[0];
  x.index({torch::arange(3)});
  x.index_put_({torch::arange(3)}, 1);
  x.copy_(host);
  x[0].copy_(host);
  host.copy_(x[0]);
  x.to(host.dtype());
  x.view(host.sizes().size() == 1 ? -1 : 8);
  x.expand_as(x);
  host.to(x.device()) + x;
  host.to(x) + x;
  torch::where(x > 0, x, torch::tensor(0.0));
  x.masked_fill_(x > 1, 0);
  x.cpu() + host;
  x.to(torch::kCPU).mul(host);
  host += x[0].cpu();
}

// Loaders over what the user decides.
struct OnDevice : torch::data::Dataset<OnDevice> {
  explicit OnDevice(torch::Device device) : device(device) {}
  torch::data::Example<> get(size_t) override {
    return {torch::rand({784}).to(device), torch::zeros({}, torch::kLong).to(device)};
  }
  torch::optional<size_t> size() const override { return 8; }
  torch::Device device;
};
struct Given : torch::data::Dataset<Given> {
  Given(Tensor x, Tensor y) : x(x), y(y) {}
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
  Tensor x, y;
};
template <class Set> void fit(Set set, torch::Device device) {
  Net net;
  net.to(device);
  auto loader = torch::data::make_data_loader(
      set.map(torch::data::transforms::Stack<>()), 4);
  for (auto &batch : *loader)
    torch::nll_loss(net.forward(batch.data), batch.target).backward();
}
void loaders(torch::Device device) {
  fit(OnDevice(device), device);
  fit(Given(torch::rand({8, 784}, device), torch::zeros({8}, device)), device);
  Net net;
  net.to(device);
  auto mapped = torch::data::datasets::MNIST(".")
                    .map(torch::data::transforms::Lambda<torch::data::Example<>>(
                        [device](torch::data::Example<> e) {
                          return torch::data::Example<>(e.data.to(device), e.target.to(device));
                        }))
                    .map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(mapped), 4);
  for (auto &batch : *loader)
    torch::nll_loss(net.forward(batch.data), batch.target).backward();
}

// The batch is moved where it lies.
void inPlace(torch::Device device) {
  Net net;
  net.to(device);
  auto loader = digits();
  for (auto &batch : *loader) {
    batch.data = batch.data.to(device);
    batch.target = batch.target.to(device);
    torch::nll_loss(net.forward(batch.data), batch.target).backward();
  }
}

// A class that moves what it has by a method of its own.
class Model {
public:
  Model() : net(784, 10), mean(torch::zeros({784})) {}
  void to(torch::Device device) {
    net->to(device);
    mean = mean.to(device);
  }
  Tensor run(Tensor x) { return net->forward(x - mean); }
  Tensor norm() { return net->forward(mean); }

private:
  Linear net;
  Tensor mean;
};

// A script module is wherever it was saved.
void scripts(torch::Device device) {
  auto module = torch::jit::load("a.pt");
  std::vector<torch::jit::IValue> inputs{torch::rand({1, 3, 224, 224})};
  module.forward(inputs);
  auto there = torch::jit::load("a.pt", device);
  there.forward({torch::rand({1, 3, 224, 224}).to(device)});
  auto host = torch::jit::load("a.pt", torch::kCPU);
  host.forward(inputs);
}

// Only a parameter that names the CPU for all callers.
static void fitOn(Net &net, torch::Device device) {
  net.to(device);
  net.forward(torch::rand({1, 784}));
}
void callers() {
  Net net;
  fitOn(net, torch::kCPU);
}

// By a function that is asked again.
bool useGpu();
void byFunction() {
  Linear net(4, 4);
  if (useGpu())
    net->to(torch::kCUDA);
  if (!useGpu())
    net->forward(torch::rand({1, 4}));
}

// A container of parts that were moved before.
void partsBefore(torch::Device device) {
  Linear a(4, 4), b(4, 4);
  a->to(device);
  b->to(device);
  torch::nn::Sequential net(a, b), other;
  net->forward(torch::rand({1, 4}, device));
  other->push_back(a);
  other->forward(torch::rand({1, 4}, device));
}

// One network for all callers.
Linear &shared() {
  static Linear net(4, 4);
  return net;
}
void ofAll(torch::Device device) {
  shared()->to(device);
  shared()->forward(torch::rand({1, 4}, device));
}

// Of a default argument.
static Tensor make(torch::Device device = torch::kCPU) {
  return torch::zeros({1, 4}, device);
}
static void start(Linear &net, const torch::Device &device = torch::kCPU) {
  net->to(device);
  net->forward(torch::rand({1, 4}));
}
void byDefault() {
  Linear net(4, 4), other(4, 4);
  net->forward(make());
  start(other);
}

// An archive is read to a device.
void archive(torch::Device device) {
  Linear net(4, 4);
  torch::serialize::InputArchive from;
  from.load_from("net.pt", device);
  net->load(from);
  net->forward(torch::rand({1, 4}, device));
}

// A choice between a variable and a value.
void choice(bool cuda) {
  Linear net(4, 4);
  if (cuda)
    net->to(torch::kCUDA);
  Tensor x = torch::rand({1, 4});
  Tensor y = cuda ? x.cuda() : x;
  net->forward(y);
  const Tensor &z = cuda ? x.cuda() : x;
  net->forward(z);
  net->forward(cuda ? x.cuda() : x);
}

// The data of the parameters is replaced.
void byData(torch::Device device) {
  Net net;
  for (auto &p : net.parameters())
    p.set_data(p.to(device));
  net.forward(torch::rand({1, 784}, device));
}
// A number goes with tensors anywhere; so do indices.
void anywhere(const Tensor &given, const Tensor &rows, torch::Device device) {
  torch::nn::Linear net(4, 4);
  net->to(device);
  net->forward(given + torch::tensor(1.0));
  net->forward(given.index({torch::tensor({1, 2})}));
}

// What is loaded is where it was saved, all of its parts; code that is not seen may move all of them.
struct BlockImpl : torch::nn::Module {
  BlockImpl() { linear = register_module("linear", Linear(4, 4)); }
  Tensor forward(const Tensor &x) { return linear->forward(x); }
  Linear linear{nullptr};
};
TORCH_MODULE(Block);
struct TowerImpl : torch::nn::Module {
  TowerImpl() {
    for (int i = 0; i < 3; ++i)
      blocks->push_back(Block());
    register_module("blocks", blocks);
    shared = register_module("shared", first);
  }
  Tensor forward(Tensor x) {
    for (const auto &block : *blocks)
      x = block->as<Block>()->forward(x);
    return shared->forward(first->forward(x));
  }
  torch::nn::ModuleList blocks;
  Block first, shared{nullptr};
};
TORCH_MODULE(Tower);
void prepare(Tower net);
void loadedInParts(const std::string &file, torch::serialize::InputArchive &archive) {
  Tower net;
  torch::load(net, file);
  net->forward(torch::rand({1, 4}).cuda());
  Tower archived;
  archived->load(archive);
  archived->forward(torch::rand({1, 4}).cuda());
  Tower prepared;
  prepare(prepared);
  prepared->forward(torch::rand({1, 4}).cuda());
  torch::nn::Sequential all(Block{}, Block{});
  torch::load(all, file);
  all->forward(torch::rand({1, 4}).cuda());
}

// The device is that of a parameter, however it is reached, or of a tensor that may be anywhere.
void byIndex(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->parameters()[0].device();
  net->forward(x.to(device));
}
void byFront(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->parameters().front().device();
  net->forward(x.to(device));
}
void byBegin(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->parameters().begin()->device();
  net->forward(x.to(device));
}
void byStar(const Tensor &x) {
  Linear net(4, 4);
  auto device = (*net->parameters().begin()).device();
  net->forward(x.to(device));
}
void byBack(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->parameters().back().device();
  net->forward(x.to(device));
}
void byMember(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->weight.device();
  net->forward(x.to(device));
}
void byName(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->named_parameters()["weight"].device();
  net->forward(x.to(device));
}
void byPair(const Tensor &x) {
  Linear net(4, 4);
  auto device = net->named_parameters().begin()->value().device();
  net->forward(x.to(device));
}
void byVariable(const Tensor &x) {
  Linear net(4, 4);
  auto parameters = net->parameters();
  auto device = parameters.begin()->device();
  net->forward(x.to(device));
}
void byBuffer(const Tensor &x) {
  torch::nn::BatchNorm1d net(4);
  auto device = net->buffers().at(0).device();
  net->forward(x.to(device));
}
class Search {
public:
  explicit Search(std::shared_ptr<torch::nn::LinearImpl> net) : net_(net) {}
  Tensor run(const Tensor &x) {
    auto device = net_->parameters().begin()->device();
    return net_->forward(x.to(device));
  }

private:
  std::shared_ptr<torch::nn::LinearImpl> net_;
};
void bySearch(const Tensor &x) {
  Search search(std::make_shared<torch::nn::LinearImpl>(4, 4));
  search.run(x);
}
