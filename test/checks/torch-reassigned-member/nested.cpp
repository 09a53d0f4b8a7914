// RUN: %check_torch %s torch-reassigned-member %t
//
// What a helper of forward() replaces in a module behind a holder, which lies
// in another module.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;

struct CenterImpl : torch::nn::Module {
  CenterImpl() { mean = register_buffer("mean", torch::zeros({8})); }
  Tensor forward(const Tensor &x) {
    update(x);
    return x - mean;
  }
  Tensor mean;

private:
  void update(const Tensor &x) {
    mean = 0.9 * mean + 0.1 * x.mean(0);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'mean' replaces the registered buffer
  }
};
TORCH_MODULE(Center);

struct NetImpl : torch::nn::Module {
  NetImpl() {
    center = register_module("center", Center());
    fc = register_module("fc", torch::nn::Linear(8, 8));
  }
  Tensor forward(const Tensor &x) { return fc(center(x)); }
  Center center{nullptr};
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

struct QueueImpl : torch::nn::Module {
  QueueImpl() { keys = register_buffer("keys", torch::zeros({4, 8})); }
  Tensor keys;
};
TORCH_MODULE(Queue);

struct ContrastImpl : torch::nn::Module {
  ContrastImpl() : encoder(register_module("encoder", Net())) {
    queue = register_module("queue", Queue());
    last = register_module("last", Queue());
    for (int i = 0; i < 2; ++i)
      all.push_back(register_module("queue" + std::to_string(i), Queue()));
  }
  Tensor forward(const Tensor &x) {
    Tensor y = encoder->forward(x);
    push(y);
    pushInto(last, y);
    for (auto &each : all)
      each->keys.set_data(y);
    return y.mm(queue->keys.t());
  }
  void push(const Tensor &y) {
    torch::NoGradGuard no_grad;
    queue->keys = torch::cat({queue->keys.slice(0, y.size(0)), y});
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'queue->keys' replaces the registered buffer
  }
  static void pushInto(Queue &into, const Tensor &y) {
    into->keys = into->keys * 0.5 + y.detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'into->keys' replaces the registered buffer
  }
  Net encoder;
  Queue queue{nullptr}, last{nullptr};
  std::vector<Queue> all;
};
TORCH_MODULE(Contrast);

double train(int steps) {
  Contrast model;
  double sum = 0;
  for (int i = 0; i < steps; ++i)
    sum += model->forward(torch::rand({2, 8})).sum().item<double>();
  return sum;
}

// ----- quiet -----

// In place, or registered anew.
struct StepsImpl : torch::nn::Module {
  StepsImpl() { count = register_buffer("count", torch::zeros({1})); }
  void step() { count.add_(1); }
  void reset() { count.set_data(torch::zeros({1})); }
  Tensor count;
};
TORCH_MODULE(Steps);
struct CountingImpl : torch::nn::Module {
  CountingImpl() { steps = register_module("steps", Steps()); }
  Tensor forward(const Tensor &x) {
    advance();
    return x * steps->count;
  }
  void advance() {
    steps->step();
    if (steps->count.item<float>() > 3)
      steps->reset();
  }
  Steps steps{nullptr};
};
TORCH_MODULE(Counting);
Tensor counted(const Tensor &x) { return Counting()->forward(x); }
