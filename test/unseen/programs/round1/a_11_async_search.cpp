// Hyperparameter search: each configuration is cross-validated in its own task.
#include <torch/torch.h>
#include <future>
#include <iostream>
#include <memory>
#include <vector>

struct Config { double lr; int64_t width; };
struct Outcome { Config config; double accuracy; double spread; };
struct Table { torch::Tensor x, y; };

constexpr int64_t kClasses = 4, kFolds = 3, kDim = 10;

static torch::nn::Sequential makeNet(int64_t width) {
  return torch::nn::Sequential(torch::nn::Linear(kDim, width), torch::nn::ELU(), torch::nn::Linear(width, kClasses));
}

static Table makeTable(int64_t n) {
  auto y = torch::randint(kClasses, {n}, torch::kLong);
  auto x = torch::randn({n, kDim});
  x.select(1, 0).add_(y, 2);
  x.select(1, 1).sub_(y, 1);
  return {x, y};
}

// One step on a batch, for the last passes with a small learning rate.
static double polishStep(torch::nn::Sequential& net, const Table& batch, double lr) {
  auto optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(lr));  // EXPECT: torch-optimizer-in-loop
  optimizer->zero_grad();
  auto loss = torch::cross_entropy_loss(net->forward(batch.x), batch.y);
  loss.backward();
  optimizer->step();
  return loss.item<double>();
}

static double score(torch::nn::Sequential& net, const Table& t) {
  torch::NoGradGuard guard;
  return (net->forward(t.x).argmax(1) == t.y).to(torch::kDouble).mean().item<double>();
}

static double classSpread(const Table& t) {
  std::vector<torch::Tensor> sums(kClasses, torch::zeros({kDim}));  // EXPECT: torch-fill-alias
  std::vector<int64_t> counts(kClasses, 0);
  for (int64_t i = 0; i < t.x.size(0); ++i) {
    auto label = t.y[i].item<int64_t>();
    sums[label] += t.x[i];
    ++counts[label];
  }
  double spread = 0;
  for (int64_t c = 0; c < kClasses; ++c) spread += (sums[c] / static_cast<double>(std::max<int64_t>(1, counts[c]))).norm().item<double>();
  return spread;
}

static Outcome crossValidate(Config config, Table all) {
  const int64_t part = all.x.size(0) / kFolds;
  const std::vector<torch::Tensor> priors(kClasses, torch::ones({1}) / kClasses);  // RIGHT: torch-fill-alias (only read)
  double accuracy = 0;
  for (int64_t fold = 0; fold < kFolds; ++fold) {
    auto rows = torch::arange(all.x.size(0));
    auto held = (rows >= fold * part).logical_and(rows < (fold + 1) * part);
    Table test{all.x.index({held}), all.y.index({held})};
    Table train{all.x.index({~held}), all.y.index({~held})};

    auto net = makeNet(config.width);
    torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(config.lr));  // RIGHT: torch-optimizer-in-loop (a new network for each fold, many steps)
    auto step = [&](const torch::Tensor& x, const torch::Tensor& y) {
      auto loss = torch::cross_entropy_loss(net->forward(x), y);
      loss.backward();
      optimizer.step();  // EXPECT: torch-missing-zero-grad
      return loss.item<double>();
    };
    for (int epoch = 0; epoch < 6; ++epoch)
      for (int64_t i = 0; i < train.x.size(0); i += 25) step(train.x.slice(0, i, i + 25), train.y.slice(0, i, i + 25));
    for (int64_t i = 0; i < train.x.size(0); i += 50)
      polishStep(net, {train.x.slice(0, i, i + 50), train.y.slice(0, i, i + 50)}, config.lr / 10);

    accuracy += score(net, test) * priors[fold].item<double>() * kClasses / kFolds;
  }
  return {config, accuracy, classSpread(all)};
}

int main() {
  torch::manual_seed(6);
  auto table = makeTable(300);
  std::vector<std::future<Outcome>> tasks;
  for (double lr : {1e-3, 1e-2})
    for (int64_t width : {8, 32}) tasks.push_back(std::async(std::launch::async, crossValidate, Config{lr, width}, table));

  Outcome best{{0, 0}, -1, 0};
  for (auto& task : tasks) {
    auto o = task.get();
    std::cout << "lr " << o.config.lr << " width " << o.config.width << ": " << o.accuracy << '\n';
    if (o.accuracy > best.accuracy) best = o;
  }
  std::cout << "best " << best.config.lr << "/" << best.config.width << " spread " << best.spread << '\n';
}
