// RUN: %check_torch %s torch-retained-graph %t -- -config="{CheckOptions: {torch-retained-graph.Strict: true}}"
// RUN: %check_torch -check-prefix=DEFAULT %s torch-retained-graph %t.default
//
// Places that are overwritten keep one extra graph. Behind a backward() that is
// its nodes alone, which Strict asks for.

#include <torch/torch.h>

#include <map>
#include <optional>
#include <tuple>

using torch::Tensor;
using torch::nn::Linear;

void lastLoss(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &xs,
              Tensor y) {
  Tensor last;
  for (const auto &x : xs) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    last = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'last' keeps what one more backward() would need (its autograd graph) until it is overwritten; store 'loss.detach()' [torch-retained-graph]
  }
  std::cout << last.item<float>() << '\n';
}

// The best output so far, of an evaluation without a guard.
static void bestOutput(Linear net, const std::vector<Tensor> &xs) {
  Tensor best;
  float bestScore = -1;
  for (const auto &x : xs) {
    auto output = net->forward(x);
    const float score = output.sum().item<float>();
    if (score > bestScore) {
      bestScore = score;
      best = output;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor 'output' kept in 'best' keeps what one more backward() would need (its autograd graph) until it is overwritten; store 'output.detach()'
      // DEFAULT-MESSAGES: :[[@LINE-2]]:7: warning: tensor 'output' kept in 'best' keeps what one more backward() would need (its autograd graph) until it is overwritten; store 'output.detach()'
    }
  }
  std::cout << best.sizes() << '\n';
}

// The same in a tuple.
static void worstOfAll(Linear net, const std::vector<Tensor> &xs) {
  std::optional<std::tuple<int, Tensor>> worst;
  std::pair<int, Tensor> final_step;
  int step = 0;
  for (const auto &x : xs) {
    auto loss = net->forward(x).sum();
    loss.backward();
    worst = std::make_tuple(step++, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in '{{.*}}' keeps what one more backward() would need (its autograd graph) until it is overwritten; store '.detach()' of it
    final_step = {step, loss};
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in '{{.*}}' keeps what one more backward() would need (its autograd graph) until it is overwritten
  }
  std::cout << std::get<1>(*worst) << final_step.second;
}

// A key that is always the same is overwritten, it does not grow.
void sameKey(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  std::map<std::string, Tensor> metrics;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    metrics["loss"] = loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in '{{.*}}metrics{{.*}}' keeps what one more backward() would need (its autograd graph) until it is overwritten
  }
  std::cout << metrics["loss"].item<float>() << '\n';
}

// The activation of the last forward is kept by the module.
struct ActorImpl : torch::nn::Module {
  ActorImpl() { fc = register_module("fc", Linear(8, 2)); }
  Tensor forward(Tensor x) {
    auto hidden = torch::relu(fc->forward(x));
    lastActivation = hidden;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'hidden' kept in 'lastActivation' keeps what one more backward() would need (its autograd graph) until it is overwritten; store 'hidden.detach()'
      // DEFAULT-MESSAGES: :[[@LINE-2]]:5: warning: tensor 'hidden' kept in 'lastActivation' keeps what one more backward() would need (its autograd graph) until it is overwritten; store 'hidden.detach()'
    return hidden;
  }
  Linear fc{nullptr};
  Tensor lastActivation;
};
TORCH_MODULE(Actor);

static void play(Actor actor, const std::vector<Tensor> &states) {
  for (const auto &state : states)
    std::cout << actor->forward(state).argmax().item<int64_t>() << '\n';
}

// ----- quiet -----

// The copy is detached.
static void detached(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  Tensor last;
  float value = 0;
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    last = loss.detach();
    value = loss.item<float>();
  }
  std::cout << last << value << '\n';
}

// Reset at the end of each iteration: nothing lives on.
static void resetEachTime(Linear net, const std::vector<Tensor> &xs) {
  Tensor current;
  for (const auto &x : xs) {
    current = net->forward(x);
    std::cout << current.sum().item<float>() << '\n';
    current = Tensor();
  }
}

// Indices have no history.
static void indices(Linear net, const std::vector<Tensor> &xs) {
  Tensor prediction;
  for (const auto &x : xs)
    prediction = net->forward(x).argmax(1);
  std::cout << prediction << '\n';
}

int main() {
  Actor actor;
  Linear net(8, 2);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  bestOutput(net, xs);
  play(actor, xs);
  worstOfAll(net, xs);
  detached(net, xs, torch::rand({4, 2}));
  resetEachTime(net, xs);
  indices(net, xs);
}
