// RUN: %check_torch %s torch-missing-no-grad %t
//
// A network does not know what it is run for: the guard belongs to who runs it, not into one of
// its methods.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct AgentImpl : torch::nn::Module {
  AgentImpl() { actor = register_module("actor", Linear(4, 2)); }
  int64_t act(const Tensor &x) { return actor->forward(x).argmax().item<int64_t>(); }
  Linear actor{nullptr};
};
TORCH_MODULE(Agent);
int64_t play() {
  Agent agent;
  torch::load(agent, "agent.pt");
  int64_t sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += agent->act(torch::rand({1, 4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'actor' keeps all intermediate results {{.*}} 'torch::NoGradGuard no_grad;' before it
    // CHECK-MESSAGES: :[[@LINE-11]]:41: note: the graph is built here
    // CHECK-FIXES: torch::NoGradGuard no_grad;
  return sum;
}

// Layers of any kind, one after the other: one finding, and no sum that grows.
struct Flow : torch::nn::Module {
  virtual std::tuple<Tensor, Tensor> forward(const Tensor &z) = 0;
};
struct Shift : Flow {
  Shift() { by = register_parameter("by", torch::zeros({3})); }
  std::tuple<Tensor, Tensor> forward(const Tensor &z) override { return {z + by, (z * by).sum(1)}; }
  Tensor by;
};
struct SamplerImpl : torch::nn::Module {
  SamplerImpl() {
    for (int i = 0; i < 2; ++i)
      flows.push_back(register_module("flow" + std::to_string(i), std::make_shared<Shift>()));
  }
  std::tuple<Tensor, Tensor> sample(const Tensor &from) {
    Tensor z = from * 2, likely = z.sum(1);
    for (auto &flow : flows) {
      auto [next, change] = flow->forward(z);
      likely -= change, z = next;
    }
    return {z, likely};
  }
  std::vector<std::shared_ptr<Flow>> flows;
};
TORCH_MODULE(Sampler);
int main() {
  Sampler sampler;
  torch::load(sampler, "sampler.pt");
  sampler->eval();
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    auto [z, likely] = sampler->sample(torch::ones({8, 3}));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: forward pass of 'flow' keeps all intermediate results {{.*}} 'torch::NoGradGuard no_grad;' before it
    sum += likely.mean().item<double>();
  }
  std::cout << sum + play();
}
