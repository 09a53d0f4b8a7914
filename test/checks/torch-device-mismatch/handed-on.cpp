// RUN: %check_torch %s torch-device-mismatch %t -still-warns
//
// A tensor of the CPU that a function is given, which has no name for the
// device: the caller that has it is to move it.

#include <torch/torch.h>
#include <cstring>
#include <vector>

using torch::Tensor;

// The data set fills its tensors by a function of C, which knows no tensors.
struct Readings : torch::data::Dataset<Readings> {
  explicit Readings(std::vector<float> all) : all_(std::move(all)) {}
  torch::data::Example<> get(size_t at) override {
    auto x = torch::empty({4}), y = torch::empty({1});
    std::memcpy(x.data_ptr<float>(), all_.data() + at, 4 * sizeof(float));
    std::memcpy(y.data_ptr<float>(), all_.data() + at + 4, sizeof(float));
    return {x, y};
  }
  torch::optional<size_t> size() const override { return all_.size() - 5; }
  std::vector<float> all_;
};

struct Answer {
  Tensor mean, width;
};

static Tensor quantile(const Tensor &said, const Tensor &wanted, double q) {
  auto e = wanted - said;
  return torch::maximum(q * e, (q - 1) * e);
}

static Tensor cost(const Answer &a, Tensor wanted, const Tensor &weight) {
  auto both = quantile(a.mean, wanted, 0.5) + quantile(a.mean, wanted, 0.9);
  return (both * weight).mean() + 0.1 * a.width.mean();
}

void train(std::vector<float> numbers) {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA
                                                         : torch::kCPU);
  torch::nn::Linear mean(4, 1), width(4, 1);
  mean->to(device);
  width->to(device);
  auto weight = torch::ones({8, 1}, device);
  auto loader = torch::data::make_data_loader(
      Readings(numbers).map(torch::data::transforms::Stack<>()), 8);
  for (auto &batch : *loader) {
    auto x = batch.data.to(device);
    auto y = batch.target;
    Answer a{mean(x), width(x)};
    auto loss = cost(a, y, weight);
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'y' is on the CPU, and what it meets in 'quantile' is on 'device': this throws wherever that is not the CPU; append '.to(device)'
    // CHECK-FIXES: auto loss = cost(a, y.to(device), weight);
    loss.backward();
    auto right = cost(a, batch.target.to(device), weight);
    right.backward();
  }
}

// A function that has the device moves the tensor itself.
static Tensor moved(torch::nn::Linear net, Tensor x, torch::Device where) {
  return net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'x' is on the CPU, and 'net' was moved to 'where'
  // CHECK-FIXES: return net->forward(x.to(where));
}
static Tensor run(torch::nn::Linear net, Tensor x) {
  return torch::relu(net->forward(x));
}
static Tensor runInLoop(torch::nn::Linear net, Tensor x) {
  return torch::relu(net->forward(x));
}
// Two calls give it such a tensor: it is the one place for both.
static Tensor runForMany(torch::nn::Linear net, Tensor x) {
  return torch::relu(net->forward(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 'x' is on the CPU, and 'net' was moved to 'device': this throws wherever that is not the CPU; move it there before
}
// It gives the name another tensor, so the one of its caller is not meant.
static Tensor other(Tensor x, const Tensor &on) {
  x = torch::ones({8, 4});
  return x + on;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'x' is on the CPU, and 'on' is on 'device'
}

// A constant has a name everywhere: the function moves it itself.
static Tensor scaled(const Tensor &x) {
  auto scale = torch::full({8, 4}, 2.0, torch::kCUDA);
  return x * scale;
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'x' is on the CPU, and 'scale' is on a CUDA device
  // CHECK-FIXES: return x.to(torch::kCUDA) * scale;
}

void several(torch::Device device) {
  torch::nn::Linear net(4, 2);
  net->to(device);
  auto x = torch::rand({8, 4});
  moved(net, x, device);
  scaled(x);
  run(net, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'x' is on the CPU, and the module that 'run' runs on it was moved to 'device': this throws wherever that is not the CPU; append '.to(device)'
  // CHECK-FIXES: run(net, x.to(device));
  runForMany(net, x);
  runForMany(net, x * 2);
  for (int i = 0; i < 8; ++i)
    runInLoop(net, x);
  // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'x' is on the CPU, and the module that 'runInLoop' runs on it was moved to 'device': this throws wherever that is not the CPU; move it there before the loop
  other(torch::rand({8, 4}), torch::rand({8, 4}, device));
}

// Nothing here has a name for the device: one move is lacking.
struct Critic {
  Critic() {
    net->to(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  }
  torch::nn::Linear net{4, 1};
};
static Tensor rate(Critic &critic, const Tensor &state) {
  return critic.net->forward(state);
}
double rated() {
  Critic critic;
  const auto state = torch::rand({8, 4});
  auto sum = critic.net->forward(state).sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: 'state' is on the CPU, and 'critic.net' was moved to a CUDA device
  // CHECK-MESSAGES: :[[@LINE+1]]:30: note: and it is given again here
  return (sum + rate(critic, state).mean()).item<double>();
}

// ------------------------------------------- dimensions of what is chosen

struct Drawn {
  Tensor rows, weight;
};

struct Memory {
  Tensor priority = torch::ones({64});
  Drawn draw(int64_t n) const {
    auto rows = torch::multinomial(priority, n, true);
    return {rows, priority.index({rows}).pow(-0.4)};
  }
};

void learn(torch::Device device) {
  Memory memory;
  torch::nn::Linear net(4, 1);
  net->to(device);
  for (int i = 0; i < 100; ++i) {
    auto s = memory.draw(8);
    auto error = net(torch::rand({8, 4}, device)).squeeze(-1);
    auto loss = (error.square() * s.weight).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:35: warning: 's.weight' is on the CPU
    // CHECK-FIXES: auto loss = (error.square() * s.weight.to(device)).mean();
    auto right = (error.square() * s.weight.to(device)).mean();
  }
}

// One element has no dimensions, and goes with a tensor on any device.
Tensor element(torch::Device device, int64_t at) {
  auto all = torch::ones({64});
  auto where = torch::tensor(at);
  return torch::rand({8}, device) * all.index({where}) *
         all.index({at});
}
