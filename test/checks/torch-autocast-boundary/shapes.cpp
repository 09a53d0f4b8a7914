// RUN: %check_torch %s torch-autocast-boundary %t
//
// The mistake in its shapes, and what the fix writes.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Conv2d;
using torch::nn::Linear;
using torch::optim::SGD;

void turn(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }

void loss(const Tensor &x, const Tensor &target) {
  Linear net(4, 2);
  turn(true);
  auto out = net(x);
  turn(false);
  auto loss = torch::mse_loss(out, target);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'out' was computed under autocast and is in half precision; backward() of this loss, outside of it, finds a target in float beside it and throws; convert it by 'to(torch::kFloat)' [torch-autocast-boundary]
  // CHECK-FIXES: auto loss = torch::mse_loss(out.to(torch::kFloat), target);
  loss.backward();
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    conv = register_module("conv", Conv2d(3, 8, 3));
    head = register_module("head", Linear(8, 1));
  }
  Tensor forward(Tensor x) {
    x = torch::relu(conv(x));
    return torch::sigmoid(head(x.flatten(1)));
  }
  Conv2d conv{nullptr};
  Linear head{nullptr};
};
TORCH_MODULE(Net);

// A class that switches it back; a loss that throws itself; a criterion.
class Autocast {
public:
  Autocast() : was(at::autocast::is_autocast_enabled(at::kCUDA)) {
    at::autocast::set_autocast_enabled(at::kCUDA, true);
  }
  ~Autocast() { at::autocast::set_autocast_enabled(at::kCUDA, was); }

private:
  bool was;
};
struct Trainer {
  Net net;
  torch::nn::BCELoss criterion;
  Tensor predict(const Tensor &x) {
    Autocast region;
    return net->forward(x);
  }
  void step(const Tensor &x, const Tensor &target) {
    Tensor out = predict(x);
    criterion(out, target).backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'out' was computed under autocast and is in half precision; this loss, outside of it, takes no target in float beside it and throws
    // CHECK-FIXES: criterion(out.to(torch::kFloat), target).backward();
  }
};
int main() {
  Trainer trainer;
  trainer.net->to(torch::kCUDA);
  trainer.step(torch::rand({2, 3, 3, 3}), torch::rand({2, 1}));
}

// Another layer, and a product.
template <class Head> Tensor behind(Head &head, const Tensor &x) {
  Linear body(4, 4);
  turn(true);
  Tensor features = torch::relu(body(x));
  turn(false);
  return head(features * 2);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: what is given here was computed under autocast and is in half precision; this layer, outside of it, has its weights in float and throws
  // CHECK-FIXES: return head((features * 2).to(torch::kFloat));
}
void useBehind(const Tensor &x) {
  Linear head(4, 2);
  behind(head, x);
}
Tensor product(const Tensor &x, const Tensor &y) {
  const auto project = [&] {
    turn(true);
    Tensor result = torch::mm(x, y);
    turn(false);
    return result;
  };
  return project().mm(torch::randn({4, 4}));
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: what is given here was computed under autocast and is in half precision; this operation, outside of it, takes no tensor in float beside it and throws
  // CHECK-FIXES: return project().to(torch::kFloat).mm(torch::randn({4, 4}));
}
