// RUN: %check_torch %s torch-missing-no-grad %t
//
// `?:` of a call of the user's and an operation: the result is either of them.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Pairs = std::vector<std::pair<Tensor, Tensor>>;

static Tensor robust(Linear &head, const Tensor &x, const Tensor &y) {
  return (head->forward(x) - y).abs().clamp_max(3.0).mean();
}

void trains(Linear head, const Pairs &pairs, torch::optim::SGD &sgd, bool outliers) {
  for (const auto &[x, y] : pairs) {
    sgd.zero_grad();
    Tensor cost = outliers ? robust(head, x, y) : torch::mse_loss(head->forward(x), y);
    cost.backward();
    sgd.step();
  }
}

// The other way round, and assigned to what is there.
void alsoTrains(Linear head, const Pairs &pairs, torch::optim::SGD &sgd, bool plain) {
  Tensor cost;
  for (const auto &[x, y] : pairs) {
    sgd.zero_grad();
    cost = plain ? torch::l1_loss(head->forward(x), y) : robust(head, x, y);
    cost.backward();
    sgd.step();
  }
}

// A gradient goes through either arm.
void trainsThroughNamed(Linear first, Linear second, const Pairs &pairs, torch::optim::SGD &sgd, bool deep) {
  for (const auto &[x, y] : pairs) {
    Tensor hidden = first->forward(x);
    Tensor out = deep ? second->forward(hidden) : hidden;
    sgd.zero_grad();
    torch::mse_loss(out, y).backward();
    sgd.step();
  }
}

void validates(Linear head, const Pairs &pairs, bool outliers) {
  head->eval();
  double sum = 0;
  for (const auto &[x, y] : pairs) {
    Tensor cost = outliers ? robust(head, x, y) : torch::mse_loss(head->forward(x), y);
    // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: forward pass of 'head' keeps all intermediate results for a backward() that never comes
    sum += cost.item<double>();
  }
  std::cout << sum << '\n';
}
