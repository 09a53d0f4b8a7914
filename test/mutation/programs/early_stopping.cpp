// A classifier of spirals that stops when the validation error has not fallen for five epochs,
// and goes back to the best weights. Free functions, structured bindings, a scheduler by hand.
#include <torch/torch.h>

#include <cstdio>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace {

struct SpiralNetImpl : torch::nn::Module {
  explicit SpiralNetImpl(int64_t width)
      : first(register_module("first", torch::nn::Linear(2, width))),
        norm(register_module("norm", torch::nn::BatchNorm1d(width))),
        drop(register_module("drop", torch::nn::Dropout(0.3))),
        second(register_module("second", torch::nn::Linear(width, width))),
        last(register_module("last", torch::nn::Linear(width, 3))) {}

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm(first(x)));
    x = torch::relu(second(drop(x)));
    return last(x);
  }

  torch::nn::Linear first;
  torch::nn::BatchNorm1d norm;
  torch::nn::Dropout drop;
  torch::nn::Linear second, last;
};
TORCH_MODULE(SpiralNet);

using Data = std::pair<torch::Tensor, torch::Tensor>;

Data spirals(int64_t count) {
  auto label = torch::randint(0, 3, {count}, torch::kLong);
  auto t = torch::rand({count}) * 4;
  auto angle = t * 2 + label.to(torch::kFloat) * 2.1f + torch::randn({count}) * 0.2f;
  return {torch::stack({t * torch::cos(angle), t * torch::sin(angle)}, 1), label};
}

double epoch(SpiralNet &net, torch::optim::Optimizer &optimizer, const Data &data,
             int64_t batch) {
  const auto &[inputs, labels] = data;
  auto order = torch::randperm(inputs.size(0), torch::kLong);
  double sum = 0;
  int64_t batches = 0;
  for (const auto &part : order.split(batch)) {
    auto loss = torch::nn::functional::cross_entropy(net->forward(inputs.index_select(0, part)),
                                                     labels.index_select(0, part));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
    ++batches;
  }
  return sum / batches;
}

std::tuple<double, double> validate(SpiralNet &net, const Data &data) {
  torch::NoGradGuard no_grad;
  net->eval();
  auto logits = net->forward(data.first);
  double loss = torch::nn::functional::cross_entropy(logits, data.second).item<double>();
  double right = logits.argmax(1).eq(data.second).to(torch::kFloat).mean().item<double>();
  return {loss, right};
}

std::vector<torch::Tensor> snapshot(const SpiralNet &net) {
  std::vector<torch::Tensor> result;
  for (const auto &p : net->parameters())
    result.push_back(p.detach().clone());
  return result;
}

void restore(SpiralNet &net, const std::vector<torch::Tensor> &from) {
  torch::NoGradGuard no_grad;
  auto to = net->parameters();
  for (size_t i = 0; i < to.size(); ++i)
    to[i].copy_(from[i]);
}

} // namespace

int main() {
  torch::manual_seed(11);
  SpiralNet net(64);
  double rate = 3e-3;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(rate));
  const Data training = spirals(4000), held_out = spirals(1000);

  double best = std::numeric_limits<double>::max();
  std::vector<torch::Tensor> weights = snapshot(net);
  std::vector<double> history;
  int without = 0;
  for (int round = 0; round < 100 && without < 5; ++round) {
    net->train();
    double loss = epoch(net, optimizer, training, 128);
    auto [error, right] = validate(net, held_out);
    history.push_back(error);
    std::printf("%d: %.4f, validation %.4f, right %.3f\n", round, loss, error, right);
    if (error < best) {
      best = error;
      weights = snapshot(net);
      without = 0;
    } else if (++without == 3) {
      rate /= 2;
      for (auto &group : optimizer.param_groups())
        static_cast<torch::optim::AdamOptions &>(group.options()).lr(rate);
    }
  }
  restore(net, weights);
  auto [error, right] = validate(net, held_out);
  std::printf("best of %zu: %.4f, right %.3f\n", history.size(), error, right);
  return right > 0.6 ? 0 : 1;
}
