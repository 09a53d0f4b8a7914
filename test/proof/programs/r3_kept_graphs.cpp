// Backward passes that are told to keep their graphs.
#include <torch/torch.h>

#include <iostream>
#include <vector>

namespace {

torch::nn::Sequential network() {
  return torch::nn::Sequential(torch::nn::Linear(16, 64), torch::nn::Tanh(), torch::nn::Linear(64, 64),
                               torch::nn::Tanh(), torch::nn::Linear(64, 1));
}

double forNothing(const torch::Tensor &x) {
  auto net = network();
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  torch::Tensor loss;
  for (int step = 0; step < 30; ++step) { // AT nothing
    loss = net->forward(x).square().mean();
    optimizer.zero_grad();
    // PLANT true torch-retain-graph-in-loop/kept loop=nothing: nothing goes through the graph again
    loss.backward({}, /*retain_graph=*/true);
    optimizer.step();
  }
  return loss.item<double>();
}

double twoLosses(const torch::Tensor &x) {
  auto net = network();
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  torch::Tensor first, second;
  for (int step = 0; step < 30; ++step) { // AT two
    const auto y = net->forward(x);
    first = y.square().mean();
    second = y.abs().mean();
    optimizer.zero_grad();
    // PLANT innocent torch-retain-graph-in-loop/kept loop=two: the second loss goes through the same graph
    first.backward({}, /*retain_graph=*/true);
    second.backward();
    optimizer.step();
  }
  return first.item<double>();
}

double eachOutput(const torch::Tensor &x) {
  auto net = network();
  double sum = 0;
  for (int step = 0; step < 20; ++step) {
    const auto y = net->forward(x.slice(0, 0, 4));
    for (int64_t row = 0; row < 4; ++row) { // AT rows
      net->zero_grad();
      // PLANT innocent torch-retain-graph-in-loop/kept loop=rows: the next row goes through it again
      y[row].sum().backward({}, /*retain_graph=*/true);
      sum += net->parameters()[0].grad().norm().item<double>();
    }
  }
  return sum;
}

} // namespace

int main() {
  torch::manual_seed(7);
  const auto x = torch::randn({128, 16});
  std::cout << forNothing(x) + twoLosses(x) + eachOutput(x) << '\n';
  return 0;
}
