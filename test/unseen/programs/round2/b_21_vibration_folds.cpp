// Bearing faults from vibration counts: torch::data pipeline, k-fold cross validation.
#include <torch/torch.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <random>
#include <vector>

struct Recording {
  std::vector<std::int32_t> counts;  // straight from the converter
  std::int64_t fault;
};

static const std::int64_t kLength = 128;
static const double kFullScale = 4000.0;

static std::vector<Recording> record(int n, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<double> hiss(0, 300);
  std::vector<Recording> out(n);
  for (auto& r : out) {
    r.fault = rng() % 3;
    double phase = rng() % 100 / 10.0;
    for (int i = 0; i < kLength; ++i)
      r.counts.push_back(std::int32_t(2000 * std::sin(phase + i * (0.15 + 0.2 * r.fault)) + hiss(rng)));
  }
  return out;
}

class Vibrations : public torch::data::datasets::Dataset<Vibrations> {
 public:
  Vibrations(std::vector<Recording>& all, std::vector<size_t> rows, bool mirrored)
      : all_(all), rows_(std::move(rows)), mirrored_(mirrored) {}

  torch::data::Example<> get(size_t i) override {
    auto& r = all_[rows_[i]];
    auto label = torch::tensor(r.fault);
    if (mirrored_) {
      std::array<float, kLength> flipped;
      for (int k = 0; k < kLength; ++k) flipped[k] = float(r.counts[kLength - 1 - k] / kFullScale);
      return {torch::from_blob(flipped.data(), {kLength}), label};  // EXPECT: torch-blob-lifetime
    }
    auto raw = torch::from_blob(r.counts.data(), {kLength}, torch::kInt);  // RIGHT: torch-blob-dtype (32 bit integers), torch-blob-lifetime (the recordings live in main)
    return {raw / kFullScale, label};
  }

  torch::optional<size_t> size() const override { return rows_.size(); }

 private:
  std::vector<Recording>& all_;
  std::vector<size_t> rows_;
  bool mirrored_;
};

static double rms(Recording& r) {
  auto t = torch::from_blob(r.counts.data(), {kLength});  // EXPECT: torch-blob-dtype
  return t.square().mean().sqrt().item<double>();
}

static torch::nn::Sequential network() {
  using namespace torch::nn;
  return Sequential(Unflatten(UnflattenOptions(1, {1, kLength})), Conv1d(Conv1dOptions(1, 8, 9).stride(2)), ReLU(),
                    Conv1d(Conv1dOptions(8, 16, 9).stride(2)), ReLU(), AdaptiveAvgPool1d(4), Flatten(), Linear(64, 3));
}

template <typename Loader>
static double score(torch::nn::Sequential& net, Loader& loader) {
  torch::NoGradGuard off;
  double hit = 0, n = 0;
  for (auto& batch : loader) {
    hit += net->forward(batch.data).argmax(1).eq(batch.target).sum().template item<double>();  // RIGHT: torch-missing-no-grad (guarded)
    n += batch.target.size(0);
  }
  return hit / n;
}

int main(int argc, char**) {
  torch::manual_seed(12);
  auto all = record(240, 5);
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));

  std::vector<torch::Tensor> trace;
  for (int fold = 0; fold < 3; ++fold) {
    std::vector<size_t> fit, check;
    for (size_t i = 0; i < order.size(); ++i) (int(i % 3) == fold ? check : fit).push_back(order[i]);
    auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Vibrations(all, fit, argc > 1).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(32));
    auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
        Vibrations(all, check, false).map(torch::data::transforms::Stack<>()), 40);

    auto net = network();
    torch::optim::Adam adam(net->parameters(), 2e-3);  // RIGHT: torch-optimizer-in-loop (one for the network of each fold)
    for (int epoch = 0; epoch < 6; ++epoch) {
      adam.zero_grad();
      torch::Tensor penalty;
      for (auto& batch : *train) {
        auto logits = net->forward(batch.data);
        penalty = 1e-3 * logits.square().mean();
        auto loss = torch::cross_entropy_loss(logits, batch.target) + penalty;
        loss.backward();
        adam.step();  // EXPECT: torch-missing-zero-grad
        trace.emplace_back(penalty);  // EXPECT: torch-retained-graph
      }
    }
    std::cout << "fold " << fold << ": " << score(net, *test) << "\n";
  }
  double loudness = 0;
  for (auto& r : all) loudness += rms(r) / all.size();
  std::cout << "loudness " << loudness << ", penalties " << torch::stack(trace).detach().mean().item<double>() << "\n";
}
