// RUN: %check_torch %s torch-autocast-cache %t
//
// What looks like the mistake and is right, or is not known to be wrong.

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <thread>

using torch::Tensor;
using torch::nn::Conv2d;
using torch::nn::Linear;
using torch::optim::SGD;
using Tensors = std::vector<Tensor>;

void turn(bool on) { at::autocast::set_autocast_enabled(at::kCPU, on); }
void learn(Conv2d &net, SGD &opt, const Tensor &x) {
  opt.zero_grad();
  net->forward(x).sum().backward();
  opt.step();
}

// Emptied: behind the step, before the pass, at the end of a guard, on a way
// that a flag decides.
class Autocast {
public:
  explicit Autocast(bool on) {
    at::autocast::set_autocast_enabled(at::kCPU, on);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0)
      at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
};
void emptied(const Tensors &xs, bool amp) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    turn(true);
    learn(net, opt, x);
    at::autocast::clear_cache();
  }
  for (const Tensor &x : xs) {
    at::autocast::clear_cache();
    turn(true);
    learn(net, opt, x);
    turn(false);
  }
  at::autocast::clear_cache();
  for (const Tensor &x : xs) {
    Autocast guard(true);
    learn(net, opt, x);
  }
  for (const Tensor &x : xs) {
    auto guard = std::make_unique<Autocast>(true);
    learn(net, opt, x);
  }
  for (const Tensor &x : xs) {
    std::optional<Autocast> guard;
    if (amp)
      guard.emplace(true);
    learn(net, opt, x);
  }
  for (const Tensor &x : xs) {
    if (amp)
      turn(true);
    learn(net, opt, x);
    if (amp)
      at::autocast::clear_cache();
  }
}

// The passes that train are not under autocast; evaluations that are come once,
// or the cache is emptied behind them.
void notTraining(const Tensors &xs) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  turn(true);
  std::cout << net->forward(xs.front());
  turn(false);
  for (const Tensor &x : xs)
    learn(net, opt, x);
  at::autocast::clear_cache();
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs)
      learn(net, opt, x);
    turn(true);
    std::cout << net->forward(xs.front());
    turn(false);
    at::autocast::clear_cache();
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    if (epoch == 0) {
      turn(true);
      std::cout << net->forward(xs.front());
      turn(false);
    }
    for (const Tensor &x : xs)
      learn(net, opt, x);
  }
}

// Nothing is kept: of a view, of what needs no gradient, of another type, by
// another device, of a network that each iteration makes.
void notKept(const Tensors &xs) {
  turn(true);
  Linear linear(4, 4);
  SGD opt(linear->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    linear->forward(x).sum().backward();
    opt.step();
  }
  Tensor w = torch::randn({4, 4}, torch::requires_grad());
  SGD ofView({w}, 0.1);
  for (const Tensor &x : xs) {
    ofView.zero_grad();
    torch::mm(x, w.t()).sum().backward();
    ofView.step();
  }
  Tensor d = torch::randn({4, 4}, torch::dtype(torch::kDouble).requires_grad(true));
  SGD ofDouble({d}, 0.1);
  for (const Tensor &x : xs) {
    ofDouble.zero_grad();
    torch::mm(x, d).sum().backward();
    ofDouble.step();
  }
  torch::nn::Sequential mixed(Conv2d(3, 8, 3), Linear(8, 2));
  for (auto &p : mixed[0]->parameters())
    p.requires_grad_(false);
  SGD head(mixed[1]->parameters(), 0.1);
  for (const Tensor &x : xs) {
    head.zero_grad();
    mixed->forward(x).sum().backward();
    head.step();
  }
  for (const Tensor &x : xs) {
    Conv2d fresh(3, 4, 3);
    SGD once(fresh->parameters(), 0.1);
    learn(fresh, once, x);
  }
}
void otherDevice(const Tensors &xs) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  for (const Tensor &x : xs)
    learn(net, opt, x);
}
void otherType(const Tensors &xs) {
  Conv2d net(3, 4, 3);
  net->to(torch::kHalf);
  SGD opt(net->parameters(), 0.1);
  turn(true);
  for (const Tensor &x : xs)
    learn(net, opt, x);
}
void recurrent(const Tensors &xs) {
  torch::nn::LSTM net(4, 4);
  net->to(torch::kCUDA);
  SGD opt(net->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    std::get<0>(net->forward(x)).sum().backward();
    opt.step();
  }
}

// Off.
void notOn(const Tensors &xs) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  turn(false);
  for (const Tensor &x : xs)
    learn(net, opt, x);
  turn(true);
  std::thread other([&] {
    for (const Tensor &x : xs)
      learn(net, opt, x);
  });
  other.join();
}

// In another file.
void emptyCaches();
class Region {
public:
  Region();
  ~Region();
};
void afterStep(torch::optim::Optimizer &opt);
void unseen(const Tensors &xs) {
  Conv2d net(3, 4, 3);
  SGD opt(net->parameters(), 0.1);
  turn(true);
  for (const Tensor &x : xs) {
    learn(net, opt, x);
    emptyCaches();
  }
  for (const Tensor &x : xs) {
    Region region;
    turn(true);
    learn(net, opt, x);
  }
  for (const Tensor &x : xs) {
    turn(true);
    learn(net, opt, x);
    afterStep(opt);
  }
}
