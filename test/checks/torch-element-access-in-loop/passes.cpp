// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Minor: true}}"
//
// A number for each sample of a batch, on the CPU, costs nothing beside the pass of the network that the same
// iteration makes: the option Strict tells it. On a device each is a wait, and a nest of loops is many.

#include <torch/torch.h>

using torch::Tensor;

struct Net : torch::nn::Module {
  torch::nn::Linear layer{register_module("layer", torch::nn::Linear(8, 2))};
  Tensor forward(Tensor x) { return layer(x); }
};

// The program has no device but the CPU.
static int correct(Net &net, const std::vector<Tensor> &batches, const std::vector<Tensor> &labels) {
  torch::NoGradGuard no_grad;
  int hits = 0;
  for (size_t b = 0; b < batches.size(); ++b) {
    auto guess = net.forward(batches[b]).argmax(1);
    for (int64_t i = 0; i < guess.size(0); ++i)
      hits += guess[i].item<int64_t>() == labels[b][i].item<int64_t>();
  }
  return hits;
}
static double heat(Net &net, const std::vector<Tensor> &batches) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (const Tensor &x : batches) {
    auto map = net.forward(x);
    for (int64_t i = 0; i < map.size(0); ++i)
      for (int64_t j = 0; j < map.size(1); ++j)
        sum += map[i][j].item<double>();
        // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: elements of 'map' are read one at a time
  }
  return sum;
}
// Without a pass in the loop. Nothing waits there, whatever the machine has.
static double sums(const std::vector<Tensor> &batches) {
  double sum = 0;
  for (const Tensor &x : batches)
    for (int64_t i = 0; i < x.size(0); ++i)
      sum += x[i].item<double>();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 'x' are read one at a time: each costs whole tensor operations; read them through 'accessor<T, N>()', or compute with the whole tensor [torch-element-access-in-loop]
  return sum;
}

int main() {
  Net net;
  std::vector<Tensor> batches(10, torch::rand({64, 8})), labels(10, torch::zeros({64}, torch::kLong));
  return correct(net, batches, labels) + heat(net, batches) + sums(batches) > 0;
}
