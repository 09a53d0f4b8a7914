// A program that is right, with a mutation point of each kind; see mutation.test.
#include <torch/torch.h>

#include <utility>
#include <vector>

using State = std::pair<torch::Tensor, std::vector<double>>;

double last(const std::vector<double> &values) { return values.back(); }

double train(torch::nn::Linear &net, torch::optim::SGD &sgd,
             const std::vector<torch::Tensor> &batches, torch::Device device) {
  double total = 0, scale = 2;
  std::vector<double> logged;
  std::vector<torch::Tensor> losses;
  auto weights = torch::linspace(0, 1, 4096).reshape({64, 64});
  auto factors = weights.to(device);
  auto buffer = torch::zeros({64, 64}, device);
  sgd.zero_grad(); // needless
  for (const auto &batch : batches) {
    buffer.copy_(batch);
    auto loss = (net->forward(buffer) * factors).square().mean();
    sgd.zero_grad();
    loss.backward();
    sgd.step();
    total += loss.item<double>();
    logged.push_back(loss.item<double>());
    losses.push_back(loss.detach());
  }
  return total * scale + last(logged) + torch::stack(losses).mean().item<double>();
}

double carry(torch::nn::GRUCell &cell, torch::optim::SGD &sgd,
             const std::vector<torch::Tensor> &steps) {
  auto h = torch::zeros({1, 64});
  for (const auto &x : steps) {
    h = cell->forward(x, h);
    auto loss = h.square().mean();
    sgd.zero_grad();
    loss.backward();
    sgd.step();
    h = h.detach();
  }
  return h.sum().item<double>();
}

double evaluate(torch::nn::Linear &net, const std::vector<torch::Tensor> &batches) {
  torch::NoGradGuard no_grad;
  net->eval();
  int64_t hits = 0;
  for (const auto &batch : batches)
    hits += net->forward(batch).gt(0).sum().item<int64_t>();
  return static_cast<double>(hits);
}

// Nothing is run under this guard: no mutation point.
void shrink(torch::nn::Linear &net) {
  torch::NoGradGuard no_grad;
  for (auto &parameter : net->parameters())
    parameter.mul_(0.5);
}
