// Click-through model: sharded impression logs, prefetching, a small DeepFM with experts, scoring.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int64_t kFields = 5;
constexpr int64_t kDense = 6;

struct LogShard {
  std::vector<int64_t> ids;
  std::vector<uint8_t> dense;
  std::vector<uint8_t> hour;
  std::vector<float> clicks;
  size_t rows() const { return clicks.size(); }
};

struct Batch {
  torch::Tensor ids, dense, hour, clicks;
};

LogShard simulate_shard(size_t rows, int64_t cardinality, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int64_t> id(0, cardinality - 1);
  std::uniform_int_distribution<int> byte(0, 255), hour(0, 23);
  std::uniform_real_distribution<float> u(0.f, 1.f);
  LogShard shard;
  for (size_t r = 0; r < rows; ++r) {
    float score = -1.2f;
    for (int64_t f = 0; f < kFields; ++f) {
      const auto v = id(rng);
      shard.ids.push_back(v);
      score += (v * (f + 3)) % 7 < 2 ? 0.8f : -0.1f;
    }
    for (int64_t k = 0; k < kDense; ++k) shard.dense.push_back(static_cast<uint8_t>(byte(rng)));
    const int h = hour(rng);
    shard.hour.push_back(static_cast<uint8_t>(h));
    score += h > 17 ? 0.5f : 0.f;
    shard.clicks.push_back(u(rng) < 1.f / (1.f + std::exp(-score)) ? 1.f : 0.f);
  }
  return shard;
}

class Impressions : public torch::data::datasets::BatchDataset<Impressions, Batch> {
 public:
  explicit Impressions(std::shared_ptr<const LogShard> shard) : shard_(std::move(shard)) {}

  Batch get_batch(c10::ArrayRef<size_t> rows) override {
    const auto n = static_cast<int64_t>(rows.size());
    Batch b{torch::empty({n, kFields}, torch::kLong), torch::empty({n, kDense}, torch::kUInt8),
            torch::empty({n, 1}, torch::kUInt8), torch::empty({n}, torch::kFloat32)};
    auto ids = b.ids.accessor<int64_t, 2>();
    auto dense = b.dense.accessor<uint8_t, 2>();
    auto* hour = b.hour.data_ptr<uint8_t>();
    auto* clicks = b.clicks.data_ptr<float>();
    for (int64_t i = 0; i < n; ++i) {
      const size_t r = rows[i];
      for (int64_t f = 0; f < kFields; ++f) ids[i][f] = shard_->ids[r * kFields + f];  // RIGHT: torch-element-access-in-loop
      for (int64_t k = 0; k < kDense; ++k) dense[i][k] = shard_->dense[r * kDense + k];
      hour[i] = shard_->hour[r];
      clicks[i] = shard_->clicks[r];
    }
    return b;
  }
  std::optional<size_t> size() const override { return shard_->rows(); }

 private:
  std::shared_ptr<const LogShard> shard_;
};

struct ModelOptions {
  int64_t cardinality = 50;
  int64_t dim = 8;
  int64_t experts = 3;
  int64_t hidden = 16;
};

class DeepFMImpl : public torch::nn::Module {
 public:
  explicit DeepFMImpl(const ModelOptions& o) {
    offsets_ = register_buffer("offsets", torch::arange(kFields) * o.cardinality);
    table_ = register_module("table", torch::nn::Embedding(kFields * o.cardinality, o.dim));
    linear_ = register_module("linear", torch::nn::Embedding(kFields * o.cardinality, 1));
    const int64_t in = kFields * o.dim + kDense + 1;
    for (int64_t e = 0; e < o.experts; ++e) {
      experts_.emplace_back(torch::nn::Linear(in, o.hidden));  // EXPECT: torch-unregistered-module
    }
    gate_ = register_module("gate", torch::nn::Linear(in, o.experts));
    heads_ = register_module("heads", torch::nn::ModuleList());
    for (int task = 0; task < 2; ++task) {
      heads_->push_back(torch::nn::Linear(o.hidden, 1));  // RIGHT: torch-unregistered-module
    }
    for (auto& p : linear_->parameters()) torch::nn::init::zeros_(p);
  }

  std::pair<torch::Tensor, torch::Tensor> forward(const Batch& b) {
    const auto flat_ids = b.ids + offsets_;
    const auto emb = table_->forward(flat_ids);
    const auto pooled = emb.sum(1);
    const auto fm = 0.5 * (pooled.square() - emb.square().sum(1)).sum(1);
    const auto x = torch::cat({emb.flatten(1), b.dense, b.hour}, 1);
    std::vector<torch::Tensor> outs;
    outs.reserve(experts_.size());
    for (auto& e : experts_) outs.push_back(torch::relu(e->forward(x)));
    const auto mix = torch::softmax(gate_->forward(x), 1);
    const auto h = (torch::stack(outs, 1) * mix.unsqueeze(-1)).sum(1);
    const auto first = linear_->forward(flat_ids).sum({1, 2});
    const auto click = heads_[0]->as<torch::nn::Linear>()->forward(h).squeeze(1);
    const auto dwell = heads_[1]->as<torch::nn::Linear>()->forward(h).squeeze(1);
    return {click + fm + first, dwell};
  }

  torch::Tensor table_weight() const { return table_->weight; }

 private:
  torch::Tensor offsets_;
  torch::nn::Embedding table_{nullptr}, linear_{nullptr};
  std::vector<torch::nn::Linear> experts_;
  torch::nn::Linear gate_{nullptr};
  torch::nn::ModuleList heads_{nullptr};
};
TORCH_MODULE(DeepFM);

// Bounded hand-over between the reader thread and the trainer.
template <typename T>
class Channel {
 public:
  explicit Channel(size_t capacity) : capacity_(capacity) {}
  void push(T item) {
    std::unique_lock<std::mutex> lock(mutex_);
    room_.wait(lock, [this] { return items_.size() < capacity_; });
    items_.push_back(std::move(item));
    data_.notify_one();
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    data_.notify_all();
  }
  std::optional<T> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    data_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    room_.notify_one();
    return item;
  }

 private:
  size_t capacity_;
  bool closed_ = false;
  std::deque<T> items_;
  std::mutex mutex_;
  std::condition_variable room_, data_;
};

using ShardPtr = std::shared_ptr<const LogShard>;

void for_each_batch(const ShardPtr& shard, int64_t size, bool pin, const std::function<void(const Batch&)>& visit) {
  Channel<Batch> channel(4);
  std::thread reader([&] {
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Impressions(shard), torch::data::DataLoaderOptions().batch_size(size));  // RIGHT: torch-dataset-copied
    for (auto& batch : *loader) {
      if (pin) batch.ids = batch.ids.pin_memory();
      channel.push(std::move(batch));
    }
    channel.close();
  });
  while (auto batch = channel.pop()) visit(*batch);
  reader.join();
}

Batch stage(const Batch& b, torch::Device device) {
  Batch out;
  out.ids = b.ids.to(device, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
  out.dense = b.dense.to(torch::kFloat32).to(device).div_(255.0);  // EXPECT: torch-convert-before-transfer
  out.hour = b.hour.to(device).to(torch::kFloat32).div_(23.0);  // RIGHT: torch-convert-before-transfer
  out.clicks = b.clicks.to(device, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
  return out;
}

double rank_auc(const torch::Tensor& scores, const torch::Tensor& labels) {
  const auto order = scores.argsort(int64_t{0});
  const auto sorted = labels.index_select(0, order);
  const auto ranks = torch::arange(1, sorted.size(0) + 1, torch::dtype(torch::kFloat64).device(sorted.device()));
  const double positives = sorted.sum().item<double>();
  const double negatives = static_cast<double>(sorted.size(0)) - positives;
  if (positives == 0.0 || negatives == 0.0) return 0.5;
  const double rank_sum = (ranks * sorted).sum().item<double>();
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

struct Session {
  DeepFM model;
  torch::Device device;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  int64_t batch_size = 64;
  int accumulate = 2;
  bool pin() const { return device.type() == torch::kCUDA; }  // RIGHT: torch-device-comparison
};

double train_epoch(Session& s, const std::vector<ShardPtr>& shards) {
  s.model->train();
  auto total = torch::zeros({}, torch::device(s.device));
  int64_t step = 0;
  s.optimizer->zero_grad();
  for (const auto& shard : shards) {
    for_each_batch(shard, s.batch_size, s.pin(), [&](const Batch& raw) {
      const auto batch = stage(raw, s.device);
      const auto [click, dwell] = s.model->forward(batch);
      const auto p = torch::sigmoid(click);
      const auto main = torch::binary_cross_entropy(p, batch.clicks);  // EXPECT: torch-unfused-operation
      const auto late = batch.hour.squeeze(1) * batch.clicks;
      const auto aux = torch::binary_cross_entropy_with_logits(dwell, late);  // RIGHT: torch-unfused-operation
      const auto loss = (main + 0.2 * aux) / s.accumulate;
      loss.backward();  // RIGHT: torch-missing-zero-grad
      total += loss.detach();  // RIGHT: torch-retained-graph
      if (++step % s.accumulate == 0) {
        s.optimizer->step();
        s.optimizer->zero_grad();
      }
    });
  }
  return total.item<double>() * s.accumulate / static_cast<double>(std::max<int64_t>(step, 1));
}

std::map<std::string, double> evaluate(Session& s, const ShardPtr& shard) {
  torch::NoGradGuard no_grad;
  s.model->eval();
  torch::Tensor scores = torch::empty({0}, torch::device(s.device));
  std::vector<torch::Tensor> labels;
  for_each_batch(shard, s.batch_size, s.pin(), [&](const Batch& raw) {
    const auto batch = stage(raw, s.device);
    scores = torch::cat({scores, s.model->forward(batch).first});  // EXPECT: torch-cat-in-loop
    labels.push_back(batch.clicks);
  });
  const auto truth = torch::cat(labels);  // RIGHT: torch-cat-in-loop
  s.model->train();
  return {{"auc", rank_auc(scores, truth)},
          {"logloss", torch::binary_cross_entropy_with_logits(scores, truth).item<double>()}};
}

// Answers ranking requests with a trained model.
class Ranker {
 public:
  Ranker(DeepFM model, torch::Device device) : model_(std::move(model)), device_(device) {
    model_->eval();
    if (model_->table_weight().device() == torch::Device(torch::kCUDA)) {  // EXPECT: torch-device-comparison
      torch::cuda::synchronize();
      std::puts("ranker: tables resident on the GPU");
    }
  }

  std::vector<size_t> top(Batch candidates, size_t k) {
    if (device_.is_cuda()) candidates.ids = candidates.ids.pin_memory();
    const auto [click, dwell] = model_->forward(stage(candidates, device_));  // EXPECT: torch-missing-no-grad
    const auto value = torch::sigmoid(click) * (1.0 + 0.1 * torch::sigmoid(dwell));
    const auto host = value.to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    const float* v = host.data_ptr<float>();
    std::vector<size_t> order(static_cast<size_t>(host.numel()));
    std::iota(order.begin(), order.end(), size_t{0});
    k = std::min(k, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<long>(k), order.end(),
                      [v](size_t a, size_t b) { return v[a] > v[b]; });
    order.resize(k);
    return order;
  }

  std::vector<float> field_norms() {
    torch::NoGradGuard no_grad;
    const auto norms = model_->table_weight().view({kFields, -1}).norm(2, 1);
    const auto host = norms.to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy
    if (device_.is_cuda()) torch::cuda::synchronize();  // RIGHT: torch-device-comparison
    const float* p = host.data_ptr<float>();
    return {p, p + host.numel()};
  }

 private:
  DeepFM model_;
  torch::Device device_;
};

}  // namespace

int main() {
  torch::manual_seed(11);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const ModelOptions options;
  std::vector<ShardPtr> shards;
  for (uint32_t day = 0; day < 3; ++day) {
    shards.push_back(std::make_shared<const LogShard>(simulate_shard(512, options.cardinality, 100 + day)));
  }
  const auto holdout = std::make_shared<const LogShard>(simulate_shard(400, options.cardinality, 999));

  DeepFM model(options);
  model->to(device);
  Session session{model, device,
                  std::make_unique<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-2))};
  for (int epoch = 0; epoch < 4; ++epoch) {
    const double loss = train_epoch(session, shards);
    const auto metrics = evaluate(session, holdout);
    std::printf("epoch %d loss %.4f auc %.4f logloss %.4f\n", epoch, loss, metrics.at("auc"), metrics.at("logloss"));
  }

  Ranker ranker(model, device);
  std::vector<size_t> rows(32);
  std::iota(rows.begin(), rows.end(), size_t{0});
  const auto best = ranker.top(Impressions(holdout).get_batch(rows), 3);
  for (auto r : best) std::printf("candidate %zu clicked %.0f\n", r, holdout->clicks[r]);
  for (float n : ranker.field_norms()) std::printf("%.3f ", n);
  std::puts("");
  return 0;
}
