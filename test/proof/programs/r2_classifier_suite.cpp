#include <torch/torch.h>

#include <cstdio>
#include <deque>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

namespace {

constexpr int64_t kInputs = 16, kClasses = 3;

struct ClassifierImpl : torch::nn::Module {
  explicit ClassifierImpl(int64_t width) : head(width, kClasses), mixer(width, width) {
    stem = register_module("stem", torch::nn::Linear(kInputs, width));
    norm = register_module("norm", torch::nn::BatchNorm1d(width));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto h = norm(stem(x));
    h = h + torch::tanh(mixer(h));
    return head(h);
  }

  torch::nn::Linear stem{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  // PLANT innocent torch-unregistered-module/submodule: the function that builds the network registers it
  torch::nn::Linear head;
  // PLANT true torch-unregistered-module/submodule: the optimizer never gets its weights
  torch::nn::Linear mixer;
};
TORCH_MODULE(Classifier);

void attach(torch::nn::Module& whole, const std::vector<std::pair<const char*, torch::nn::Linear>>& parts) {
  for (const auto& [name, part] : parts) whole.register_module(name, part);
}

Classifier build(int64_t width) {
  Classifier net(width);
  attach(*net, {{"readout", net->head}});
  return net;
}

using Sample = std::pair<torch::Tensor, torch::Tensor>;

std::vector<Sample> draw(const torch::Tensor& centers, int batches) {
  std::vector<Sample> samples;
  for (int i = 0; i < batches; ++i) {  // AT drawing
    auto label = torch::randint(kClasses, {20}, torch::kInt64);
    auto features = centers.index_select(0, label) + 1.2 * torch::randn({20, kInputs});
    // PLANT innocent torch-discarded-result/computation loop=drawing: it works in place, so the features are limited
    F::hardtanh(features, F::HardtanhFuncOptions().min_val(-2).max_val(2).inplace(true));
    samples.emplace_back(features, label);
  }
  return samples;
}

struct Progress {
  std::deque<torch::Tensor> recent;
  int plateaus = 0, easy = 0;
};

double run(Classifier& net, const std::vector<Sample>& samples, torch::optim::Optimizer* optimizer,
           Progress& progress) {
  net->train(optimizer != nullptr);
  double total = 0;
  for (const auto& [x, label] : samples) {  // AT batches
    // PLANT true torch-missing-no-grad/unused-graph loop=batches: validation comes here too, and runs no backward()
    auto logits = net->forward(x);
    auto loss = F::cross_entropy(logits, label);  // AT loss
    total += loss.item<double>();
    if (!optimizer) continue;

    // PLANT innocent torch-retained-graph/grows loop=batches built=loss: the oldest of sixteen leaves the window
    progress.recent.push_back(loss);
    if (progress.recent.size() > 16) {
      if (progress.recent.front().item<double>() < loss.item<double>()) ++progress.plateaus;
      progress.recent.pop_front();
    }

    loss.backward();
    // PLANT true torch-missing-zero-grad/cleared-on-some-path loop=batches: after an easy batch nothing clears them
    optimizer->step();
    if ((logits.argmax(1) == label).sum().item<int64_t>() >= 19) {
      ++progress.easy;
      continue;
    }
    optimizer->zero_grad();
  }
  return total / static_cast<double>(samples.size());
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  auto centers = torch::randn({kClasses, kInputs});
  auto training = draw(centers, 48);
  auto held_out = draw(centers, 44);

  auto net = build(24);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02));
  Progress progress;
  for (int epoch = 0; epoch < 3; ++epoch) {
    double fitted = run(net, training, &optimizer, progress);
    double checked = run(net, held_out, nullptr, progress);
    std::printf("epoch %d: %.4f %.4f\n", epoch, fitted, checked);
  }
  std::printf("plateaus %d easy %d\n", progress.plateaus, progress.easy);
  return 0;
}
