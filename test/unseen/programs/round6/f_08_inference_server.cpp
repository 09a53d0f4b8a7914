// Scoring service: clients submit feature rows, worker threads batch them and answer
// through futures. Every worker owns a replica of the model.
#include <ATen/ThreadLocalState.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

// From cuda_runtime_api.h, which the CPU build hosts do not have.
extern "C" int cudaMalloc(void** pointer, size_t bytes);
extern "C" int cudaFree(void* pointer);

namespace nn = torch::nn;
using Clock = std::chrono::steady_clock;

struct ServerConfig {
  int64_t features = 64;
  int64_t hidden = 128;
  int64_t classes = 10;
  int64_t maxBatch = 16;
  int64_t ringRows = 256;
  size_t workers = 2;
  double temperature = 1.3;
};

struct Reply {
  int64_t label = -1;
  float score = 0.0f;
};

struct Request {
  std::vector<float> features;
  std::promise<Reply> reply;
};

template <typename T>
class WorkQueue {
 public:
  void push(T item) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) throw std::runtime_error("the queue is closed");
    items_.push_back(std::move(item));
    ready_.notify_one();
  }

  // Waits for work; empty once the queue is closed and drained.
  std::vector<T> popUpTo(size_t limit) {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !items_.empty(); });
    std::vector<T> out;
    while (!items_.empty() && out.size() < limit) {
      out.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    return out;
  }

  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    ready_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

class Metrics {
 public:
  void countBatch(const torch::Tensor& scores) {
    rows_ += scores.size(0);
    bytes_ += static_cast<int64_t>(scores.nbytes());
  }
  void forward(Clock::duration d) { forwardNs_ += std::chrono::duration_cast<std::chrono::nanoseconds>(d).count(); }
  void latency(Clock::duration d) { latencyNs_ += std::chrono::duration_cast<std::chrono::nanoseconds>(d).count(); }
  void print(std::ostream& out) const {
    const double rows = std::max<double>(1.0, static_cast<double>(rows_.load()));
    out << "rows " << rows_ << " bytes " << bytes_ << " forward us/row " << forwardNs_ / rows / 1e3
        << " latency us/row " << latencyNs_ / rows / 1e3 << "\n";
  }

 private:
  std::atomic<int64_t> rows_{0}, bytes_{0}, forwardNs_{0}, latencyNs_{0};
};

class ScorerImpl : public nn::Cloneable<ScorerImpl> {
 public:
  explicit ScorerImpl(const ServerConfig& cfg) : cfg_(cfg), temperature_(torch::tensor(cfg.temperature)) { reset(); }

  void reset() override {
    mask_ = register_buffer("mask", torch::ones({cfg_.features}));
    lower_ = register_module("lower", nn::Linear(cfg_.features, cfg_.hidden));
    upper_ = register_module("upper", nn::Linear(cfg_.hidden, cfg_.classes));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto h = torch::relu(lower_(x * mask_));  // RIGHT: torch-device-mismatch (the mask is a buffer and moves with the module)
    return torch::softmax(upper_(h) / temperature_, 1);  // RIGHT: torch-device-mismatch (a zero-dimensional CPU tensor mixes with CUDA operands)
  }

 private:
  ServerConfig cfg_;
  torch::Tensor mask_, temperature_;
  nn::Linear lower_{nullptr}, upper_{nullptr};
};
TORCH_MODULE(Scorer);

Scorer replicate(const Scorer& model, torch::Device device) {
  auto copy = std::dynamic_pointer_cast<ScorerImpl>(model->clone(device));
  if (!copy) throw std::logic_error("the clone has another type");
  copy->eval();
  return Scorer(copy);
}

void waitFor(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize();
}

// The dashboards map these blocks through IPC handles, which the caching allocator does not give out.
torch::Tensor sharedScores(int64_t rows, int64_t columns) {
  void* block = nullptr;
  if (cudaMalloc(&block, rows * columns * sizeof(float)) != 0) throw std::bad_alloc();
  return torch::from_blob(block, {rows, columns}, torch::TensorOptions(torch::kFloat32).device(torch::kCUDA));  // EXPECT: torch-untracked-cuda-memory
}

torch::Tensor sharedCounts(int64_t classes) {
  void* block = nullptr;
  if (cudaMalloc(&block, classes * sizeof(int64_t)) != 0) throw std::bad_alloc();
  const auto options = torch::TensorOptions(torch::kInt64).device(torch::kCUDA);
  return torch::from_blob(block, {classes}, [](void* p) { cudaFree(p); }, options).zero_();  // RIGHT: torch-untracked-cuda-memory (the deleter frees the block)
}

// The latest scores of one worker; every lap starts afresh.
class ScoreRing {
 public:
  ScoreRing(const ServerConfig& cfg, torch::Device device) : rows_(cfg.ringRows), classes_(cfg.classes), device_(device) {
    clear();
  }

  void clear() {
    next_ = 0;
    if (device_.is_cuda()) {
      data_ = sharedScores(rows_, classes_).zero_();
      counts_ = sharedCounts(classes_);
    } else {
      data_ = torch::zeros({rows_, classes_});
      counts_ = torch::zeros({classes_}, torch::kInt64);
    }
  }

  void append(const torch::Tensor& scores) {
    const auto rows = scores.size(0);
    if (next_ + rows > rows_) clear();
    data_.narrow(0, next_, rows).copy_(scores.detach());
    counts_.add_(torch::bincount(scores.argmax(1), {}, classes_));
    next_ += rows;
  }

  torch::Tensor hostScores() const {
    auto host = data_.to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy (the next line waits for it)
    waitFor(device_);
    return host;
  }

  const torch::Tensor& counts() const { return counts_; }

 private:
  int64_t rows_, classes_, next_ = 0;
  torch::Device device_;
  torch::Tensor data_, counts_;
};

struct BatchInput {
  torch::Tensor x;
  int64_t rows = 0;
};

class Worker {
 public:
  Worker(const ServerConfig& cfg, const Scorer& model, torch::Device device, Metrics& metrics)
      : cfg_(cfg), device_(device), model_(replicate(model, device)), ring_(cfg, device), metrics_(metrics) {}

  void serve(WorkQueue<Request>& queue) {
    for (;;) {
      auto batch = queue.popUpTo(static_cast<size_t>(cfg_.maxBatch));
      if (batch.empty()) return;
      try {
        runBatch(batch);
      } catch (const std::exception&) {
        for (auto& request : batch) request.reply.set_exception(std::current_exception());
      }
    }
  }

  const ScoreRing& ring() const { return ring_; }

 private:
  BatchInput gather(const std::vector<Request>& batch) const {
    std::vector<float> rows;
    rows.reserve(cfg_.maxBatch * cfg_.features);
    for (const auto& request : batch) rows.insert(rows.end(), request.features.begin(), request.features.end());
    rows.resize(cfg_.maxBatch * cfg_.features, 0.0f);
    BatchInput in;
    in.rows = static_cast<int64_t>(batch.size());
    in.x = torch::from_blob(rows.data(), {cfg_.maxBatch, cfg_.features});  // EXPECT: torch-blob-lifetime
    return in;
  }

  static void answer(std::vector<Request>& batch, const torch::Tensor& scores) {
    const auto table = scores.accessor<float, 2>();
    for (int64_t i = 0; i < scores.size(0); ++i) {
      Reply reply;
      for (int64_t c = 0; c < scores.size(1); ++c) reply = table[i][c] > reply.score ? Reply{c, table[i][c]} : reply;
      batch[i].reply.set_value(reply);
    }
  }

  void runBatch(std::vector<Request>& batch) {
    const auto begin = Clock::now();
    model_->to(device_);  // EXPECT: torch-redundant-transfer
    const auto in = gather(batch);
    const auto x = in.x.to(device_);
    const auto started = Clock::now();
    auto scores = model_->forward(x).narrow(0, 0, in.rows);
    metrics_.forward(Clock::now() - started);  // EXPECT: torch-timing-without-sync
    ring_.append(scores);
    metrics_.countBatch(scores.cpu());  // EXPECT: torch-transfer-for-metadata
    answer(batch, scores.cpu());  // RIGHT: torch-transfer-for-metadata (the values are read on the host)
    metrics_.latency(Clock::now() - begin);  // RIGHT: torch-timing-without-sync (the copy to the host has waited for the kernels)
  }

  const ServerConfig cfg_;
  torch::Device device_;
  Scorer model_;
  ScoreRing ring_;
  Metrics& metrics_;
};

torch::Tensor wrapRow(std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  const auto count = static_cast<int64_t>(owner->size());
  return torch::from_blob(owner->data(), {count}, [owner](void*) {}, torch::kFloat32);  // RIGHT: torch-blob-lifetime (the deleter keeps the vector alive)
}

torch::Tensor probeRows(const ServerConfig& cfg) {
  std::mt19937 rng(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(cfg.maxBatch * cfg.features);
  for (auto& v : values) v = normal(rng);
  return torch::from_blob(values.data(), {cfg.maxBatch, cfg.features}).clone();  // RIGHT: torch-blob-lifetime (the clone owns its memory)
}

std::vector<int64_t> toVector(const torch::Tensor& counts) {
  const auto* first = counts.const_data_ptr<int64_t>();
  return {first, first + counts.numel()};
}

class Server {
 public:
  Server(const ServerConfig& cfg, const Scorer& model, torch::Device device)
      : cfg_(cfg), device_(device), offline_(replicate(model, device)), probe_(probeRows(cfg)) {
    for (size_t i = 0; i < cfg.workers; ++i) workers_.push_back(std::make_unique<Worker>(cfg, model, device, metrics_));
    torch::InferenceMode guard;
    golden_ = offline_->forward(probe_.to(device_)).cpu();
  }

  ~Server() { stop(); }

  void start() {
    torch::InferenceMode guard;  // EXPECT: torch-thread-local-guard
    for (auto& worker : workers_) threads_.emplace_back([this, &worker] { worker->serve(queue_); });
  }

  void stop() {
    queue_.close();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  std::future<Reply> submit(std::vector<float> features) {
    if (static_cast<int64_t>(features.size()) != cfg_.features) throw std::invalid_argument("wrong number of features");
    Request request;
    request.features = std::move(features);
    auto future = request.reply.get_future();
    queue_.push(std::move(request));
    return future;
  }

  void reload(std::istream& checkpoint) {
    Scorer fresh(cfg_);
    torch::load(fresh, checkpoint);
    fresh->to(device_);  // RIGHT: torch-redundant-transfer (the module was just made on the CPU)
    fresh->eval();
    offline_ = fresh;
  }

  std::future<double> checkLater() {
    return std::async(std::launch::async, [this] {
      torch::InferenceMode guard;  // RIGHT: torch-thread-local-guard (set in the thread that computes)
      return drift(offline_->forward(probe_.to(device_)));
    });
  }

  std::vector<torch::Tensor> scoreOffline(const std::vector<torch::Tensor>& shards) {
    torch::NoGradGuard noGrad;  // RIGHT: torch-thread-local-guard (the jobs take over the state of this thread)
    const at::ThreadLocalState state;
    std::vector<std::future<torch::Tensor>> jobs;
    for (const auto& shard : shards) {
      jobs.push_back(std::async(std::launch::async, [this, &shard, &state] {
        at::ThreadLocalStateGuard scope(state);
        return offline_->forward(shard.to(device_));
      }));
    }
    std::vector<torch::Tensor> scores;
    for (auto& job : jobs) scores.push_back(job.get());
    return scores;
  }

  double benchmark(int64_t rounds) {
    torch::InferenceMode guard;
    const auto x = torch::ones({cfg_.maxBatch, cfg_.features}, device_);
    auto scores = offline_->forward(x);
    waitFor(device_);
    const auto begin = Clock::now();
    for (int64_t i = 0; i < rounds; ++i) scores = offline_->forward(x);
    waitFor(device_);
    return std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(rounds);  // RIGHT: torch-timing-without-sync (waitFor() before both readings)
  }

  void report(std::ostream& out) const {
    metrics_.print(out);
    for (const auto& worker : workers_) {
      const auto counts = toVector(worker->ring().counts().to(torch::kCPU, /*non_blocking=*/true));  // EXPECT: torch-unsynchronized-copy
      for (const auto count : counts) out << count << " ";
      out << "| highest score " << worker->ring().hostScores().max().item<float>() << "\n";
    }
  }

 private:
  double drift(const torch::Tensor& scores) const {
    return scores.sub(golden_).abs_().max().item<double>();  // EXPECT: torch-device-mismatch
  }

  const ServerConfig cfg_;
  torch::Device device_;
  Metrics metrics_;
  Scorer offline_;
  torch::Tensor probe_, golden_;
  WorkQueue<Request> queue_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

int main() {
  torch::manual_seed(3);
  const ServerConfig cfg;
  const torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  Scorer model(cfg);
  Server server(cfg, model, device);
  server.start();

  std::mt19937 rng(17);
  std::normal_distribution<float> normal;
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < 200; ++i) {
    std::vector<float> row(cfg.features);
    for (auto& v : row) v = normal(rng);
    replies.push_back(server.submit(std::move(row)));
  }
  double sum = 0.0;
  for (auto& reply : replies) sum += reply.get().score;
  std::cout << "mean score " << sum / static_cast<double>(replies.size()) << "\n";

  std::stringstream checkpoint;
  torch::save(model, checkpoint);
  server.reload(checkpoint);
  std::cout << "drift " << server.checkLater().get() << " s/batch " << server.benchmark(20) << "\n";
  const auto bias = wrapRow(std::vector<float>(cfg.features, 0.5f));
  const auto scores = server.scoreOffline({torch::randn({8, cfg.features}).add_(bias), torch::randn({4, cfg.features})});
  std::cout << "offline shards " << scores.size() << "\n";
  server.stop();
  server.report(std::cout);
  return 0;
}
