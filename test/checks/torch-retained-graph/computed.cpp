// RUN: %check_torch %s torch-retained-graph %t
//
// Whatever the operation is called: a tensor that is computed from what it was
// before chains the graphs of all iterations. A copy of one or the other does not.

#include <torch/torch.h>

#include <optional>

using torch::Tensor;
using torch::nn::Linear;

struct Tracker {
  void worst(const Tensor &loss) {
    worst_ = torch::max(worst_, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'worst_' is computed from what it was before, which keeps what backward() would need of all iterations (their autograd graphs), so memory grows with each; store '.detach()' of it [torch-retained-graph]
  }
  Tensor worst_ = torch::zeros({});
};

static void chains(Linear net, torch::optim::SGD &opt,
                   const std::vector<Tensor> &xs) {
  Tensor low, history = torch::zeros({1}), masked = torch::zeros({});
  Tracker tracker;
  auto keep = [&](const Tensor &loss) {
    masked = torch::where(loss > masked, loss, masked);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'masked' is computed from what it was before
  };
  for (const auto &x : xs) {
    opt.zero_grad();
    auto loss = net->forward(x).sum();
    loss.backward();
    opt.step();
    tracker.worst(loss);
    low = low.defined() ? torch::minimum(low, loss) : loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'low' is computed from what it was before
    auto longer = torch::cat({history, loss.reshape({1})});
    history = longer;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'history' is computed from what it was before, which keeps what backward() would need of all iterations (their autograd graphs), so memory grows with each; store 'longer.detach()'
    keep(loss);
  }
  std::cout << tracker.worst_ << low << history << masked;
}

// ----- quiet -----

static void detached(Linear net, const std::vector<Tensor> &xs) {
  Tensor worst = torch::zeros({}), masked = torch::zeros({});
  for (const auto &x : xs) {
    auto loss = net->forward(x).sum();
    loss.backward();
    worst = torch::max(worst, loss.detach());
    masked = torch::where(loss > masked, loss, masked).detach();
  }
  std::cout << worst << masked;
}

// The graph is used: the maximum is what is trained on.
static void trained(Linear net, torch::optim::SGD &opt,
                    const std::vector<Tensor> &xs) {
  Tensor worst = torch::zeros({});
  for (const auto &x : xs)
    worst = torch::max(worst, net->forward(x).sum());
  worst.backward();
  opt.step();
}

// Made again in each iteration.
static void afresh(Linear net, const std::vector<Tensor> &xs) {
  Tensor clipped;
  for (const auto &x : xs) {
    clipped = net->forward(x).sum();
    clipped = torch::max(clipped, torch::zeros({}));
    clipped.backward();
  }
}

// Numbers.
static void number(Linear net, const std::vector<Tensor> &xs) {
  double worst = 0;
  for (const auto &x : xs) {
    auto loss = net->forward(x).sum();
    loss.backward();
    worst = std::max(worst, loss.item<double>());
  }
  std::cout << worst;
}

int main() {
  Linear net(8, 2);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  chains(net, opt, xs);
  detached(net, xs);
  trained(net, opt, xs);
  afresh(net, xs);
  number(net, xs);
}
