// RUN: %check_torch %s torch-autocast-boundary %t
//
// Mixed precision on demand: it throws for whoever demands it.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Options {
  bool amp = false;
  torch::Device device = torch::kCPU;
};

struct Autocast {
  Autocast(at::DeviceType type, bool on) : type(type), before(at::autocast::is_autocast_enabled(type)) {
    at::autocast::set_autocast_enabled(type, on);
  }
  ~Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type, before);
  }
  at::DeviceType type;
  bool before;
};

void train(Linear net, torch::optim::Optimizer &opt, const Tensor &x, const Tensor &target, const Options &options) {
  Tensor out;
  {
    Autocast guard(at::kCPU, options.amp);
    out = net(x);
  }
  auto loss = torch::mse_loss(out, target);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'out' was computed under autocast and is in half precision
  // CHECK-FIXES: auto loss = torch::mse_loss(out.to(torch::kFloat), target);
  // CHECK-NOTES: :[[@LINE-3]]:15: warning: 'out' was computed under autocast
  opt.zero_grad();
  loss.backward();
  // CHECK-NOTES: :[[@LINE-1]]:3: note: it throws here
  // CHECK-NOTES: :[[@LINE-10]]:14: note: autocast is switched on here, if the flag says so
  opt.step();
}

// Widened where the flag says so, or in any case.
void widened(Linear net, const Tensor &x, const Tensor &target, bool amp) {
  at::autocast::set_autocast_enabled(at::kCPU, amp);
  auto out = net(x), other = net(x);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  if (amp)
    out = out.to(torch::kFloat);
  torch::mse_loss(out, target).backward();
  torch::mse_loss(other.to(torch::kFloat), target).backward();
  auto third = amp ? other.to(torch::kFloat) : other;
  torch::mse_loss(third, target).backward();
}

// What was in force before is nobody's wish.
void restored(Linear net, const Tensor &x, const Tensor &target) {
  const bool before = at::autocast::is_autocast_enabled(at::kCPU);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::set_autocast_enabled(at::kCPU, before);
  auto out = net(x);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  torch::mse_loss(out, target).backward();
}

int main(int argc, char **) {
  Linear net(4, 2);
  torch::optim::SGD opt(net->parameters(), 0.1);
  Options options;
  options.amp = argc > 1;
  for (int i = 0; i < 10; ++i)
    train(net, opt, torch::rand({8, 4}), torch::rand({8, 2}), options);
    // CHECK-NOTES: :[[@LINE-1]]:5: note: called from here
  widened(net, torch::rand({8, 4}), torch::rand({8, 2}), options.amp);
  restored(net, torch::rand({8, 4}), torch::rand({8, 2}));
}
