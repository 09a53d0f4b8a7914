// RUN: %check_torch %s torch-missing-no-grad %t
//
// A network does not know what it is run for: where who runs it gets a tensor, the guard is theirs.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct AgentImpl : torch::nn::Module {
  AgentImpl() { actor = register_module("actor", Linear(4, 2)); }
  Tensor scores(const Tensor &x) { return actor->forward(x); }
  int64_t act(const Tensor &x) { return actor->forward(x).argmax().item<int64_t>(); }
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: forward pass of 'actor' keeps all intermediate results
  Linear actor{nullptr};
};
TORCH_MODULE(Agent);
int64_t play() {
  Agent agent;
  torch::load(agent, "agent.pt");
  int64_t sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += agent->act(torch::rand({1, 4}));
  return sum;
}
double watch() {
  Agent agent;
  torch::load(agent, "agent.pt");
  double sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += agent->scores(torch::rand({1, 4})).max().item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'agent' keeps all intermediate results {{.*}} 'torch::NoGradGuard no_grad;' before it
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
void report();
int main() {
  Sampler sampler;
  torch::load(sampler, "sampler.pt");
  sampler->eval();
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    auto [z, likely] = sampler->sample(torch::ones({8, 3}));
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: forward pass of 'flow' keeps all intermediate results {{.*}} 'torch::NoGradGuard no_grad;' before it
    // CHECK-MESSAGES: note: the graph is built here
    sum += likely.mean().item<double>();
  }
  report();
  std::cout << sum + play() + watch();
}

// What overrides a method of a base may be called by anybody who has the base.
struct Loss {
  virtual ~Loss() = default;
  virtual Tensor value(const Tensor &x) const = 0;
};
struct NetLoss : Loss {
  explicit NetLoss(Linear net) : net(net) {}
  Tensor value(const Tensor &x) const override {
    Linear copy = net;
    return copy->forward(x).pow(2).mean();
  }
  Linear net;
};
void optimize(const std::shared_ptr<Loss> &loss);
void report() {
  Linear net(4, 4);
  torch::load(net, "net.pt");
  net->eval();
  std::shared_ptr<Loss> loss = std::make_shared<NetLoss>(net);
  for (int i = 0; i < 100; ++i)
    std::cout << loss->value(torch::ones({8, 4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'copy' keeps all intermediate results
}
