// Double DQN with a ring of preallocated tensors as replay memory.
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <random>

namespace rl {

class ValueNetImpl : public torch::nn::Module {
  torch::nn::Linear trunk_, value_, advantage_;

 public:
  ValueNetImpl(int64_t in, int64_t out) : trunk_(in, 64), value_(64, 1), advantage_(64, out) {
    register_module("trunk", trunk_);
    register_module("value", value_);
    register_module("advantage", advantage_);
  }

  torch::Tensor forward(const torch::Tensor& s) {
    auto h = torch::relu(trunk_->forward(s));
    auto a = advantage_->forward(h);
    return value_->forward(h) + a - a.mean(1, true);
  }
};
TORCH_MODULE(ValueNet);

class Replay {
 public:
  Replay(int64_t capacity, int64_t dim)
      : capacity_(capacity),
        s_(torch::zeros({capacity, dim})),
        n_(torch::zeros({capacity, dim})),
        a_(torch::zeros({capacity}, torch::kLong)),
        r_(torch::zeros({capacity})),
        alive_(torch::ones({capacity})) {}

  void add(const torch::Tensor& s, int64_t a, float r, const torch::Tensor& n, bool done) {
    const auto i = at_++ % capacity_;
    s_[i] = s;  // RIGHT: torch-parameter-copy (writes into the row)
    n_[i].copy_(n);
    a_[i] = a;
    r_[i] = r;
    alive_[i] = done ? 0.f : 1.f;
  }

  struct Batch { torch::Tensor s, a, r, n, alive; };

  Batch sample(int64_t k, torch::Device device) const {
    auto i = torch::randint(size(), {k}, torch::kLong);
    auto take = [&](const torch::Tensor& t) { return t.index_select(0, i).to(device); };  // RIGHT: torch-repeated-transfer (another selection each time)
    return {take(s_), take(a_), take(r_), take(n_), take(alive_)};
  }

  int64_t size() const { return std::min(at_, capacity_); }

 private:
  int64_t capacity_, at_ = 0;
  torch::Tensor s_, n_, a_, r_, alive_;
};

void copy_parameters(ValueNet& to, ValueNet& from) {
  torch::NoGradGuard no_grad;
  auto source = from->named_parameters();
  for (auto& p : to->named_parameters())
    p.value().copy_(source[p.key()]);  // RIGHT: torch-parameter-copy (in place)
}

}  // namespace rl

int main() {
  torch::manual_seed(19);
  std::mt19937 gen(19);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  rl::ValueNet online(4, 3), target(4, 3);
  online->to(device);
  target->to(device);
  rl::copy_parameters(target, online);
  torch::optim::Adam opt(online->parameters(), torch::optim::AdamOptions(1e-3));
  rl::Replay replay(1000, 4);

  auto state = torch::randn({4});
  double loss_sum = 0;
  int64_t learned = 0;
  for (int64_t t = 0; t < 800; ++t) {
    int64_t action;
    if (std::uniform_real_distribution<>(0, 1)(gen) < 0.2) {
      action = static_cast<int64_t>(gen() % 3);
    } else {
      torch::NoGradGuard no_grad;
      action = online->forward(state.unsqueeze(0).to(device)).argmax(1).item<int64_t>();
    }
    auto next = 0.9 * state;
    next[action] += 0.3;  // RIGHT: torch-leaf-inplace (no gradient is required)
    const bool done = next.norm().item<float>() > 2.5f;
    replay.add(state, action, -next.slice(0, 0, 2).abs().sum().item<float>(), next, done);
    state = done ? torch::randn({4}) : next;
    if (replay.size() < 100) continue;

    auto b = replay.sample(32, device);
    torch::Tensor goal;
    {
      torch::NoGradGuard no_grad;
      auto choice = online->forward(b.n).argmax(1, true);
      goal = b.r + 0.95 * b.alive * target->forward(b.n).gather(1, choice).squeeze(1);
    }
    auto q = online->forward(b.s).gather(1, b.a.unsqueeze(1)).squeeze(1);
    auto loss = torch::nn::functional::huber_loss(q, goal);
    opt.zero_grad();
    loss.backward();
    opt.step();  // RIGHT: torch-missing-zero-grad (the 'continue' above jumps over backward and step alike)
    loss_sum += loss.item<double>();
    if (++learned % 50 == 0) rl::copy_parameters(target, online);
  }
  std::cout << learned << " updates, mean loss " << loss_sum / learned << std::endl;
}
