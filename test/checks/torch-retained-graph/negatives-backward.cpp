// RUN: %check_torch %s torch-retained-graph %t
//
// The graphs are wanted: they are backwarded together and then released.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// Loss terms are summed inside the iteration and backwarded there.
void sumInIteration(Linear net, torch::optim::SGD &opt,
                    const std::vector<Tensor> &xs, Tensor y) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    opt.zero_grad();
    Tensor total = torch::zeros({});
    for (const auto &x : xs) {
      auto loss = torch::mse_loss(net->forward(x), y);
      total += loss;
    }
    total.backward();
    opt.step();
  }
}

// The sum is declared outside, but re-made in each iteration.
void sumDeclaredOutside(Linear net, torch::optim::SGD &opt,
                        const std::vector<Tensor> &xs, Tensor y) {
  Tensor total;
  for (int epoch = 0; epoch < 10; ++epoch) {
    opt.zero_grad();
    total = torch::zeros({});
    for (const auto &x : xs)
      total = total + torch::mse_loss(net->forward(x), y);
    total.backward();
    opt.step();
  }
}

// Accumulation: every fourth batch the sum is backwarded and re-made.
void accumulation(Linear net, torch::optim::SGD &opt,
                  const std::vector<Tensor> &xs, Tensor y) {
  Tensor sum = torch::zeros({});
  for (size_t i = 0; i < xs.size(); ++i) {
    auto loss = torch::mse_loss(net->forward(xs[i]), y);
    sum = sum + loss;
    if ((i + 1) % 4 == 0) {
      opt.zero_grad();
      sum.backward();
      opt.step();
      sum = torch::zeros({});
    }
  }
}

void stackAndBackward(Linear net, torch::optim::SGD &opt,
                      const std::vector<Tensor> &xs, Tensor y) {
  std::vector<Tensor> losses;
  for (const auto &x : xs)
    losses.push_back(torch::mse_loss(net->forward(x), y));
  opt.zero_grad();
  torch::stack(losses).mean().backward();
  opt.step();
}

// The values of an episode, backwarded together and cleared.
void episodes(Linear policy, torch::optim::Adam &opt, Tensor state) {
  std::vector<Tensor> logProbs, values;
  std::vector<float> rewards;
  for (int episode = 0; episode < 100; ++episode) {
    for (int step = 0; step < 200; ++step) {
      auto out = policy->forward(state);
      auto logProb = torch::log_softmax(out, -1).max();
      logProbs.push_back(logProb);
      values.push_back(out.mean());
      rewards.push_back(1.0f);
    }
    auto returns = torch::tensor(rewards);
    auto advantage = returns - torch::stack(values);
    auto loss = -(torch::stack(logProbs) * advantage.detach()).sum() +
                advantage.pow(2).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
    logProbs.clear();
    values.clear();
    rewards.clear();
  }
}

// The same over the methods of an agent.
class Agent {
public:
  int64_t act(Tensor state) {
    auto out = torch::log_softmax(policy->forward(state), -1);
    auto action = out.argmax(-1);
    saved.push_back(out.max());
    return action.item<int64_t>();
  }
  void finishEpisode() {
    auto loss = -torch::stack(saved).sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
    saved.clear();
  }

private:
  Linear policy{8, 2};
  torch::optim::Adam opt{policy->parameters()};
  std::vector<Tensor> saved;
};

void play(Agent &agent, Tensor state) {
  for (int episode = 0; episode < 100; ++episode) {
    for (int step = 0; step < 200; ++step)
      std::cout << agent.act(state) << '\n';
    agent.finishEpisode();
  }
}

// The loss terms are summed by a helper, which the caller backwards.
static Tensor sumOfLosses(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  std::vector<Tensor> terms;
  Tensor total = torch::zeros({});
  for (const auto &x : xs) {
    terms.push_back(torch::mse_loss(net->forward(x), y));
    total += terms.back();
  }
  return total;
}

void helperSums(Linear net, torch::optim::SGD &opt,
                const std::vector<Tensor> &xs, Tensor y) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    opt.zero_grad();
    auto loss = sumOfLosses(net, xs, y);
    loss.backward();
    opt.step();
  }
}

// Several roots at once.
void manyRoots(Linear net, torch::optim::SGD &opt,
               const std::vector<Tensor> &xs) {
  std::vector<Tensor> roots;
  for (const auto &x : xs)
    roots.push_back(net->forward(x).sum());
  torch::autograd::backward(roots, {});
  opt.step();
}
