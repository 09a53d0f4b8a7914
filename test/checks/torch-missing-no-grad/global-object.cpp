// A global object is made before main() begins: what its constructor switches
// off records nothing there.
// RUN: %check_torch %s torch-missing-no-grad %t
#include <torch/torch.h>

/// A stencil that nothing trains.
struct Derivative {
  Derivative() {
    along = fixed(torch::tensor({-1.0F, 0.0F, 1.0F}));
  }
  torch::Tensor of(const torch::Tensor &field) { return along->forward(field).squeeze(); }

private:
  static torch::nn::Conv1d fixed(const torch::Tensor &kernel) {
    torch::nn::Conv1d made(torch::nn::Conv1dOptions(1, 1, 3).padding(1).bias(false));
    made->weight = kernel.reshape({1, 1, 3});
    return made;
  }

  torch::nn::Conv1d along = nullptr;
};

struct HeadImpl : torch::nn::Module {
  explicit HeadImpl(int64_t width) : layer(register_module("layer", torch::nn::Linear(width, 1))) {
    for (auto &parameter : parameters())
      parameter.set_requires_grad(false);
  }
  torch::Tensor forward(torch::Tensor x) { return layer(x); }
  torch::nn::Linear layer;
};
TORCH_MODULE(Head);

struct Frozen {
  explicit Frozen(int64_t width) : layer(width, 1) {
    for (auto &parameter : layer->parameters())
      parameter.set_requires_grad(false);
  }
  torch::nn::Linear layer;
};

struct Recorded {
  explicit Recorded(int64_t width) : layer(width, 1) {}
  torch::nn::Linear layer;
};

Derivative derivative{};
static Head head(8);
namespace fields {
Frozen frozen = Frozen(8);
Recorded recorded(8);
} // namespace fields

float total(const torch::Tensor &values) { return values.sum().item<float>(); }

int main() {
  float sum = 0;
  for (int step = 0; step < 1000; ++step) {
    sum += total(derivative.of(torch::rand({1, 1, 64})));
    sum += total(head(torch::rand({4, 8})));
    sum += total(fields::frozen.layer(torch::rand({4, 8})));
    sum += total(fields::recorded.layer(torch::rand({4, 8})));
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'fields::recorded.layer' keeps all intermediate results
  }
  return sum > 0 ? 0 : 1;
}
