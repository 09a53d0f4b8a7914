// Clustering of points by repeated means, with plain tensors.

#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kPoints = 200;
constexpr int64_t kClusters = 64;
constexpr int64_t kWidth = 64;

class Clustering {
 public:
  explicit Clustering(torch::Tensor points)
      : points_(std::move(points)),
        centres_(torch::randn({kClusters, kWidth})),
        prior_(torch::rand({kPoints, kClusters}, torch::kDouble)) {}

  void iterate(int iterations) {
    for (int i = 0; i < iterations; ++i) {  // AT I
      const auto labels = nearest();
      const auto counts = torch::bincount(labels, {}, kClusters).clamp_min(1).unsqueeze(1);
      // PLANT innocent torch-allocation-in-loop/same-shape loop=I: the sums of each iteration stay in the list
      auto sums = torch::zeros({kClusters, kWidth});
      sums.index_add_(0, labels, points_);
      trail_.push_back(sums);
      centres_ = 0.5 * centres_ + 0.5 * sums / counts;
      spread_ = spread();
    }
  }

  torch::Tensor nearest() const {
    // PLANT true torch-repeated-transfer/converts loop=I: the prior never changes
    const auto prior = prior_.to(torch::kFloat);
    // PLANT true torch-repeat-for-broadcast/repeated loop=I: the subtraction would stretch the points
    const auto apart = (points_.unsqueeze(1).repeat({1, kClusters, 1}) - centres_.unsqueeze(0)).pow(2).sum(2);
    return (apart + 0.1 * prior).argmin(1);
  }

  double centred() const {
    // PLANT innocent torch-redundant-transfer/clone loop=R: the points are floats already, and the copy is written
    auto copy = points_.clone().to(torch::kFloat);
    copy.sub_(copy.mean(0));
    return copy.abs().max().item<double>();
  }

  double lastSpread() const { return spread_; }
  double moved() const { return (trail_.front() - trail_.back()).norm().item<double>(); }
  double length() const { return points_.norm().item<double>(); }

 private:
  double spread() const {
    // PLANT innocent torch-noncontiguous-operand/needless loop=I: a single row that is turned lies in order already
    const auto column = points_.view({1, -1}).t().contiguous();
    return (column * 0.5 - 1).abs().mean().item<double>();
  }

  torch::Tensor points_;
  torch::Tensor centres_;
  torch::Tensor prior_;
  std::vector<torch::Tensor> trail_;
  double spread_ = 0;
};

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  const auto middles = 3 * torch::randn({8, kWidth});
  const auto which = torch::randint(8, {kPoints}, torch::kLong);
  Clustering clustering(middles.index_select(0, which) + torch::randn({kPoints, kWidth}));
  const double length = clustering.length();
  clustering.iterate(40);

  double largest = 0;
  for (int i = 0; i < 40; ++i) {  // AT R
    largest = std::max(largest, clustering.centred());
  }
  const auto labels = clustering.nearest();
  int64_t used = 0;
  for (int64_t cluster = 0; cluster < kClusters; ++cluster)
    used += labels.eq(cluster).any().item<bool>() ? 1 : 0;
  std::cout << used << " clusters, spread " << clustering.lastSpread() << ", moved " << clustering.moved()
            << ", largest " << largest << ", same points " << (length == clustering.length()) << '\n';
  return 0;
}
