// RUN: %check_torch %s torch-stale-graph %t
//
// A graph that a flag cuts off, or leaves on: where it is left on, backward() comes to the weights.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
namespace nn = torch::nn;

struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(4, 8));
    second = register_module("second", nn::Linear(8, 1));
  }
  Tensor forward(const Tensor &x) { return second(torch::relu(first(x))); }
  nn::Linear first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

struct Options {
  bool through = false;
  bool warm = false;
};

class Agent {
public:
  explicit Agent(Options options)
      : options(options), actorAdam(actor->parameters(), 0.01), criticAdam(critic->parameters(), 0.01) {}

  void improve(const Tensor &state, const Tensor &reward) {
    auto value = critic(state).squeeze(1);
    auto valueLoss = torch::mse_loss(value, reward);
    auto gain = reward - value;
    if (!options.through)
      gain = gain.detach();
    criticAdam.zero_grad();
    valueLoss.backward({}, options.through);
    criticAdam.step();
    auto loss = -(actor(state).squeeze(1) * gain).mean();
    actorAdam.zero_grad();
    loss.backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this backward() needs the weights that the forward pass had, and they have changed since: it throws; call it before the weights change, or run the forward pass again
    // CHECK-MESSAGES: :[[@LINE-5]]:16: note: they are changed here
    actorAdam.step();
  }

  // Cut off on both ways, or gone through in time.
  void right(const Tensor &state, const Tensor &reward) {
    auto value = critic(state).squeeze(1);
    auto gain = reward - value;
    if (options.through)
      gain = gain.detach() * 0.5;
    else
      gain = gain.detach();
    auto other = critic(-state).squeeze(1) - reward;
    if (!options.warm)
      other = other.detach();
    auto loss = (gain * other).mean() + (actor(state).squeeze(1) * other).mean();
    loss.backward();
    criticAdam.step();
    auto next = (actor(state).squeeze(1) * gain).mean();
    next.backward();
    actorAdam.step();
  }

  // Where there is nothing yet, there is nothing to detach.
  void carried(const std::vector<Tensor> &states) {
    Tensor last;
    for (const Tensor &state : states) {
      if (last.defined())
        last = last.detach();
      auto value = critic(state);
      if (last.defined())
        value = value + last;
      criticAdam.zero_grad();
      value.mean().backward();
      criticAdam.step();
      last = value;
    }
  }

private:
  Options options;
  Net actor, critic;
  torch::optim::Adam actorAdam, criticAdam;
};

int main(int argc, char **) {
  Options options;
  options.through = argc > 1;
  options.warm = argc > 2;
  Agent agent(options);
  for (int i = 0; i < 10; ++i) {
    agent.improve(torch::rand({8, 4}), torch::rand({8}));
    agent.right(torch::rand({8, 4}), torch::rand({8}));
    agent.carried({torch::rand({8, 4})});
  }
}
