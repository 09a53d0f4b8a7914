// Training and scoring as templates over the network and the loader.
#include <torch/torch.h>
#include <array>
#include <iostream>
#include <optional>
#include <vector>

namespace {

constexpr int64_t kClasses = 10;
struct Digits : torch::data::datasets::Dataset<Digits> {
  explicit Digits(int64_t n) : strokes(torch::rand({n, 1, 8, 8})), truth(torch::randint(kClasses, {n}, torch::kLong)) {}
  torch::data::Example<> get(size_t i) override { return {strokes[i], truth[i]}; }
  std::optional<size_t> size() const override { return truth.size(0); }
  torch::Tensor strokes, truth;
};

struct DenseImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return b(torch::relu(a(x.flatten(1)))); }
  torch::nn::Linear a{register_module("a", torch::nn::Linear(64, 48))}, b{register_module("b", torch::nn::Linear(48, kClasses))};
};
TORCH_MODULE(Dense);

struct PlanarImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::relu(conv(x)).flatten(1)); }
  torch::nn::Conv2d conv{register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 3).padding(1)))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(6 * 64, kClasses))};
};
TORCH_MODULE(Planar);

template <class Net, class Loader>
void run_epoch(Net& net, Loader& loader, torch::optim::Optimizer& optimizer) {
  net->train();
  optimizer.zero_grad();
  for (auto& batch : loader) {
    torch::cross_entropy_loss(net->forward(batch.data), batch.target).backward();
    optimizer.step();  // EXPECT: torch-missing-zero-grad
  }
}

template <class Net, class Loader>
void smooth(Net& net, Loader& loader, double margin) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  torch::Tensor loss;
  for (auto& batch : loader) {
    auto logits = net->forward(batch.data);
    loss = torch::cross_entropy_loss(logits, batch.target) + margin * logits.pow(2).mean();
    optimizer.zero_grad();
    loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
    optimizer.step();
  }
}

template <class Net, class Loader>
void two_losses(Net& net, Loader& loader) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  optimizer.zero_grad();
  for (auto& batch : loader) {
    auto logits = net->forward(batch.data);
    auto fit = torch::cross_entropy_loss(logits, batch.target), size = logits.abs().mean();
    fit.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop the second loss shares the pass
    size.backward();
    optimizer.step();  // RIGHT: torch-missing-zero-grad cleared right behind the step
    optimizer.zero_grad();
  }
}

template <class Net, class Loader>
void adapt(Net& net, Loader& loader) {
  for (auto& batch : loader) {
    torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-4));  // EXPECT: torch-optimizer-in-loop
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(batch.data), batch.target).backward();
    optimizer.step();
  }
}

template <class Net, class Loader>
void descend(Net& net, Loader& loader) {
  for (auto& batch : loader) {
    torch::optim::SGD optimizer(net->parameters(), 1e-3);  // RIGHT: torch-optimizer-in-loop without a momentum there is nothing to forget
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(batch.data), batch.target).backward();
    optimizer.step();
  }
}

template <class Net, class Loader>
torch::Tensor guesses(Net& net, Loader& loader) {
  net->eval();
  torch::Tensor all;
  for (auto& batch : loader) {
    auto guess = net->forward(batch.data).argmax(1);           // EXPECT: torch-missing-no-grad
    all = all.defined() ? torch::cat({all, guess}, 0) : guess;  // EXPECT: torch-cat-in-loop
  }
  return all;
}

template <class Net, class Loader>
torch::Tensor where_sure(Net& net, Loader& loader) {
  torch::NoGradGuard frozen;
  std::vector<torch::Tensor> parts;
  for (auto& batch : loader) {
    auto logits = net->forward(batch.data);  // RIGHT: torch-missing-no-grad under a guard
    parts.push_back(torch::softmax(logits, 1).amax(1) > 0.2);
  }
  return torch::cat(parts);  // RIGHT: torch-cat-in-loop once, behind the loop
}

std::array<int, kClasses * kClasses> tabulate(const torch::Tensor& truth, const torch::Tensor& guess) {
  std::array<int, kClasses * kClasses> table{};
  for (int64_t i = 0; i < truth.size(0); ++i) {
    const auto row = truth[i].item<int64_t>();  // EXPECT: torch-element-access-in-loop
    const auto column = guess[i].item<int64_t>();
    ++table[row * kClasses + column];
  }
  return table;
}

int64_t agreement(const torch::Tensor& truth, const torch::Tensor& guess) {
  const auto left = truth.accessor<int64_t, 1>(), right = guess.accessor<int64_t, 1>();
  int64_t same = 0;
  for (int64_t i = 0; i < left.size(0); ++i) same += left[i] == right[i];  // RIGHT: torch-element-access-in-loop through accessors
  return same;
}

template <class Net>
void study(const char* name) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Digits(320).map(torch::data::transforms::Stack<>()), 32);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 1e-3);
  run_epoch(net, *loader, optimizer);
  smooth(net, *loader, 0.01);
  two_losses(net, *loader);
  adapt(net, *loader);
  descend(net, *loader);
  auto all = guesses(net, *loader);
  auto other = torch::randint(kClasses, {all.size(0)}, torch::kLong);
  std::cout << name << ' ' << tabulate(other, all)[0] << ' ' << agreement(other, all) << ' '
            << where_sure(net, *loader).sum().template item<int64_t>() << '\n';
}

}  // namespace

int main() {
  torch::manual_seed(11);
  study<Dense>("dense");
  study<Planar>("planar");
}
