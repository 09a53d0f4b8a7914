// RUN: %check_torch %s torch-missing-no-grad %t
//
// Conditions that are known: is_training() of a module whose mode is known, and
// a flag that the call gives.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// While it trains it returns scores, otherwise classes: no graph to anybody.
struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl() { fc = register_module("fc", Linear(4, 3)); }
  Tensor forward(Tensor x) {
    if (is_training())
      return fc->forward(x);
    torch::NoGradGuard no_grad;
    return torch::softmax(fc->forward(x), 1);
  }
  Linear fc{nullptr};
};
TORCH_MODULE(Classifier);

// The other way round: the evaluation computes more, with its graph.
struct RankerImpl : torch::nn::Module {
  RankerImpl() {
    fc = register_module("fc", Linear(4, 3));
    head = register_module("head", Linear(3, 1));
  }
  Tensor forward(Tensor x) {
    auto features = fc->forward(x);
    if (!is_training())
      return features.norm();
    return head->forward(features);
  }
  Linear fc{nullptr}, head{nullptr};
};
TORCH_MODULE(Ranker);

// Trained here.
static void train(Ranker &ranker, Classifier &net, Tensor x) {
  torch::optim::SGD optimizer(ranker->parameters(), 0.1);
  torch::optim::SGD other(net->parameters(), 0.1);
  for (int step = 0; step < 9; ++step) {
    optimizer.zero_grad();
    other.zero_grad();
    ranker->forward(x).sum().backward();
    net->forward(x).sum().backward();
    optimizer.step();
    other.step();
  }
}

// One function for both: the flag decides.
static double epoch(Classifier &net, torch::optim::SGD &optimizer, Tensor x,
                    bool training) {
  net->train(training);
  torch::AutoGradMode mode(training);
  auto loss = net->fc->forward(x).sum();
  if (training) {
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return loss.item<double>();
}

// A flag that says nothing of its own: the caller's caller gives it.
template <class Net>
static double outer(Net &net, torch::optim::SGD &optimizer, Tensor x, bool fit) {
  return epoch(net, optimizer, x, !fit);
}

// The mode that the evaluation was told.
static void evaluate(Ranker &ranker, Classifier &net, Tensor x) {
  ranker->eval();
  net->eval();
  std::cout << net->forward(x) << '\n';
  std::cout << ranker->forward(x) << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'ranker' keeps all intermediate results for a backward() that never comes
}

int main() {
  Ranker ranker;
  Classifier net;
  auto x = torch::rand({8192, 4}); // a small pass that main() makes once is quiet
  train(ranker, net, x);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int round = 0; round < 3; ++round) {
    epoch(net, optimizer, x, true);
    epoch(net, optimizer, x, false);
    outer(net, optimizer, x, false);
    outer(net, optimizer, x, true);
  }
  evaluate(ranker, net, x);
}
