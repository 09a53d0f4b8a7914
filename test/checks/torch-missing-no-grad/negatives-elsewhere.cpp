// RUN: %check_torch %s torch-missing-no-grad %t -still-warns
//
// Networks whose forward() lies in another file.

#include <torch/torch.h>

#include <memory>
#include <tuple>
#include <vector>

using torch::Tensor;

// The pass is run for the distribution that it leaves in the policy.
struct Distribution : torch::nn::Module {
  Tensor log_prob(const Tensor &action) const;
  Tensor entropy() const;
};

struct Policy : torch::nn::Module {
  Policy();
  const Tensor forward(const Tensor &observation);
  Tensor log_prob(const Tensor &action) const { return distribution->log_prob(action); }
  Tensor entropy() const { return distribution->entropy(); }
  std::shared_ptr<Distribution> distribution;
  torch::nn::Sequential body;
};

struct ActorCritic : torch::nn::Module {
  ActorCritic();
  const Tensor forward(const Tensor &observation) { return actor->forward(observation); }
  Tensor log_prob(const Tensor &action) const { return actor->log_prob(action).sum(-1); }
  Tensor entropy() const { return actor->entropy(); }
  std::shared_ptr<Policy> actor;
};

class Learner {
public:
  Learner()
      : both(std::make_unique<ActorCritic>()),
        adam(std::make_unique<torch::optim::Adam>(both->parameters(), 1e-3)) {}

  void improve(const std::vector<Tensor> &observations, const Tensor &action) {
    for (const Tensor &observation : observations) {
      both->forward(observation);
      Tensor loss = -both->log_prob(action).mean() - both->entropy().mean();
      adam->zero_grad();
      loss.backward();
      adam->step();
    }
  }
  void watch(Tensor &action, const Tensor &observation) {
    action.copy_(both->forward(observation).detach());
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'both' keeps all intermediate results
  }

private:
  std::unique_ptr<ActorCritic> both;
  std::unique_ptr<torch::optim::Adam> adam;
};

// It returns the slope of what it has computed: a guard would end that.
struct PotentialImpl : torch::nn::Module {
  PotentialImpl();
  std::tuple<Tensor, Tensor> forward(const Tensor &positions);
  torch::nn::Sequential body;
};
TORCH_MODULE(Potential);

double fit(const std::vector<Tensor> &frames, const Tensor &target) {
  Potential potential;
  torch::optim::Adam adam(potential->parameters(), 1e-3);
  for (const Tensor &frame : frames) {
    auto [energy, forces] = potential->forward(frame);
    auto loss = torch::mse_loss(forces, target);
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  potential->eval();
  double sum = 0;
  for (const Tensor &frame : frames) {
    auto [energy, forces] = potential->forward(frame);
    sum += torch::mse_loss(forces, target).item<double>();
  }
  return sum;
}

// Nothing here speaks for a derivative.
double score(const std::vector<Tensor> &frames, const Tensor &target) {
  Potential potential;
  torch::optim::Adam adam(potential->parameters(), 1e-3);
  potential->eval();
  double sum = 0;
  for (const Tensor &frame : frames) {
    auto [first, second] = potential->forward(frame);
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: forward pass of 'potential' keeps all intermediate results
    sum += torch::mse_loss(second, target).item<double>();
  }
  return sum;
}
