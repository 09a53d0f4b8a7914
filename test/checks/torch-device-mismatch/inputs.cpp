// RUN: %check_torch %s torch-device-mismatch %t -still-warns
//
// A module is moved, and what its forward() gets is not.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Net : torch::nn::Module {
  Net() : fc(register_module("fc", Linear(784, 10))) {}
  Tensor forward(Tensor x) { return torch::log_softmax(fc->forward(x), 1); }
  Linear fc;
};

auto digits() {
  return torch::data::make_data_loader(
      torch::data::datasets::MNIST(".")
          .map(torch::data::transforms::Normalize<>(0.13, 0.31))
          .map(torch::data::transforms::Stack<>()),
      64);
}

template <class Loader>
void train(Net &net, torch::Device device, Loader &loader) {
  for (auto &batch : loader) {
    auto data = batch.data.to(device), target = batch.target;
    auto output = net.forward(data);
    torch::nll_loss(output, target).backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'target' is on the CPU, and 'output' is on 'device': this throws wherever that is not the CPU; append '.to(device)'
    // CHECK-FIXES: torch::nll_loss(output, target.to(device)).backward();
  }
}

template <class Loader> void test(Net &net, torch::Device device, Loader &loader) {
  torch::NoGradGuard no_grad;
  for (const auto &batch : loader) {
    auto output = net.forward(batch.data);
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: 'batch.data' is on the CPU, and 'net' was moved to 'device': this throws wherever that is not the CPU; append '.to(device)'
    // CHECK-FIXES: auto output = net.forward(batch.data.to(device));
    output.argmax(1).eq(batch.target.to(device));
  }
}

int main() {
  torch::DeviceType type;
  if (torch::cuda::is_available())
    type = torch::kCUDA;
  else
    type = torch::kCPU;
  torch::Device device(type);
  Net net;
  net.to(device);
  auto loader = digits();
  for (int epoch = 0; epoch < 10; ++epoch) {
    train(net, device, *loader);
    test(net, device, *loader);
  }
}

void inABranch() {
  auto net = std::make_shared<Net>();
  if (torch::cuda::is_available()) {
    std::cout << "CUDA\n";
    net->to(torch::kCUDA);
  }
  auto loader = digits();
  for (auto &batch : *loader)
    net->forward(batch.data);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'batch.data' is on the CPU, and 'net' was moved to a CUDA device: this throws where that has happened; move it there before
}

void certain() {
  Linear net(4, 4);
  net->to(torch::kCUDA);
  net->forward(torch::rand({1, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: this tensor is on the CPU, and 'net' was moved to a CUDA device: this throws; append '.to(torch::kCUDA)'
  // CHECK-FIXES: net->forward(torch::rand({1, 4}).to(torch::kCUDA));
}

void parts(torch::Device device) {
  torch::nn::Sequential net(Linear(4, 8), torch::nn::ReLU(), Linear(8, 2));
  net->to(device);
  Tensor x = torch::ones({1, 4}, torch::kFloat32);
  net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'x' is on the CPU, and 'net' was moved to 'device'
  // CHECK-FIXES: net->forward(x.to(device));
}

// The inference server of the tutorial.
void server() {
  torch::jit::script::Module module = torch::jit::load("model.pt");
  module.to(at::kCUDA);
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(torch::ones({1, 3, 224, 224}));
  auto output = module.forward(inputs).toTensor();
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'inputs' is on the CPU, and 'module' was moved to a CUDA device: this throws; move it there before
}
void loadedThere(torch::Device device) {
  auto module = torch::jit::load("model.pt", device);
  module.forward({torch::ones({1, 3, 224, 224})});
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: this tensor is on the CPU, and 'module' was moved to 'device'
}

class Trainer {
public:
  Trainer()
      : device_(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU),
        net_(std::make_shared<Net>()) {
    net_->to(device_);
  }
  void run() {
    auto loader = digits();
    for (auto &batch : *loader) {
      auto output = net_->forward(batch.data);
      // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 'batch.data' is on the CPU, and 'net_' was moved to 'device_'
      // CHECK-FIXES: auto output = net_->forward(batch.data.to(device_));
      torch::nll_loss(output, batch.target.to(device_)).backward();
    }
  }

private:
  torch::Device device_;
  std::shared_ptr<Net> net_;
};

// A member that is not registered stays where it is.
struct Attention : torch::nn::Module {
  Attention() : fc(register_module("fc", Linear(8, 8))) {
    mask = torch::ones({8, 8}).tril();
    bias = torch::zeros({8, 8});
  }
  Tensor forward(Tensor x) {
    return fc->forward(x) + bias;
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'bias' is on the CPU, and the other tensor is on 'device'
  }
  Linear fc;
  Tensor mask, bias;
};
void attention(torch::Device device) {
  Attention net;
  net.to(device);
  net.forward(torch::rand({8, 8}, device));
}

// The input is moved, the module is not.
void forgotten(torch::Device device) {
  Net net;
  net.forward(torch::rand({1, 784}, device));
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net' was never moved from the CPU, and its input is on 'device': this throws wherever that is not the CPU; move the module there before
}

// Own data sets.
struct Series : torch::data::Dataset<Series> {
  torch::data::Example<> get(size_t i) override {
    return {torch::full({784}, double(i)), torch::zeros({}, torch::kLong)};
  }
  torch::optional<size_t> size() const override { return 8; }
};
void series(torch::Device device) {
  Net net;
  net.to(device);
  auto loader = torch::data::make_data_loader(
      Series().map(torch::data::transforms::Stack<>()), 4);
  for (auto &batch : *loader)
    net.forward(batch.data);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'batch.data' is on the CPU
  // CHECK-FIXES: net.forward(batch.data.to(device));
}

// The state that a recurrent layer begins with.
struct Recurrent : torch::nn::Module {
  Recurrent() : gru(register_module("gru", torch::nn::GRU(4, 8))) {}
  Tensor forward(Tensor x) {
    auto h0 = torch::zeros({1, x.size(1), 8});
    return std::get<0>(gru->forward(x, h0));
    // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: 'h0' is on the CPU, and 'gru' was moved to 'device': this throws wherever that is not the CPU; move it there before
  }
  torch::nn::GRU gru;
};
void recurrent(torch::Device device) {
  Recurrent net;
  net.to(device);
  net.forward(torch::rand({3, 2, 4}, device));
}

// One tensor, two callers, and what is made where it is: told once.
struct TextImpl : torch::nn::Module {
  TextImpl() {
    embed = register_module("embed", torch::nn::Embedding(100, 8));
    place = register_module("place", torch::nn::Embedding(100, 8));
  }
  Tensor features(Tensor ids) {
    auto at = torch::arange(ids.size(1), torch::TensorOptions().device(ids.device()).dtype(torch::kLong));
    return embed->forward(ids) + place->forward(at);
  }
  torch::nn::Embedding embed{nullptr}, place{nullptr};
};
TORCH_MODULE(Text);
static Tensor classify(Text &net, const std::vector<int64_t> &ids) {
  auto x = torch::tensor(ids, torch::kLong).unsqueeze(0);
  return net->features(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'x' is on the CPU, and 'net' was moved to a CUDA device: this throws where that has happened; move it there before
}
static void learn(Text &net, const std::vector<std::vector<int64_t>> &data, torch::optim::Optimizer &opt) {
  for (auto &ids : data) {
    opt.zero_grad();
    classify(net, ids).sum().backward();
    opt.step();
  }
}
static int judge(Text &net, const std::vector<std::vector<int64_t>> &data) {
  torch::NoGradGuard no_grad;
  int n = 0;
  for (auto &ids : data)
    n += classify(net, ids).argmax().item<int>();
  return n;
}
void texts(bool fast, const std::vector<std::vector<int64_t>> &data) {
  Text net;
  if (fast)
    net->to(torch::kCUDA);
  torch::optim::AdamW opt(net->parameters());
  for (int epoch = 0; epoch < 5; ++epoch) {
    learn(net, data, opt);
    judge(net, data);
  }
}

// What goes together with a tensor of the CPU that has dimensions is there.
void together(const Tensor &given, torch::Device device) {
  Net net;
  net.to(device);
  auto mixed = given + torch::zeros({1, 784});
  net.forward(mixed);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'mixed' is on the CPU, and 'net' was moved to 'device'
}
