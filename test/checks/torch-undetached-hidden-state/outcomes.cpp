// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// The outcomes other than the exception: every backward() goes through all
// iterations so far, or nothing ever frees the graph.

#include <torch/torch.h>

#include <algorithm>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::Linear;
using torch::nn::LSTM;
using torch::nn::LSTMCell;
using torch::optim::SGD;

// ----- retain_graph -----

void retained(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: with retain_graph every backward() goes through all iterations so far, so each takes longer; detach it: 'h = h.detach();' [torch-undetached-hidden-state]
    auto loss = torch::mse_loss(h, y);
    loss.backward({}, /*retain_graph=*/true);
    opt.step();
  }
}

void retainedTuple(LSTM layer, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  auto state =
      std::make_tuple(torch::zeros({1, 4, 8}), torch::zeros({1, 4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    Tensor output;
    std::tie(output, state) = layer->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: with retain_graph every backward() goes through all iterations so far, so each takes longer; detach its tensors
    torch::autograd::backward({torch::mse_loss(output, y)}, {}, true);
    opt.step();
  }
}

class Learner {
public:
  void learn(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    h_ = cell_->forward(x, h_);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h_' carries what its backward() needs (its autograd graph) into the next call: with retain_graph every backward() goes through all iterations so far, so each takes longer; detach it: 'h_ = h_.detach();'
    torch::mse_loss(h_, y).backward({}, true);
    opt_.step();
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  Tensor h_ = torch::zeros({4, 8});
};

// ----- no backward() at all; all callers are known, and none has a guard -----

static void stream(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows; detach it or put 'torch::NoGradGuard no_grad;' before the loop [torch-undetached-hidden-state]
    std::cout << h.argmax(1) << '\n';
  }
}

static void streamTuple(LSTMCell cell, const std::vector<Tensor> &xs) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    state = cell->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows; detach {{it|its tensors}} or put 'torch::NoGradGuard no_grad;' before the loop
    std::cout << std::get<0>(state).argmax(1) << '\n';
  }
}

// eval() switches no recording off.
static std::string generate(GRU layer, Linear head, int length) {
  layer->eval();
  head->eval();
  std::string text;
  Tensor output, state = torch::zeros({1, 1, 8});
  auto token = torch::zeros({1, 1, 8});
  for (int i = 0; i < length; ++i) {
    std::tie(output, state) = layer->forward(token, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows; detach it or put 'torch::NoGradGuard no_grad;' before the loop
    const auto best = head->forward(output).argmax(-1).item<int64_t>();
    text += static_cast<char>('a' + best);
    token.fill_(static_cast<double>(best));
  }
  return text;
}

// The state of an agent, from observation to observation.
class Agent {
public:
  int64_t act(const Tensor &observation) {
    std::tie(h_, c_) = cell_->forward(observation, std::make_tuple(h_, c_));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{h_.*}}' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows; detach {{it|its tensors}} or put 'torch::NoGradGuard no_grad;' before the {{loop|call}}
    return head_->forward(h_).sum(0).argmax().item<int64_t>();
  }

private:
  LSTMCell cell_{8, 8};
  Linear head_{8, 2};
  Tensor h_ = torch::zeros({4, 8}), c_ = torch::zeros({4, 8});
};

static void play(const std::vector<Tensor> &observations) {
  Agent agent;
  for (const auto &observation : observations)
    std::cout << agent.act(observation) << '\n';
}

static void forEach(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows
  });
  std::cout << h.sizes() << '\n';
}

// Trained before, with a state of its own for each batch: that is another loop.
static void trainAndServe(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                          Tensor y) {
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(cell->forward(x), y).backward();
    opt.step();
  }
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it, so memory grows
    std::cout << h.mean().item<float>() << '\n';
  }
}

int main() {
  GRUCell gruCell(8, 8);
  LSTMCell lstmCell(8, 8);
  GRU gru(8, 8);
  Linear head(8, 8);
  SGD opt(gruCell->parameters(), 0.1);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  stream(gruCell, xs);
  streamTuple(lstmCell, xs);
  std::cout << generate(gru, head, 100) << '\n';
  play(xs);
  forEach(gruCell, xs);
  trainAndServe(gruCell, opt, xs, torch::rand({4, 8}));
}
