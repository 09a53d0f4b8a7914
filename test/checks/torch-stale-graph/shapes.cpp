// RUN: %check_torch %s torch-stale-graph %t
//
// Weights change between the forward pass and a backward() through it.

#include <torch/torch.h>

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

static void actorCritic(const Tensor &states) {
  Net actor, critic;
  torch::optim::Adam actorAdam(actor->parameters(), 0.01);
  torch::optim::Adam criticAdam(critic->parameters(), 0.01);
  auto values = critic(states);
  auto criticLoss = torch::mse_loss(values, torch::ones_like(values));
  auto actorLoss = -critic(actor(states).expand({-1, 4})).mean();
  criticLoss.backward();
  criticAdam.step();
  actorLoss.backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this backward() needs the weights that the forward pass had, and they have changed since: it throws; call it before the weights change, or run the forward pass again [torch-stale-graph]
  actorAdam.step();
}

static void kept(const Tensor &x) {
  Net net;
  torch::optim::SGD sgd(net->parameters(), 0.01);
  auto y = net(x);
  y.sum().backward({}, /*retain_graph=*/true);
  sgd.step();
  y.mean().backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this backward() needs the weights that the forward pass had, and they have changed since: it computes wrong gradients with the new ones, and nothing throws;
}

// Losses of several batches, and a step for each of them.
static void gathered(const std::vector<Tensor> &batches) {
  nn::Sequential net(nn::Conv2d(1, 4, 3), nn::ReLU(), nn::Conv2d(4, 1, 3));
  torch::optim::RMSprop rmsprop(net->parameters());
  Tensor total = torch::zeros({1});
  for (const Tensor &batch : batches) {
    auto loss = net->forward(batch).mean();
    total = total + net->forward(-batch).mean();
    loss.backward();
    rmsprop.step();
  }
  total.backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this backward() needs the weights that the forward pass had
}

// A descent written by hand.
static void byHand(const Tensor &x) {
  auto w = torch::randn({4, 4}, torch::requires_grad());
  auto v = torch::randn({4, 4}, torch::requires_grad());
  auto first = x.mm(w).mm(v).sum();
  auto second = x.mm(v).mm(w).mean();
  first.backward();
  {
    torch::NoGradGuard no_grad;
    w -= 0.1 * w.grad();
  }
  second.backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: this backward() needs the weights that the forward pass had
}

// In members, across helpers, through a lambda.
class Trainer {
public:
  void step(const Tensor &loss, torch::optim::Optimizer &optimizer) {
    loss.backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: this backward() needs the weights that the forward pass had
    optimizer.step();
  }
  void run(const Tensor &x) {
    auto a = net(x).sum(), b = net(-x).mean();
    auto go = [&](const Tensor &loss) { step(loss, adam); };
    go(a);
    go(b);
  }

private:
  Net net;
  torch::optim::Adam adam{net->parameters(), 0.01};
};

int main() {
  const auto x = torch::randn({4, 4});
  actorCritic(x);
  kept(x);
  gathered({torch::randn({1, 1, 8, 8})});
  byHand(x);
  Trainer().run(x);
}
