// STD: c++20
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdio>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

// Per-class moments of a stream of embeddings, kept without any gradient.

template <typename T>
concept Accumulator = requires(T acc, torch::Tensor x, int64_t k) {
  { acc.update(k, x) } -> std::same_as<void>;
  { acc.mean(k) } -> std::convertible_to<torch::Tensor>;
};

struct StatsConfig {
  int64_t classes = 4;
  int64_t dim = 64;
  bool unbiased = true;
  std::string_view name = "stats";
};

class ClassMoments {
 public:
  explicit ClassMoments(StatsConfig cfg)
      : cfg_{cfg},
        sums_(cfg.classes, torch::zeros({cfg.dim})),  // EXPECT: torch-fill-alias
        counts_(cfg.classes, 0) {
    squares_.reserve(cfg.classes);
    for ([[maybe_unused]] auto k : std::views::iota(int64_t{0}, cfg.classes))
      squares_.push_back(torch::zeros({cfg.dim}));  // RIGHT: torch-fill-alias (each class gets a tensor of its own), torch-allocation-in-loop (kept)
  }

  void update(int64_t k, torch::Tensor x) {
    sums_[k] += x.sum(0);
    squares_[k] += x.square().sum(0);
    counts_[k] += x.size(0);
  }

  torch::Tensor mean(int64_t k) const { return sums_[k] / std::max<int64_t>(counts_[k], 1); }

  torch::Tensor variance(int64_t k) const {
    auto n = std::max<int64_t>(counts_[k], 2);
    auto v = squares_[k] / n - mean(k).square();
    return cfg_.unbiased ? v * (double(n) / (n - 1)) : v;
  }

  const StatsConfig& config() const { return cfg_; }

 private:
  StatsConfig cfg_;
  std::vector<torch::Tensor> sums_, squares_;
  std::vector<int64_t> counts_;
};

class Histogram {
 public:
  Histogram(double lo, double hi, int64_t bins) : lo_(lo), hi_(hi), counts_(torch::zeros({bins})) {}
  void update(int64_t, torch::Tensor x) { counts_ += torch::histc(x, counts_.size(0), lo_, hi_); }
  torch::Tensor mean(int64_t) const {
    auto centres = torch::linspace(lo_, hi_, counts_.size(0));
    return (centres * counts_).sum() / counts_.sum();
  }

 private:
  double lo_, hi_;
  torch::Tensor counts_;
};

static_assert(Accumulator<ClassMoments> && Accumulator<Histogram>);

template <Accumulator... A>
void feed(int64_t k, const torch::Tensor& x, A&... acc) {
  (acc.update(k, x), ...);
}

torch::Tensor normalise(std::span<const float> raw, double mean) {
  auto view = torch::from_blob(const_cast<float*>(raw.data()), {std::ssize(raw)});  // RIGHT: torch-blob-lifetime (the difference is a copy)
  return view - mean;
}

int main() {
  torch::manual_seed(5);
  ClassMoments moments{StatsConfig{.classes = 4, .dim = 64, .name = "embeddings"}};
  Histogram hist(-4, 8, 48);

  // The prior is only read, so that one tensor can stand for all classes.
  std::vector<torch::Tensor> priors(4, torch::full({64}, 0.5));  // RIGHT: torch-fill-alias (only read)

  for (int round : std::views::iota(0, 50))
    for (int64_t k : std::views::iota(0, 4))
      feed(k, torch::randn({32, 64}) + double(k) * (round % 2 ? 1.0 : 0.8), moments, hist);

  auto all = std::views::iota(int64_t{0}, moments.config().classes);
  for (auto k : all)
    std::printf("%s %ld: mean %.3f var %.3f\n", moments.config().name.data(), long(k),
                (moments.mean(k) * priors[k]).sum().item<double>(),
                moments.variance(k).mean().item<double>());

  std::array<float, 6> raw{1, 2, 3, 4, 5, 6};
  std::printf("hist mean %.3f, raw %.2f\n", hist.mean(0).item<double>(),
              normalise(raw, 3.5).abs().max().item<double>());
}
