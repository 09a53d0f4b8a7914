// RUN: %check_torch %s torch-retained-graph %t
//
// The callers, and with them the loop, lie elsewhere. But all code that can read
// the member is here, and all of it leaves the graph behind: nothing needs it, and
// it is kept until the member is cleared.

#include "Inputs/agents.h"

#include <iostream>

using torch::Tensor;
using torch::nn::Linear;

// ----- a rollout: kept step by step, read as constants -----

class Rollout {
public:
  int64_t act(Tensor state) {
    auto logits = policy->forward(state);
    auto logProb = torch::log_softmax(logits, -1);
    logProbs.push_back(logProb);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'logProb' kept in 'logProbs' keeps what its backward() would need (its autograd graph), though no code that reads it makes use of that; memory grows with each call; store 'logProb.item<float>()' or 'logProb.detach()'
    return logits.argmax(-1).item<int64_t>();
  }

  void update(torch::optim::Adam &opt, Tensor states, Tensor actions,
              Tensor advantages) {
    auto old = torch::stack(logProbs).gather(1, actions);
    auto before = old.detach();
    for (int epoch = 0; epoch < 4; ++epoch) {
      opt.zero_grad();
      auto now = torch::log_softmax(policy->forward(states), -1);
      auto ratio = (now.gather(1, actions) - before).exp();
      (-(ratio * advantages).mean()).backward();
      opt.step();
    }
    logProbs.clear();
  }

private:
  Linear policy{8, 4};
  std::vector<Tensor> logProbs;
};

// A friend fills and reads it, through pointers that a container holds.
std::vector<Agent *> Trainer::agents;

Agent::Agent() = default;

void Trainer::act(unsigned id, Tensor state) {
  Agent *agent = agents[id];
  auto value = agent->policy->forward(state);
  agent->values.push_back(value);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: tensor 'value' kept in 'agent->values' keeps what its backward() would need (its autograd graph), though no code that reads it
}

void Trainer::update(unsigned id) {
  Agent *agent = agents[id];
  auto values = torch::cat(agent->values).detach().to(torch::kCPU);
  std::cout << values << '\n';
  agent->values.clear();
}

// A helper computes it with code that cannot be seen, from a forward pass.
Tensor score(const Tensor &action);

class Scored {
public:
  void act(Tensor state) {
    auto action = policy->forward(state);
    scores.push_back(score(action));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'scores' keeps what its backward() would need (its autograd graph), though no code that reads it
  }
  float mean() const {
    torch::NoGradGuard no_grad;
    return torch::stack(scores).mean().item<float>();
  }

private:
  Linear policy{8, 4};
  std::vector<Tensor> scores;
};

// ----- sums -----

class Meter {
public:
  void step(torch::optim::SGD &opt, Tensor x, Tensor y) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    total = total + loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all calls (their autograd graphs), so memory grows with each; add 'loss.item<float>()' or 'loss.detach()'
    ++steps;
  }
  float mean() const { return total.item<float>() / steps; }

private:
  Linear net{8, 1};
  Tensor total = torch::zeros({});
  int steps = 0;
};

// ----- each element by itself -----

class History {
public:
  void record(Tensor x) {
    outputs.push_back(net->forward(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'outputs' keeps what its backward() would need (its autograd graph), though no code that reads it
  }
  void print() const {
    for (const Tensor &output : outputs)
      std::cout << output.item<float>() << '\n';
  }

private:
  Linear net{8, 1};
  std::vector<Tensor> outputs;
};
