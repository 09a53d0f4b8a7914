// Nearest class mean: the features of each class are summed up, and samples are
// given the class of the nearest mean. A network of several layers is counted.
// --size: that many times as many samples, and layers.
//
// MEASURE process errors factor=10
// MEASURE process missing-parameters more=500 unfixed
#include "measure.h"

#include <set>
#include <vector>

namespace {

constexpr int64_t classes = 8;
constexpr int64_t features = 16;

struct Samples {
  torch::Tensor x, label;
};

Samples record(const torch::Tensor &centers, int64_t count) {
  const auto label = torch::randint(classes, {count});
  const auto noise = torch::randn({count, features}) * 0.5;
  return {centers.index_select(0, label) + noise, label};
}

torch::Tensor means(const Samples &samples) {
  std::vector<torch::Tensor> sums(classes, torch::zeros({features})); // BAD
  std::vector<int64_t> counts(classes, 0);
  const auto labels = samples.label.accessor<int64_t, 1>();
  for (int64_t i = 0; i < labels.size(0); ++i) {
    sums[labels[i]] += samples.x[i];
    ++counts[labels[i]];
  }
  for (int64_t c = 0; c < classes; ++c)
    sums[c] = sums[c] / counts[c];
  return torch::stack(sums);
}

struct Deep : torch::nn::Module {
  explicit Deep(int64_t depth)
      : layers(depth, torch::nn::Linear(features, features)) { // BAD
    for (int64_t i = 0; i < depth; ++i)
      register_module("layer" + std::to_string(i), layers[i]);
  }
  std::vector<torch::nn::Linear> layers;
};

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const int64_t size = measure::size();
  torch::manual_seed(1);
  const auto centers = torch::randn({classes, features}) * 2;
  const auto learned = means(record(centers, 512 * size));
  const auto test = record(centers, 512);
  const auto nearest = torch::cdist(test.x, learned).argmin(1);
  measure::value("errors", 1 + nearest.ne(test.label).sum().item<double>());

  const int64_t depth = 4 * size;
  Deep net(depth);
  std::set<const void *> distinct;
  int64_t parameters = 0;
  for (const auto &p : net.parameters())
    if (distinct.insert(p.data_ptr()).second)
      parameters += p.numel();
  const int64_t expected = depth * features * (features + 1);
  measure::value("missing-parameters",
                 static_cast<double>(expected - parameters));
  return measure::finish();
}
