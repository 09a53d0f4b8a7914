// Trains a small convolutional network on synthetic glyphs (rings, bars,
// crosses ...). Each epoch is served by a loader with a background thread that
// augments batches ahead of the training loop.
#include <torch/torch.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kSide = 32;
constexpr int64_t kClasses = 8;
constexpr int64_t kBatch = 64;

struct Batch {
  torch::Tensor images;
  torch::Tensor labels;
};

struct GlyphSet {
  torch::Tensor images;
  torch::Tensor labels;
  torch::Tensor order;

  int64_t size() const { return images.size(0); }

  Batch slice(int64_t begin, int64_t count) const {
    if (!order.defined())
      return {images.narrow(0, begin, count), labels.narrow(0, begin, count)};
    const torch::Tensor rows = order.narrow(0, begin, count);
    return {images.index_select(0, rows), labels.index_select(0, rows)};
  }

  // The same glyphs in another order.
  GlyphSet shuffled() const {
    const torch::Tensor rows = torch::randperm(size(), torch::kLong);
#ifdef MENDED
    return {images, labels, rows};
#else
    return {images.index_select(0, rows), labels.index_select(0, rows), {}};
#endif
  }
};

GlyphSet drawGlyphs(int64_t count) {
  const torch::Tensor axis = torch::linspace(-1.0, 1.0, kSide);
  const torch::Tensor x = axis.view({1, kSide}).expand({kSide, kSide});
  const torch::Tensor y = axis.view({kSide, 1}).expand({kSide, kSide});
  const torch::Tensor radius = (x * x + y * y).sqrt();
  std::vector<torch::Tensor> shapes = {
      (radius - 0.6).abs() < 0.15,
      radius < 0.45,
      x.abs() < 0.2,
      y.abs() < 0.2,
      (x.abs() < 0.15).logical_or(y.abs() < 0.15),
      ((x - y).abs() < 0.2).logical_or((x + y).abs() < 0.2),
      (x * y) > 0.1,
      torch::sin(x * 9.0) > 0.2,
  };
  const torch::Tensor table = torch::stack(shapes).to(torch::kFloat);

  GlyphSet set;
  set.labels = torch::randint(kClasses, {count}, torch::kLong);
  const torch::Tensor tint = torch::rand({count, 3, 1, 1}) * 0.8 + 0.2;
  set.images = table.index_select(0, set.labels).unsqueeze(1) * tint;
  set.images.add_(torch::randn_like(set.images), 0.45);
  return set;
}

// Serves one epoch. A thread prepares batches, at most `kAhead` in advance.
class EpochLoader {
public:
  explicit EpochLoader(GlyphSet set) : set_(std::move(set)) {
    thread_ = std::thread([this] { prepare(); });
  }

  ~EpochLoader() {
    if (thread_.joinable())
      thread_.join();
  }

  EpochLoader(const EpochLoader &) = delete;
  EpochLoader &operator=(const EpochLoader &) = delete;

  std::optional<Batch> next() {
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || done_; });
    waited_ += std::chrono::steady_clock::now() - start;
    if (ready_.empty())
      return std::nullopt;
    Batch batch = std::move(ready_.front());
    ready_.pop();
    ++served_;
    changed_.notify_all();
    return batch;
  }

  double waitedSeconds() const { return waited_.count(); }
  int64_t served() const { return served_; }

private:
  static constexpr size_t kAhead = 3;

  void prepare() {
    const int64_t size = set_.size();
    for (int64_t begin = 0; begin + kBatch <= size; begin += kBatch) {
      Batch batch = set_.slice(begin, kBatch);
      batch.images = batch.images + torch::randn({kBatch, 1, 1, 1}) * 0.1;
      if (begin / kBatch % 2 == 1)
        batch.images = batch.images.roll({1, -1}, {2, 3});
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return ready_.size() < kAhead; });
      ready_.push(std::move(batch));
      changed_.notify_all();
    }
    std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  GlyphSet set_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<Batch> ready_;
  std::chrono::duration<double> waited_{0.0};
  int64_t served_ = 0;
  bool done_ = false;
};

struct GlyphNetImpl : torch::nn::Module {
  GlyphNetImpl() {
    using torch::nn::Conv2dOptions;
    conv1 = register_module(
        "conv1", torch::nn::Conv2d(Conv2dOptions(3, 16, 3).padding(1)));
    conv2 = register_module(
        "conv2", torch::nn::Conv2d(Conv2dOptions(16, 32, 3).padding(1)));
    norm = register_module("norm", torch::nn::BatchNorm2d(32));
    out = register_module("out", torch::nn::Linear(32 * 8 * 8, kClasses));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(conv1(x)), 2);
    x = torch::max_pool2d(torch::relu(norm(conv2(x))), 2);
    return out(x.flatten(1));
  }

  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Linear out{nullptr};
};
TORCH_MODULE(GlyphNet);

double accuracy(GlyphNet &net, const GlyphSet &set) {
  torch::NoGradGuard guard;
  net->eval();
  int64_t correct = 0;
  for (int64_t begin = 0; begin + kBatch <= set.size(); begin += kBatch) {
    const Batch batch = set.slice(begin, kBatch);
    const torch::Tensor guess = net->forward(batch.images).argmax(1);
    correct += guess.eq(batch.labels).sum().item<int64_t>();
  }
  net->train();
  return static_cast<double>(correct) / static_cast<double>(set.size());
}

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 400;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(11);
  const GlyphSet train = drawGlyphs(1024);
  const GlyphSet held_out = drawGlyphs(256);
  GlyphNet net;
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.01).momentum(0.9));

  std::vector<std::unique_ptr<EpochLoader>> loaders;
  for (int64_t done = 0, epoch = 1; done < iterations; ++epoch) {
    loaders.push_back(std::make_unique<EpochLoader>(train.shuffled()));
    EpochLoader &loader = *loaders.back();
    double loss_sum = 0.0;
    while (std::optional<Batch> batch = loader.next()) {
      optimizer.zero_grad();
      const torch::Tensor scores = net->forward(batch->images);
      const torch::Tensor loss =
          torch::nn::functional::cross_entropy(scores, batch->labels);
      loss.backward();
      optimizer.step();
      loss_sum += loss.item<double>();
      ++done;
    }
    if (epoch % 5 == 0)
      std::printf("epoch %2lld  loss %.4f  accuracy %.3f\n",
                  static_cast<long long>(epoch),
                  loss_sum / static_cast<double>(loader.served()),
                  accuracy(net, held_out));
  }

  double waited = 0.0;
  int64_t served = 0;
  for (const auto &loader : loaders) {
    waited += loader->waitedSeconds();
    served += loader->served();
  }
  std::printf("%lld batches, %.2f s spent waiting for data\n",
              static_cast<long long>(served), waited);
  return 0;
}
