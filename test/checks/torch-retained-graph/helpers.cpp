// RUN: %check_torch %s torch-retained-graph %t
//
// Through the user's own functions, lambdas and templates.

#include <torch/torch.h>

#include <algorithm>

using torch::Tensor;
using torch::nn::Linear;

// The helper stores its argument; the loop is in the caller.
static void record(std::vector<Tensor> &into, const Tensor &value) {
  into.push_back(value);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: tensor 'value' kept in 'into' keeps what its backward() would need (its autograd graph) for every iteration
}

void storesInHelper(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    record(losses, loss);
  }
}

// The helper makes the loss, the caller stores it.
static Tensor trainStep(Linear net, torch::optim::SGD &opt, Tensor x,
                        Tensor y) {
  opt.zero_grad();
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  opt.step();
  return loss;
}

void storesResult(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  std::vector<Tensor> losses;
  Tensor sum = torch::zeros({});
  for (int i = 0; i < 10; ++i) {
    auto loss = trainStep(net, opt, x, y);
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
    sum += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'sum' keeps what backward() would need of all iterations (their autograd graphs)
  }
}

// One of the results has a history, the other is a number.
static std::pair<Tensor, float> evaluate(Linear net, Tensor x, Tensor y) {
  auto output = net->forward(x);
  return {output, torch::mse_loss(output, y).item<float>()};
}

static void storesPart(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> outputs;
  std::vector<float> errors;
  for (int i = 0; i < 10; ++i) {
    auto [output, error] = evaluate(net, x, y);
    errors.push_back(error);
    outputs.push_back(output);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'output' kept in 'outputs' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

void lambdaStores(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> losses;
  auto step = [&](const Tensor &input) {
    auto loss = torch::mse_loss(net->forward(input), y);
    loss.backward();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
  };
  for (int i = 0; i < 10; ++i)
    step(x);
}

static void forEach(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    outputs.push_back(net->forward(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'outputs' keeps what its backward() would need (its autograd graph) for every iteration
  });
}

template <class Net, class Loader>
void train(Net &net, Loader &loader, torch::optim::Optimizer &opt) {
  std::vector<Tensor> losses;
  for (auto &batch : loader) {
    opt.zero_grad();
    auto output = net->forward(batch.data);
    auto loss = torch::nll_loss(output, batch.target);
    loss.backward();
    opt.step();
    losses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

void instantiates(Linear net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> batches,
                  torch::optim::SGD &opt) {
  train(net, batches, opt);
  train(seq, batches, opt); // Twice instantiated, reported once.
}

// A guard that is only a temporary guards nothing, and one that ended or that
// switches the mode on does not either.
static void noGuardInForce(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> outputs;
  torch::NoGradGuard();
  {
    torch::NoGradGuard no_grad;
    net->forward(xs[0]);
  }
  torch::AutoGradMode enable(true);
  for (const auto &x : xs) {
    outputs.push_back(net->forward(x));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'outputs' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// Where nothing is backwarded, the callers are known: no guard is in force.
int main() {
  Linear net(8, 2);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  storesPart(net, xs[0], torch::rand({4, 2}));
  forEach(net, xs);
  noGuardInForce(net, xs);
}
