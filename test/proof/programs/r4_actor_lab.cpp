#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

struct PolicyImpl : torch::nn::Module {
  PolicyImpl() {
    in = register_module("in", torch::nn::Linear(6, 32));
    out = register_module("out", torch::nn::Linear(32, 2));
  }
  torch::Tensor forward(const torch::Tensor& s) { return torch::tanh(out(torch::relu(in(s)))); }
  torch::nn::Linear in{nullptr}, out{nullptr};
};
TORCH_MODULE(Policy);

struct ValueImpl : torch::nn::Module {
  ValueImpl() {
    in = register_module("in", torch::nn::Linear(8, 32));
    middle = register_module("middle", torch::nn::Linear(32, 32));
    out = register_module("out", torch::nn::Linear(32, 1));
  }
  torch::Tensor forward(const torch::Tensor& s, const torch::Tensor& a) {
    return out(torch::relu(middle(torch::relu(in(torch::cat({s, a}, 1))))));
  }
  torch::nn::Linear in{nullptr}, middle{nullptr}, out{nullptr};
};
TORCH_MODULE(Value);

struct Pair {
  Policy actor;
  Value critic;
};

torch::Tensor reward(const torch::Tensor& s, const torch::Tensor& a) {
  return 1 - (s.narrow(1, 0, 2) - a).pow(2).sum(1, true);
}

int adam_round(Pair& nets, int rounds) {
  torch::optim::Adam for_actor(nets.actor->parameters(), 1e-3), for_critic(nets.critic->parameters(), 1e-3);
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT adam
    auto s = torch::randn({32, 6});
    auto a = nets.actor->forward(s);
    auto wish = -nets.critic->forward(s, a).mean();
    auto error = torch::mse_loss(nets.critic->forward(s, a.detach()), reward(s, a.detach()));
    for_critic.zero_grad();
    error.backward();
    for_critic.step();
    for_actor.zero_grad();
    try {
      // PLANT true torch-stale-graph/throws loop=adam: the critic has made its step since the wish went through it
      wish.backward();
      for_actor.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

double chosen_round(Pair& nets, const std::string& name, int rounds) {
  std::unique_ptr<torch::optim::Optimizer> for_critic;
  if (name == "adam")
    for_critic = std::make_unique<torch::optim::Adam>(nets.critic->parameters(), 1e-3);
  else
    for_critic = std::make_unique<torch::optim::SGD>(nets.critic->parameters(), 1e-2);
  torch::optim::SGD for_actor(nets.actor->parameters(), 1e-2);
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT chosen
    auto s = torch::randn({32, 6});
    auto a = nets.actor->forward(s);
    auto wish = -nets.critic->forward(s, a).mean();
    for_critic->zero_grad();
    torch::mse_loss(nets.critic->forward(s, a.detach()), reward(s, a.detach())).backward();
    for_critic->step();
    for_actor.zero_grad();
    // PLANT true torch-stale-graph/throws-or-silent loop=chosen: with the optimizer of this run nothing throws, and the slope is that of no critic
    wish.backward();
    for_actor.step();
    last = wish.item<double>();
  }
  return last;
}

template <typename Step>
double with_step(Pair& nets, int rounds, Step between) {
  torch::optim::SGD for_actor(nets.actor->parameters(), 1e-2);
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT between
    auto s = torch::randn({32, 6});
    auto wish = -nets.critic->forward(s, nets.actor->forward(s)).mean();
    between(s);
    for_actor.zero_grad();
    // PLANT true torch-stale-graph/silent loop=between: what is given as the step moves the critic's weights past their versions
    wish.backward();
    for_actor.step();
    last = wish.item<double>();
  }
  return last;
}

int follow(Pair& nets, int rounds) {
  torch::optim::SGD for_actor(nets.actor->parameters(), 1e-2);
  const auto anchor = torch::randn({32, 32}) * 0.1;
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT follow
    auto s = torch::randn({32, 6});
    auto wish = -nets.critic->forward(s, nets.actor->forward(s)).mean();
    for_actor.zero_grad();
    {
      torch::NoGradGuard no_grad;
      nets.critic->middle->weight.lerp_(anchor, 0.01);
    }
    try {
      // PLANT true torch-stale-graph/throws loop=follow: the weights are drawn to the anchor by hand before it
      wish.backward();
      for_actor.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

int traces(int rounds) {
  Policy actor;
  torch::nn::Linear head(32, 32), judge(6, 1);
  torch::optim::Adam for_head(head->parameters(), 1e-3), for_judge(judge->parameters(), 1e-3);
  auto trace = torch::zeros({32, 32});
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT traced
    auto s = torch::randn({32, 6});
    trace = trace.clone();
    auto loss = head(trace).pow(2).mean();
    for_judge.zero_grad();
    judge(s).pow(2).mean().backward();
    for_judge.step();
    trace.mul_(0.9).add_(torch::rand({32, 32}), 0.1);
    for_head.zero_grad();
    try {
      // PLANT innocent torch-stale-graph/throws loop=traced: no weight has changed; the trace, which the head has kept, was written above
      loss.backward();
      for_head.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

int residuals(int rounds) {
  torch::nn::Linear first(6, 16), second(6, 16);
  std::vector<torch::Tensor> all = first->parameters();
  for (const auto& p : second->parameters()) all.push_back(p);
  torch::optim::SGD optimizer(all, 1e-2);
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT residual
    auto s = torch::randn({32, 6});
    auto shift = first(s);
    auto gate = torch::sigmoid(second(s));
    auto mixed = shift + gate;
    // PLANT innocent torch-inplace-saved/operand loop=residual also=residuals: a summand is not saved; the gate is, and is written below
    shift.mul_(0.5);
    auto joined = torch::relu(mixed * 2);
    gate.add_(0.1);
    optimizer.zero_grad();
    try {
      (joined.mean() + shift.mean()).backward();  // AT residuals
      optimizer.step();
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

int twice(int rounds) {
  torch::nn::Linear net(6, 16);
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  int lost = 0;
  for (int r = 0; r < rounds; ++r) {  // AT twice
    auto h = torch::exp(net(torch::randn({32, 6})));
    auto loss = h.mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    // PLANT innocent torch-inplace-saved/result loop=twice also=again: the backward() that needed it is over; the second one throws since the graph is freed
    h.detach().clamp_(0, 10);
    try {
      loss.backward();  // AT again
    } catch (const c10::Error&) {
      ++lost;
    }
  }
  return lost;
}

void descend(const std::vector<torch::Tensor>& parameters, double rate) {
  for (auto p : parameters) p.data().sub_(rate * p.grad());
}

double by_hand(Pair& nets, int rounds) {
  torch::optim::Adam for_actor(nets.actor->parameters(), 1e-3);
  double last = 0;
  for (int r = 0; r < rounds; ++r) {  // AT by_hand
    auto s = torch::randn({32, 6});
    auto a = nets.actor->forward(s);
    nets.critic->zero_grad();
    // PLANT innocent torch-unused-gradients/unused loop=by_hand: descend() applies them, which is no optimizer of LibTorch's
    auto guess = nets.critic->forward(s, a.detach());
    torch::mse_loss(guess, reward(s, a.detach())).backward();
    descend(nets.critic->parameters(), 1e-2);
    for_actor.zero_grad();
    auto policy = nets.actor->forward(s);  // AT acted
    // PLANT innocent torch-unused-gradients/unused loop=by_hand: without its graph the actor would learn nothing
    // PLANT innocent torch-undetached-generator-output/in-vain loop=by_hand built=acted: the step behind it is the actor's
    auto praise = nets.critic->forward(s, policy);
    (-praise.mean()).backward();
    for_actor.step();
    last = praise.mean().item<double>();
  }
  return last;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(5);
  Pair nets;
  std::printf("adam %d\n", adam_round(nets, 100));
  std::printf("chosen %.4f\n", chosen_round(nets, "sgd", 100));
  torch::optim::SGD momentum(nets.critic->parameters(), torch::optim::SGDOptions(1e-2).momentum(0.9));
  std::printf("between %.4f\n", with_step(nets, 100, [&](const torch::Tensor& s) {
                momentum.zero_grad();
                auto a = torch::rand({32, 2});
                torch::mse_loss(nets.critic->forward(s, a), reward(s, a)).backward();
                momentum.step();
              }));
  std::printf("follow %d\n", follow(nets, 100));
  std::printf("traces %d\n", traces(100));
  std::printf("residuals %d twice %d\n", residuals(100), twice(100));
  std::printf("by hand %.4f\n", by_hand(nets, 100));
  return 0;
}
