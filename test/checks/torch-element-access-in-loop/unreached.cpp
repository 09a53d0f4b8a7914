// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Minor: true}}"
//
// What the program runs by a class that it makes, and what only others would run: the one
// place that makes those is in a function that nobody calls.
// UNNAMED: benchmark
#include <torch/torch.h>

static double added(const torch::Tensor &values) {
  double total = 0;
  for (int64_t i = 0; i < values.size(0); ++i)
    total += values[i].item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 'values' are read one at a time
  return total;
}

// Named by Peaked alone, of which benchmark() makes one.
static double highest(const torch::Tensor &values) {
  double top = 0;
  for (int64_t i = 0; i < values.size(0); ++i)
    top = std::max(top, values[i].item<double>());
  return top;
}

struct Sampler {
  virtual ~Sampler() = default;
  virtual double weigh(const torch::Tensor &values) const { return added(values); }
};

struct Peaked : Sampler {
  double weigh(const torch::Tensor &values) const override {
    double weight = highest(values);
    for (int64_t i = 0; i < values.size(0); ++i)
      weight -= values[i].item<double>();
    return weight;
  }
};

static double evaluate(const Sampler &sampler) {
  return sampler.weigh(torch::rand({10000}));
}

static double benchmark() {
  return evaluate(Peaked());
}

static std::vector<std::unique_ptr<Sampler>> samplers() {
  std::vector<std::unique_ptr<Sampler>> all;
  all.push_back(std::make_unique<Sampler>());
  return all;
}

int main() {
  // return benchmark() > 0;
  double best = 0;
  for (const auto &sampler : samplers())
    best = std::max(best, evaluate(*sampler));
  return best > 0;
}
