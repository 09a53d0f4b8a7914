// RUN: %check_torch %s torch-autocast-cache %t
//
// Mixed precision on demand: a flag of the program's own, or the device, says
// whether autocast is on.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <memory>
#include <optional>

using torch::Tensor;
using torch::nn::Conv2d;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

void byParameter(const Tensors &xs, bool amp) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, amp);
    // CHECK-MESSAGES: :[[@LINE+5]]:5: warning: autocast keeps a copy of the weights of 'net' (Conv2d)
    // CHECK-MESSAGES: :[[@LINE-2]]:5: note: autocast is switched on here, if the flag says so
    auto out = net->forward(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    out.sum().backward();
    opt.step();
  }
}

struct Trainer {
  explicit Trainer(bool mixed) : mixed_(mixed), opt_(net_->parameters(), 0.1) {}
  Tensor forwardMixed(const Tensor &x) {
    at::autocast::set_autocast_enabled(at::kCPU, mixed_);
    auto out = net_->forward(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    return out;
  }
  void fit(const Tensors &xs) {
    for (const Tensor &x : xs) {
      opt_.zero_grad();
      forwardMixed(x).sum().backward();
      opt_.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: autocast keeps a copy of the weights of
      // CHECK-MESSAGES: :[[@LINE-11]]:5: note: autocast is switched on here, if the flag says so
    }
  }
  Conv2d net_{Conv2d(3, 4, 3)};
  bool mixed_;
  SGD opt_;
};
void use(const Tensors &xs, bool mixed) { Trainer(mixed).fit(xs); }

void onTheDevice(const Tensors &xs, torch::Device device) {
  Conv2d net(3, 4, 3);
  net->to(device);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    if (device.is_cuda())
      at::autocast::set_autocast_enabled(at::kCUDA, true);
    auto out = net->forward(x.to(device));
    if (device.is_cuda())
      at::autocast::set_autocast_enabled(at::kCUDA, false);
    out.sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'net' (Conv2d)
  }
}

// The note names the variable, and not what its constructor does.
struct Scope {
  explicit Scope(at::DeviceType device) : device_(device) {
    at::autocast::set_autocast_enabled(device_, true);
  }
  ~Scope() { at::autocast::set_autocast_enabled(device_, false); }
  at::DeviceType device_;
};
void scoped(const Tensors &xs) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  Scope amp(at::kCPU);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'net' (Conv2d)
    // CHECK-MESSAGES: :[[@LINE-6]]:9: note: autocast is switched on here
  }
}

// What was in force before comes back: off.
class Restoring {
public:
  Restoring() : before_(at::autocast::is_autocast_enabled(at::kCPU)) {
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Restoring() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, before_);
  }

private:
  bool before_;
};
void restored(const Tensors &xs, bool amp) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  {
    Restoring guard;
    std::cout << net->forward(xs.front());
  }
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
  for (const Tensor &x : xs) {
    auto guard = std::make_unique<Restoring>();
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
  for (const Tensor &x : xs) {
    std::optional<Restoring> guard;
    if (amp)
      guard.emplace();
    opt.zero_grad();
    auto out = net->forward(x);
    guard.reset();
    out.sum().backward();
    opt.step();
  }
}

// Emptied if it was on; a flag that is known to be false.
void emptied(const Tensors &xs, bool amp) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, amp);
    auto out = net->forward(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    if (amp)
      at::autocast::clear_cache();
    out.sum().backward();
    opt.step();
  }
  const bool never = false;
  for (const Tensor &x : xs) {
    opt.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, never);
    net->forward(x).sum().backward();
    opt.step();
  }
}
