// Metrics of a classifier over folds: calibration, confusion, drift.
#include <torch/torch.h>

#include <iostream>
#include <optional>
#include <utility>
#include <vector>

namespace {

using torch::indexing::Slice;
using Fold = std::pair<torch::Tensor, torch::Tensor>;
using Table = std::vector<std::vector<int>>;

constexpr int64_t kClasses = 4;

struct Outcome {
  torch::Tensor scores;
  std::vector<Fold> verdicts;
  double loss = 0;
  int64_t seen = 0;
};

bool onGpu(const torch::Tensor& t) {
  return t.device() == torch::kCUDA;  // EXPECT: torch-device-comparison
}

bool onHost(const torch::Tensor& t) {
  return t.device() == torch::kCPU;  // RIGHT: torch-device-comparison (the CPU has no index)
}

torch::Tensor settled(torch::Tensor t, torch::Device device) {
  if (t.device() != device) t = t.to(device);  // RIGHT: torch-device-comparison (decides about to() only)
  return t;
}

std::vector<Fold> makeFolds(int count) {
  std::vector<Fold> folds;
  for (int f = 0; f < count; ++f) folds.emplace_back(torch::rand({200, 20}), torch::randint(kClasses, {200}, torch::kLong));
  return folds;
}

Outcome run(torch::nn::Sequential& net, const std::vector<Fold>& folds, const torch::Tensor& rarity, torch::Device device) {
  torch::NoGradGuard off;
  Outcome o;
  auto loss = torch::zeros({}, device);
  for (const auto& [inputs, truth] : folds) {
    auto logits = net->forward(inputs.to(device));  // RIGHT: torch-missing-no-grad, torch-repeated-transfer (guarded; each fold's own data)
    auto importance = rarity.to(device);  // EXPECT: torch-repeated-transfer
    loss += torch::cross_entropy_loss(logits, truth.to(device), importance);
    o.seen += logits.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
    auto p = logits.softmax(1);
    o.scores = o.scores.defined() ? torch::cat({o.scores, p}) : p;  // EXPECT: torch-cat-in-loop
    o.verdicts.emplace_back(truth, p.argmax(1).cpu());
  }
  o.loss = loss.item<double>() / folds.size();
  return o;
}

double entropy(torch::Tensor p) {
  p.clamp_min(1e-6);  // EXPECT: torch-discarded-result
  p.index({p.gt(0.99)}) = 0.99;  // EXPECT: torch-discarded-result
  return -(p * p.log()).sum(1).mean().item<double>();
}

double entropyInPlace(torch::Tensor p) {
  p = p.clone();
  p.clamp_(1e-6, 0.99);  // RIGHT: torch-discarded-result (in place)
  p.index({Slice(), 0}) = 0.25;  // RIGHT: torch-discarded-result (a slice is a view)
  return -(p * p.log()).sum(1).mean().item<double>();
}

Table confusion(const std::vector<Fold>& verdicts) {
  Table table(kClasses, std::vector<int>(kClasses));
  for (const auto& [truth, guess] : verdicts)
    for (int64_t i = 0; i < truth.size(0); ++i)
      ++table[truth[i].item<int64_t>()][guess[i].item<int64_t>()];  // EXPECT: torch-element-access-in-loop
  return table;
}

Table confusionFast(const std::vector<Fold>& verdicts) {
  Table table(kClasses, std::vector<int>(kClasses));
  for (const auto& [truth, guess] : verdicts) {
    const auto t = truth.accessor<int64_t, 1>(), g = guess.accessor<int64_t, 1>();
    for (int64_t i = 0; i < truth.size(0); ++i) ++table[t[i]][g[i]];  // RIGHT: torch-element-access-in-loop (accessors)
  }
  return table;
}

std::vector<float> priors(const std::vector<Fold>& folds) {
  std::vector<float> out;
  for (const auto& fold : folds) {
    auto share = torch::bincount(fold.second, {}, kClasses).to(torch::kFloat).div(fold.second.numel());
    for (int64_t c = 0; c < 4; ++c) out.push_back(share[c].item<float>());  // RIGHT: torch-element-access-in-loop (four elements)
  }
  return out;
}

std::optional<double> drift(torch::Device device) {
  torch::NoGradGuard off;
  torch::nn::Linear probe(20, kClasses);
  probe->to(device);
  const auto reference = torch::rand({64, 20});
  auto answer = probe->forward(reference);  // EXPECT: torch-device-mismatch
  auto scaled = answer * torch::tensor(0.5);  // RIGHT: torch-device-mismatch (no dimensions)
  if (onHost(scaled) || onGpu(scaled)) return scaled.std().item<double>();
  return std::nullopt;
}

}  // namespace

int main() {
  torch::manual_seed(12);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  torch::nn::Sequential net(torch::nn::Linear(20, 32), torch::nn::ReLU(), torch::nn::Linear(32, kClasses));
  net->to(device);
  const auto folds = makeFolds(12);
  const auto rarity = torch::tensor({0.5f, 1.f, 2.f, 1.f});
  const auto o = run(net, folds, rarity, device);
  std::cout << o.loss << ' ' << o.seen << ' ' << entropy(o.scores.clone()) << ' ' << entropyInPlace(o.scores) << '\n';
  std::cout << (confusion(o.verdicts) == confusionFast(o.verdicts)) << ' ' << priors(folds).size() << ' '
            << drift(device).value_or(-1) << settled(rarity, device).sizes() << '\n';
}
