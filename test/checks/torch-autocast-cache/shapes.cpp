// RUN: %check_torch %s torch-autocast-cache %t -still-warns
//
// The mistake in its shapes, and what the fix writes: nothing for an update by
// hand, which stays.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Conv1d;
using torch::nn::Conv2d;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    conv = register_module("conv", Conv2d(3, 8, 3));
    head = register_module("head", Linear(8, 2));
  }
  Tensor forward(Tensor x) {
    return head(torch::relu(conv(x)).mean({2, 3}));
  }
  Conv2d conv{nullptr};
  Linear head{nullptr};
};
TORCH_MODULE(Net);

void plain(const Tensors &xs, const Tensor &y) {
  Net net;
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    Tensor loss = torch::cross_entropy_loss(net(x), y);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'net.conv' (Conv2d), and nothing empties its cache between this step() and the next pass, which computes with the values of before; call 'at::autocast::clear_cache()' behind it [torch-autocast-cache]
    // CHECK-FIXES: {{^}}    opt.step();
    // CHECK-FIXES-NEXT: {{^}}    at::autocast::clear_cache();
  }
}

// On all the time, by the older name.
void always(const Tensors &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  net->to(torch::kCUDA);
  at::autocast::set_enabled(true);
  for (int epoch = 0; epoch < 9; ++epoch)
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: autocast keeps a copy of the weights of 'net.conv' (Conv2d)
    }
}

// A class that switches it back, and does not empty the cache.
class Autocast {
public:
  Autocast() : was(at::autocast::is_autocast_enabled(at::kCPU)) {
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Autocast() { at::autocast::set_autocast_enabled(at::kCPU, was); }

private:
  bool was;
};
struct Trainer {
  explicit Trainer(Net net) : net(net), opt(net->parameters(), 0.1) {}
  void fit(const Tensors &xs) {
    for (const Tensor &x : xs)
      update(lossOf(x));
  }
  Tensor lossOf(const Tensor &x) {
    Autocast guard;
    return net->forward(x).sum();
  }
  void update(const Tensor &loss) {
    opt.zero_grad();
    loss.backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'net.conv' (Conv2d)
  }
  Net net;
  SGD opt;
};
void useTrainer(const Tensors &xs) {
  Trainer trainer{Net()};
  trainer.fit(xs);
}

// In a function and a lambda, with a flag, and every fourth batch.
template <class Module>
void everyFourth(Module &net, const Tensors &xs, bool amp) {
  SGD opt(net->parameters(), 0.1);
  const auto pass = [&](const Tensor &x) {
    if (amp)
      at::autocast::set_autocast_enabled(at::kCPU, true);
    Tensor out = net->forward(x);
    if (amp)
      at::autocast::set_autocast_enabled(at::kCPU, false);
    return out;
  };
  int i = 0;
  for (const Tensor &x : xs) {
    pass(x).sum().backward();
    if (++i % 4 == 0) {
      opt.step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: autocast keeps a copy of the weights of 'net' (Conv1d)
      opt.zero_grad();
    }
  }
}
void useEveryFourth(const Tensors &xs, bool amp) {
  Conv1d net(torch::nn::Conv1dOptions(3, 4, 3));
  everyFourth(net, xs, amp);
}

// A weight of its own, updated by hand.
void byHand(const Tensors &xs) {
  Tensor w = torch::randn({4, 4}, torch::requires_grad());
  at::autocast::set_autocast_enabled(at::kCPU, true);
  for (const Tensor &x : xs) {
    torch::matmul(x, w).sum().backward();
    torch::NoGradGuard guard;
    w -= 0.1 * w.grad();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of 'w', and nothing empties its cache between this update and the next pass
    w.mutable_grad().zero_();
  }
}
struct Own : torch::nn::Module {
  Tensor weight = register_parameter("weight", torch::randn({8, 3, 3, 3}));
  Tensor forward(const Tensor &x) { return torch::conv2d(x, weight); }
};
void ofAModule(const Tensors &xs) {
  auto net = std::make_shared<Own>();
  SGD opt(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of 'weight'
  }
}

// Layers that nothing names; recurrent ones on the CPU.
void layers(const Tensors &xs) {
  torch::nn::Sequential net(Conv2d(3, 8, 3), torch::nn::ReLU(),
                            torch::nn::Flatten(), Linear(8, 2));
  SGD opt(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of a Conv2d
  }
  torch::nn::GRU gru(4, 4);
  SGD other(gru->parameters(), 0.1);
  for (const Tensor &x : xs) {
    other.zero_grad();
    std::get<0>(gru->forward(x)).sum().backward();
    other.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'gru' (GRU)
  }
}

// A class that empties the cache at its end, which is the end of all steps. It
// puts the type of before back.
class Mixed {
public:
  explicit Mixed(torch::DeviceType of)
      : of_(of), was_(at::autocast::is_autocast_enabled(of)),
        type_(at::autocast::get_autocast_dtype(of)) {
    at::autocast::set_autocast_dtype(of_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(of_, true);
    at::autocast::increment_nesting();
  }
  ~Mixed() {
    if (at::autocast::decrement_nesting() == 0)
      at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(of_, was_);
    at::autocast::set_autocast_dtype(of_, type_);
  }

private:
  torch::DeviceType of_;
  bool was_;
  torch::ScalarType type_;
};
void aroundTheLoop(const Tensors &xs, torch::Device device) {
  Net net;
  net->to(device);
  SGD opt(net->parameters(), 0.1);
  Mixed mixed(device.type());
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: autocast keeps a copy of the weights of 'net.conv' (Conv2d)
  }
}
void aroundThePass(const Tensors &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch)
    for (const Tensor &x : xs) {
      Tensor loss;
      {
        Mixed mixed(torch::kCPU);
        loss = net->forward(x).sum();
      }
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  for (const Tensor &x : xs) {
    Mixed mixed(torch::kCPU);
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
  std::unique_ptr<Mixed> mixed;
  for (const Tensor &x : xs) {
    mixed.reset();
    mixed = std::make_unique<Mixed>(torch::kCPU);
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}
