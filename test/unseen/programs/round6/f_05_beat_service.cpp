// Classification service for ECG strips.
//
// Requests are queued, worker threads collect them into batches, pad them to one of a few
// lengths and answer through futures. Feature vectors of recent patients are kept for drift
// monitoring, and the weights can be replaced while the service runs.
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace beats {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct ServiceConfig {
  int workers = 2;
  int64_t max_batch = 16;
  int64_t classes = 5;
  int64_t width = 32;
  std::vector<int64_t> lengths{128, 256, 512};
  size_t cache_capacity = 256;
  c10::DeviceIndex gpu = 0;
  std::chrono::milliseconds collect_time{3};
};

struct Reply {
  std::vector<float> probabilities;
  int64_t label = -1;
};

struct Request {
  int64_t patient = 0;
  std::vector<float> samples;
  std::promise<Reply> promise;
};

template <typename T>
class WorkQueue {
 public:
  void push(T item) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (closed_) throw std::runtime_error("queue is closed");
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
  }

  // Up to `limit` items; an empty result means that the queue is closed and drained.
  std::vector<T> collect(size_t limit, std::chrono::milliseconds wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (!closed_ && items_.size() < limit) {
      ready_.wait_for(lock, wait, [&] { return closed_ || items_.size() >= limit; });
    }
    std::vector<T> out;
    while (!items_.empty() && out.size() < limit) {
      out.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    return out;
  }

  bool finished() {
    std::lock_guard<std::mutex> lock(mutex_);
    return closed_ && items_.empty();
  }

  void close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

class BeatNetImpl : public torch::nn::Module {
 public:
  explicit BeatNetImpl(const ServiceConfig& cfg)
      : trunk_(register_module(
            "trunk", torch::nn::Sequential(
                         torch::nn::Conv1d(torch::nn::Conv1dOptions(1, cfg.width, 7).stride(2).padding(3)),
                         torch::nn::BatchNorm1d(cfg.width), torch::nn::ReLU(),
                         torch::nn::Conv1d(torch::nn::Conv1dOptions(cfg.width, cfg.width, 5).stride(2).padding(2)),
                         torch::nn::ReLU(), torch::nn::AdaptiveAvgPool1d(1)))),
        head_(register_module("head", torch::nn::Linear(cfg.width, cfg.classes))) {}

  torch::Tensor embed(const torch::Tensor& strips) { return trunk_->forward(strips).squeeze(-1); }
  torch::Tensor classify(const torch::Tensor& features) { return head_(features); }
  torch::Tensor forward(const torch::Tensor& strips) { return classify(embed(strips)); }

 private:
  torch::nn::Sequential trunk_;
  torch::nn::Linear head_;
};
TORCH_MODULE(BeatNet);

class FeatureCache {
 public:
  explicit FeatureCache(size_t capacity) : capacity_(capacity) {}

  void put(int64_t patient, torch::Tensor row) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.size() >= capacity_ && entries_.count(patient) == 0) entries_.erase(entries_.begin());
    entries_[patient] = std::move(row);
  }

  torch::Tensor mean() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.empty()) return {};
    std::vector<torch::Tensor> rows;
    for (const auto& [patient, row] : entries_) rows.push_back(row);
    return torch::stack(rows).mean(0);
  }

  int64_t dimension() {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.empty() ? 0 : entries_.begin()->second.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
  }

 private:
  size_t capacity_;
  std::mutex mutex_;
  std::map<int64_t, torch::Tensor> entries_;
};

class ComputeTimes {
 public:
  void add(Clock::duration spent) {
    std::lock_guard<std::mutex> lock(mutex_);
    total_ += std::chrono::duration_cast<Milliseconds>(spent).count();
    ++count_;
  }
  double mean() {
    std::lock_guard<std::mutex> lock(mutex_);
    return count_ == 0 ? 0.0 : total_ / count_;
  }

 private:
  std::mutex mutex_;
  double total_ = 0.0;
  int count_ = 0;
};

torch::Device choose_device(const ServiceConfig& cfg) {
  return torch::cuda::is_available() ? torch::Device(torch::kCUDA, cfg.gpu) : torch::Device(torch::kCPU);
}

torch::Tensor owned_row(const torch::Tensor& rows, int64_t index) { return rows.select(0, index).clone(); }

class BeatService {
 public:
  explicit BeatService(const ServiceConfig& cfg)
      : cfg_(cfg), device_(choose_device(cfg)), model_(cfg), cache_(cfg.cache_capacity) {
    model_->to(device_);
    model_->eval();  // RIGHT: torch-eval-mode-not-restored (a service never trains)
    warm_up();
  }
  ~BeatService() { stop(); }

  void start() {
    torch::NoGradGuard no_grad;  // EXPECT: torch-thread-local-guard
    for (int i = 0; i < cfg_.workers; ++i) {
      workers_.emplace_back([this] { serve(); });
    }
    monitor_ = std::thread([this] {
      torch::NoGradGuard monitor_guard;  // RIGHT: torch-thread-local-guard (made in the thread that computes)
      while (!stopping_) {
        drift_ = measure_drift();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }

  void stop() {
    stopping_ = true;
    queue_.close();
    for (auto& worker : workers_) worker.join();
    workers_.clear();
    if (monitor_.joinable()) monitor_.join();
  }

  std::future<Reply> submit(int64_t patient, std::vector<float> samples) {
    if (samples.empty()) throw std::invalid_argument("empty strip");
    Request request;
    request.patient = patient;
    request.samples = std::move(samples);
    auto reply = request.promise.get_future();
    queue_.push(std::move(request));
    return reply;
  }

  // Features of a quiet strip, recorded before the service starts.
  void set_baseline(const std::vector<float>& samples) {
    torch::NoGradGuard no_grad;
    auto features = current_model()->embed(assemble({&samples}));
    baseline_ = owned_row(features, 0);  // RIGHT: torch-view-pins-storage (owned_row clones)
  }

  Reply classify_now(const std::vector<float>& samples) {
    torch::NoGradGuard no_grad;
    auto logits = current_model()->forward(assemble({&samples}));
    const float* row = torch::softmax(logits, 1).cpu().data_ptr<float>();  // EXPECT: torch-dangling-data
    return make_reply(row);
  }

  double probe_milliseconds(const std::vector<float>& samples) {
    torch::NoGradGuard no_grad;
    const auto begin = Clock::now();
    auto logits = current_model()->forward(assemble({&samples})).cpu();
    const Milliseconds spent = Clock::now() - begin;  // RIGHT: torch-timing-without-sync (the blocking copy to the host waits)
    if (!torch::isfinite(logits).all().item<bool>()) throw std::runtime_error("model output is not finite");
    return spent.count();
  }

  void replace_weights(const std::string& path) {
    BeatNet fresh(cfg_);
    torch::load(fresh, path);
    fresh->to(device_);  // RIGHT: torch-discarded-result (Module::to moves the module itself)
    fresh->eval();
    std::lock_guard<std::mutex> lock(model_mutex_);
    model_ = fresh;  // RIGHT: torch-reassigned-member (a plain holder of the service, no registry)
  }

  void save_weights(const std::string& path) { torch::save(current_model(), path); }

  void print_state() {
    std::cout << "compute ms " << times_.mean() << ", drift " << drift_ << ", features " << cache_.dimension() << "\n";
  }

 private:
  BeatNet current_model() {
    std::lock_guard<std::mutex> lock(model_mutex_);
    return model_;
  }

  void warm_up() {
    if (device_ == torch::kCUDA) {  // EXPECT: torch-device-comparison
      torch::NoGradGuard no_grad;
      for (auto length : cfg_.lengths) {
        std::vector<float> silence(static_cast<size_t>(length), 0.0f);
        model_->forward(assemble({&silence}));
      }
      torch::cuda::synchronize(device_.index());
    }
  }

  int64_t padded_length(const std::vector<const std::vector<float>*>& strips) const {
    size_t longest = 0;
    for (const auto* strip : strips) longest = std::max(longest, strip->size());
    for (auto length : cfg_.lengths) {
      if (static_cast<int64_t>(longest) <= length) return length;
    }
    return cfg_.lengths.back();
  }

  torch::Tensor assemble(const std::vector<const std::vector<float>*>& strips) const {
    const auto length = padded_length(strips);
    auto staging = torch::zeros({cfg_.max_batch, 1, length}, torch::TensorOptions().pinned_memory(device_.is_cuda()));
    for (size_t i = 0; i < strips.size(); ++i) {
      const auto n = std::min<int64_t>(length, static_cast<int64_t>(strips[i]->size()));
      auto strip = torch::from_blob(const_cast<float*>(strips[i]->data()), {n});  // RIGHT: torch-blob-lifetime (copied in the next line)
      staging.select(0, static_cast<int64_t>(i)).select(0, 0).slice(0, 0, n).copy_(strip);
    }
    return staging.to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer (pinned where the device is a GPU), torch-allocate-on-device (filled on the host)
  }

  void serve() {
    while (!queue_.finished()) {
      auto batch = queue_.collect(static_cast<size_t>(cfg_.max_batch), cfg_.collect_time);
      if (batch.empty()) continue;
      try {
        answer(batch);
      } catch (const std::exception& error) {
        std::cerr << "batch failed: " << error.what() << "\n";
      }
    }
  }

  void answer(std::vector<Request>& batch) {
    std::vector<const std::vector<float>*> strips;
    for (const auto& request : batch) strips.push_back(&request.samples);
    auto model = current_model();
    auto input = assemble(strips);
    const auto begin = Clock::now();
    auto features = model->embed(input).detach();  // RIGHT: torch-varying-shapes (assemble pads to one batch size and three lengths)
    auto logits = model->classify(features);
    times_.add(Clock::now() - begin);  // EXPECT: torch-timing-without-sync
    for (size_t i = 0; i < batch.size(); ++i) {
      cache_.put(batch[i].patient, features.select(0, static_cast<int64_t>(i)));  // EXPECT: torch-view-pins-storage
    }
    deliver(batch, torch::softmax(logits, 1).to(torch::kCPU, /*non_blocking=*/true));  // EXPECT: torch-unsynchronized-copy
  }

  void deliver(std::vector<Request>& batch, const torch::Tensor& probabilities) const {
    TORCH_CHECK(probabilities.device() == torch::kCPU, "deliver reads host memory");  // RIGHT: torch-device-comparison (CPU tensors have no index)
    const float* rows = probabilities.data_ptr<float>();  // RIGHT: torch-dangling-data (the caller's tensor lasts as long as this call)
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].promise.set_value(make_reply(rows + static_cast<int64_t>(i) * cfg_.classes));
    }
  }

  Reply make_reply(const float* row) const {
    Reply reply;
    reply.probabilities.assign(row, row + cfg_.classes);
    const auto best = std::max_element(reply.probabilities.begin(), reply.probabilities.end());
    reply.label = best - reply.probabilities.begin();
    return reply;
  }

  double measure_drift() {
    auto mean = cache_.mean();
    if (!mean.defined() || !baseline_.defined()) return 0.0;
    auto distance = torch::norm(mean - baseline_).to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy (the device is synchronized before the value is read)
    if (device_.is_cuda()) torch::cuda::synchronize(device_.index());
    return distance.item<float>();
  }

  ServiceConfig cfg_;
  torch::Device device_;
  std::mutex model_mutex_;
  BeatNet model_;
  FeatureCache cache_;
  ComputeTimes times_;
  WorkQueue<Request> queue_;
  torch::Tensor baseline_;
  std::vector<std::thread> workers_;
  std::thread monitor_;
  std::atomic<bool> stopping_{false};
  std::atomic<double> drift_{0.0};
};

std::vector<float> synthetic_strip(int64_t patient, size_t length) {
  std::vector<float> out(length);
  for (size_t t = 0; t < length; ++t) {
    const double phase = std::fmod(static_cast<double>(t) * (0.8 + 0.05 * (patient % 5)), 50.0);
    out[t] = static_cast<float>(std::exp(-0.5 * (phase - 25.0) * (phase - 25.0) / 4.0) + 0.02 * std::sin(0.3 * t));
  }
  return out;
}

}  // namespace beats

int main() {
  torch::manual_seed(21);
  beats::ServiceConfig cfg;
  try {
    beats::BeatService service(cfg);
    service.set_baseline(beats::synthetic_strip(0, 200));
    service.start();
    std::vector<std::future<beats::Reply>> replies;
    for (int64_t patient = 0; patient < 40; ++patient) {
      replies.push_back(service.submit(patient, beats::synthetic_strip(patient, 90 + 10 * (patient % 30))));
    }
    std::vector<int> histogram(static_cast<size_t>(cfg.classes), 0);
    for (auto& reply : replies) ++histogram[static_cast<size_t>(reply.get().label)];
    for (auto count : histogram) std::cout << count << " ";
    std::cout << "\n";
    service.save_weights("/tmp/beat_service.pt");
    service.replace_weights("/tmp/beat_service.pt");
    std::cout << "single label " << service.classify_now(beats::synthetic_strip(3, 150)).label << ", probe ms "
              << service.probe_milliseconds(beats::synthetic_strip(4, 300)) << "\n";
    service.stop();
    service.print_state();
  } catch (const std::exception& error) {
    std::cerr << "service failed: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
