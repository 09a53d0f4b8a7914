// RUN: %check_torch %s torch-missing-no-grad %t
//
// A network that was loaded, and that some method sets to train(): who calls that trains it through this pass.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

// A wrapper of a library: its callers train, and its callers predict.
class Wrapper {
public:
  explicit Wrapper(const std::string &path) : model(torch::jit::load(path)) {}
  void train() { model.train(); }
  void eval() { model.eval(); }
  Tensor forward(const Tensor &x) { return model.forward({x}).toTensor(); }
  double score(const Tensor &x) { return model.forward({x}).toTensor().sum().item<double>(); }

private:
  torch::jit::Module model;
};

// It is switched off only.
class Scorer {
public:
  explicit Scorer(const std::string &path) : model(torch::jit::load(path)) { model.train(false); }
  Tensor forward(const Tensor &x) {
    return model.forward({x}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'model' keeps all intermediate results
  }

private:
  torch::jit::Module model;
};

struct Policy : torch::nn::Module {
  Policy() : fc(register_module("fc", torch::nn::Linear(4, 4))) {}
  Tensor forward(const Tensor &x) { return fc(x); }
  torch::nn::Linear fc;
};

// Training goes on from a checkpoint: what act() keeps with its graph another method goes backward through.
class Agent {
public:
  explicit Agent(const std::string &path);
  int64_t act(const Tensor &state);
  void learn();

private:
  std::shared_ptr<Policy> policy;
  std::unique_ptr<torch::optim::Adam> optimizer;
  std::vector<Tensor> chances;
};
Agent::Agent(const std::string &path) : policy(std::make_shared<Policy>()), chances(1000) {
  torch::load(policy, path);
  optimizer = std::make_unique<torch::optim::Adam>(policy->parameters(), 1e-3);
}
int64_t Agent::act(const Tensor &state) {
  const Tensor chance = policy->forward(state).log_softmax(0);
  const auto chosen = chance.argmax().item<int64_t>();
  chances[chosen] = chance;
  return chosen;
}
void Agent::learn() {
  Tensor loss = -torch::stack(chances).mean();
  optimizer->zero_grad();
  loss.backward();
  optimizer->step();
}

// No optimizer gets it.
class Player {
public:
  explicit Player(const std::string &path);
  int64_t act(const Tensor &state);

private:
  std::shared_ptr<Policy> policy;
  std::vector<Tensor> chances;
};
Player::Player(const std::string &path) : policy(std::make_shared<Policy>()), chances(1000) {
  torch::load(policy, path);
}
int64_t Player::act(const Tensor &state) {
  const Tensor chance = policy->forward(state).log_softmax(0);
  // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: forward pass of 'policy' keeps all intermediate results
  const auto chosen = chance.argmax().item<int64_t>();
  chances[chosen] = chance;
  return chosen;
}
