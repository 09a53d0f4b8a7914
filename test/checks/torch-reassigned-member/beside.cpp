// RUN: %check_torch %s torch-reassigned-member %t
//
// Something else is registered afterwards: a layer does not mend what a buffer was replaced by.

#include <torch/torch.h>

using torch::Tensor;

struct ScaleImpl : torch::nn::Module {
  ScaleImpl() { mean = register_buffer("mean", torch::zeros({4})); }
  void observe(const Tensor &x) {
    torch::NoGradGuard guard;
    mean = torch::lerp(mean, x.mean(0), 0.01);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: assigning to 'mean' replaces the registered buffer
    // CHECK-FIXES: mean.set_data(torch::lerp(mean, x.mean(0), 0.01));
  }
  Tensor forward(const Tensor &x) { return x - mean; }
  Tensor mean;
};
TORCH_MODULE(Scale);

struct NetImpl : torch::nn::Module {
  NetImpl() {
    scale = register_module("scale", Scale());
    head = register_module("head", torch::nn::Linear(4, 2));
  }
  void restart() {
    auto fresh = torch::nn::Linear(4, 2);
    fresh->to(head->weight.device());
    head = replace_module("head", fresh);
  }
  Tensor forward(const Tensor &x) { return head(scale(x)); }
  Scale scale{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Net);

// The tensor itself is registered, too.
struct ShiftImpl : torch::nn::Module {
  ShiftImpl() { shift = register_buffer("shift", torch::zeros({4})); }
  void set(const Tensor &x, int i) {
    shift = x.mean(0);
    register_buffer("shift" + std::to_string(i), shift);
  }
  Tensor forward(const Tensor &x) { return x - shift; }
  Tensor shift;
};
TORCH_MODULE(Shift);

// As is the layer that takes another's place.
struct PairImpl : torch::nn::Module {
  PairImpl() { first = register_module("first", torch::nn::Linear(4, 4)); }
  void widen(int64_t size) {
    auto wide = torch::nn::Linear(4, size);
    first = wide;
    replace_module("first", wide);
  }
  Tensor forward(const Tensor &x) { return first(x); }
  torch::nn::Linear first{nullptr};
};
TORCH_MODULE(Pair);

int main() {
  Net net;
  Shift shift;
  Pair pair;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int i = 0; i < 100; ++i) {
    auto x = torch::rand({8, 4});
    net->scale->observe(x);
    shift->set(x, i);
    pair->widen(i + 1);
    optimizer.zero_grad();
    (net(shift(x)).mean() + pair(x).mean()).backward();
    optimizer.step();
    if (i % 10 == 0)
      net->restart();
  }
  torch::save(net, "net.pt");
}
