// Keyword spotting as a service: a capture thread feeds one-second windows of
// audio into a queue, a recognizer thread scores them and publishes detections.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kws {

constexpr int64_t kRate = 2000;    // samples per second of the toy front end
constexpr int64_t kHop = 50;
constexpr int64_t kFrame = 100;
constexpr int64_t kBands = 16;
const std::vector<std::string> kWords{"silence", "start", "stop", "left"};

struct ServiceConfig {
  int train_steps = 30;
  int64_t batch = 16;
  int seconds = 6;
  float threshold = 0.5f;
  float preemphasis = 0.0f;
  int adapt_steps = 0;

  static ServiceConfig parse(int argc, char** argv) {
    ServiceConfig cfg;
    std::map<std::string, std::function<void(const char*)>> flags{
        {"--seconds", [&cfg](const char* v) { cfg.seconds = std::stoi(v); }},
        {"--preemphasis", [&cfg](const char* v) { cfg.preemphasis = std::stof(v); }},
        {"--adapt", [&cfg](const char* v) { cfg.adapt_steps = std::stoi(v); }},
    };
    for (int i = 1; i + 1 < argc; i += 2) {
      if (auto it = flags.find(argv[i]); it != flags.end()) it->second(argv[i + 1]);
    }
    return cfg;
  }
};

template <typename T>
class BlockingQueue {
 public:
  void push(T value) {
    std::lock_guard<std::mutex> lock(mutex_);
    items_.push_back(std::move(value));
    ready_.notify_one();
  }

  std::optional<T> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T value = std::move(items_.front());
    items_.pop_front();
    return value;
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

torch::Tensor utterance(int64_t word) {
  auto t = torch::arange(kRate, torch::kFloat32).div_(static_cast<double>(kRate));
  auto tone = word == 0 ? torch::zeros_like(t) : torch::sin(t * (2.0 * M_PI * 120.0 * static_cast<double>(word)));
  return tone.add_(torch::randn_like(tone), 0.05);
}

// Taper of the analysis frames, boosted towards the high end on request.
torch::Tensor tilted_window(float tilt) {
  return torch::hann_window(kFrame) * torch::linspace(1.0 - tilt, 1.0 + tilt, kFrame);
}

class FrontEndImpl : public torch::nn::Module {
 public:
  FrontEndImpl() {
    window_ = register_buffer("window", torch::hann_window(kFrame));
    auto basis = torch::zeros({kFrame / 2 + 1, kBands});
    auto weights = basis.accessor<float, 2>();  // RIGHT: torch-element-access-in-loop
    for (int64_t bin = 0; bin < basis.size(0); ++bin) {
      weights[bin][std::min<int64_t>(bin * kBands / basis.size(0), kBands - 1)] = 1.0f;
    }
    bands_ = register_buffer("bands", basis);
  }

  void apply_tilt(float tilt) {
    const float* taper = tilted_window(tilt).data_ptr<float>();  // EXPECT: torch-dangling-data
    std::copy(taper, taper + kFrame, window_.data_ptr<float>());
  }

  // [N, samples] to log band energies [N, kBands, frames].
  torch::Tensor forward(const torch::Tensor& audio) {
    auto frames = audio.unfold(-1, kFrame, kHop) * window_;
    auto power = torch::fft_rfft(frames).abs().square();
    return power.matmul(bands_).clamp_min(1e-5).log().transpose(1, 2);
  }

 private:
  torch::Tensor window_, bands_;
};
TORCH_MODULE(FrontEnd);

class SpotterImpl : public torch::nn::Module {
 public:
  SpotterImpl()
      : front(register_module("front", FrontEnd())),
        body(register_module(
            "body", torch::nn::Sequential(
                        torch::nn::Conv1d(torch::nn::Conv1dOptions(kBands, 24, 5).padding(2)), torch::nn::ReLU(),
                        torch::nn::Dropout(0.1),
                        torch::nn::Conv1d(torch::nn::Conv1dOptions(24, 24, 5).padding(2)), torch::nn::ReLU()))),
        head(register_module("head", torch::nn::Linear(24, static_cast<int64_t>(kWords.size())))) {}

  torch::Tensor embed(const torch::Tensor& audio) { return body->forward(front->forward(audio)).mean(-1); }
  torch::Tensor forward(const torch::Tensor& audio) { return head->forward(embed(audio)); }

  FrontEnd front;
  torch::nn::Sequential body;
  torch::nn::Linear head;
};
TORCH_MODULE(Spotter);

void pretrain(Spotter& net, const ServiceConfig& cfg, torch::Device device) {
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  auto running = torch::zeros({}, device);
  net->train();
  for (int step = 0; step < cfg.train_steps; ++step) {
    auto labels = torch::randint(static_cast<int64_t>(kWords.size()), {cfg.batch}, torch::kInt64);
    std::vector<torch::Tensor> clips;
    const auto* label = labels.data_ptr<int64_t>();  // RIGHT: torch-dangling-data
    for (int64_t n = 0; n < cfg.batch; ++n) clips.push_back(utterance(label[n]));
    auto loss = torch::cross_entropy_loss(net->forward(torch::stack(clips).to(device)), labels.to(device));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    running += loss.detach();
  }
  net->eval();
  std::cout << "pretraining loss " << running.item<double>() / cfg.train_steps << '\n';
}

struct Detection {
  int second;
  std::string word;
  float score;
};

struct Window {
  int second;
  torch::Tensor audio;
};

class Service : public std::enable_shared_from_this<Service> {
 public:
  using Listener = std::function<void(const Detection&)>;

  Service(Spotter net, const ServiceConfig& cfg, torch::Device device)
      : net_(std::move(net)), cfg_(cfg), device_(device) {
    auto options = torch::TensorOptions().dtype(torch::kFloat32).pinned_memory(device_.is_cuda());
    staging_ = torch::empty({1, kRate}, options);
    scores_ = torch::empty({static_cast<int64_t>(kWords.size())}, options);
  }

  ~Service() { stop(); }

  void add_listener(Listener listener) { listeners_.push_back(std::move(listener)); }

  void keep_history() {
    auto self = shared_from_this();
    add_listener([self](const Detection& d) { self->history_.push_back(d); });  // EXPECT: torch-reference-cycle
  }

  void count_words() {
    std::weak_ptr<Service> weak = weak_from_this();
    add_listener([weak](const Detection& d) {  // RIGHT: torch-reference-cycle
      if (auto self = weak.lock()) ++self->counts_[d.word];
    });
  }

  void start() {
    torch::NoGradGuard no_grad;  // EXPECT: torch-thread-local-guard
    recognizer_ = std::thread(&Service::recognize, this);
    archivist_ = std::thread([this] { archive(); });
  }

  void submit(Window window) { windows_.push(std::move(window)); }

  void stop() {
    windows_.close();
    if (recognizer_.joinable()) recognizer_.join();
    clips_.close();
    if (archivist_.joinable()) archivist_.join();
  }

  double mean_latency_ms() const { return scored_ == 0 ? 0.0 : latency_ms_ / scored_; }
  const std::vector<Detection>& history() const { return history_; }
  const std::map<std::string, int>& counts() const { return counts_; }
  const std::vector<torch::Tensor>& fingerprints() const { return fingerprints_; }

 private:
  void recognize() {
    while (auto window = windows_.pop()) {
      staging_.copy_(window->audio.unsqueeze(0));
      auto audio = staging_.to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
      const auto begin = std::chrono::steady_clock::now();
      auto posterior = net_->forward(audio).softmax(-1).squeeze(0);
      const auto end = std::chrono::steady_clock::now();  // EXPECT: torch-timing-without-sync
      latency_ms_ += std::chrono::duration<double, std::milli>(end - begin).count();
      ++scored_;
      scores_.copy_(posterior.detach(), /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
      publish(window->second, scores_);
      clips_.push(std::move(window->audio));
    }
  }

  void publish(int second, const torch::Tensor& scores) {
    const auto* values = scores.data_ptr<float>();
    const auto best = std::max_element(values, values + scores.numel());
    const auto index = static_cast<size_t>(best - values);
    if (index == 0 || *best < cfg_.threshold) return;
    const Detection detection{second, kWords[index], *best};
    for (const auto& listener : listeners_) listener(detection);
  }

  // Fingerprints of everything heard, for the nightly drift report.
  void archive() {
    torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard
    while (auto clip = clips_.pop()) {
      auto audio = clip->unsqueeze(0).to(device_, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
      fingerprints_.push_back(net_->embed(audio).squeeze(0).cpu());  // RIGHT: torch-missing-no-grad
    }
  }

  Spotter net_;
  ServiceConfig cfg_;
  torch::Device device_;
  torch::Tensor staging_, scores_;
  BlockingQueue<Window> windows_;
  BlockingQueue<torch::Tensor> clips_;
  std::vector<Listener> listeners_;
  std::vector<Detection> history_;
  std::map<std::string, int> counts_;
  std::vector<torch::Tensor> fingerprints_;
  std::thread recognizer_, archivist_;
  double latency_ms_ = 0.0;
  int scored_ = 0;
};

// Loudest stretch of every recording, kept for the whole run as wake samples.
class WakeSamples {
 public:
  void offer(const torch::Tensor& recording) {
    const auto energy = recording.square().unfold(0, kFrame, kFrame).sum(-1);
    const auto at = energy.argmax().item<int64_t>() * kFrame;
    peaks_.push_back(recording.narrow(0, at, kFrame));  // EXPECT: torch-view-pins-storage
    noise_ = recording.narrow(0, 0, kFrame).clone();  // RIGHT: torch-view-pins-storage
  }
  size_t count() const { return peaks_.size(); }
  double noise_level() const { return noise_.std().item<double>(); }

 private:
  std::vector<torch::Tensor> peaks_;
  torch::Tensor noise_;
};

// A frame of the sound driver: the tensor keeps the driver's buffer alive.
torch::Tensor adopt(std::shared_ptr<std::vector<float>> buffer) {
  const auto n = static_cast<int64_t>(buffer->size());
  auto* data = buffer->data();
  return torch::from_blob(data, {n}, [buffer](void*) {}, torch::kFloat32);  // RIGHT: torch-blob-lifetime
}

class Enrollment {
 public:
  Enrollment(Spotter net, torch::Device device) : net_(std::move(net)), device_(device) {}

  void add(int64_t word, const torch::Tensor& clip) {
    c10::InferenceMode inference;
    embeddings_.push_back(net_->embed(clip.unsqueeze(0).to(device_)).squeeze(0));
    labels_.push_back(word);
  }

  void finish() {
    c10::InferenceMode inference;
    matrix_ = torch::stack(embeddings_);
  }

  double adapt(int steps) {
    torch::optim::SGD optimizer(net_->head->parameters(), torch::optim::SGDOptions(0.05));
    const auto targets = torch::tensor(labels_, torch::TensorOptions().dtype(torch::kInt64).device(device_));
    torch::Tensor loss;
    for (int s = 0; s < steps; ++s) {
      loss = torch::cross_entropy_loss(net_->head->forward(matrix_), targets);  // EXPECT: torch-inference-tensor
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    return loss.defined() ? loss.item<double>() : 0.0;
  }

  // Learned per-word bias for the enrolled speaker; the network stays as it is.
  torch::Tensor calibrate(int steps) {
    const auto inputs = matrix_.clone();  // RIGHT: torch-inference-tensor
    const auto targets = torch::tensor(labels_, torch::TensorOptions().dtype(torch::kInt64).device(device_));  // RIGHT: torch-allocate-on-device
    torch::Tensor logits;
    {
      torch::NoGradGuard no_grad;
      logits = net_->head->forward(inputs);
    }
    auto bias = torch::zeros({logits.size(1)}, torch::TensorOptions().device(device_).requires_grad(true));
    torch::optim::SGD optimizer(std::vector<torch::Tensor>{bias}, torch::optim::SGDOptions(0.1));
    for (int s = 0; s < steps; ++s) {
      optimizer.zero_grad();
      torch::cross_entropy_loss(logits + bias, targets).backward();
      optimizer.step();
    }
    return bias.detach();
  }

 private:
  Spotter net_;
  torch::Device device_;
  std::vector<torch::Tensor> embeddings_;
  std::vector<int64_t> labels_;
  torch::Tensor matrix_;
};

double offline_throughput(Spotter& net, torch::Device device) {
  c10::InferenceMode inference;
  const auto audio = torch::randn({8, kRate}, device);
  net->forward(audio);
  if (device.is_cuda()) torch::cuda::synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) net->forward(audio);  // RIGHT: torch-discarded-result
  if (device.is_cuda()) torch::cuda::synchronize();
  const auto end = std::chrono::steady_clock::now();  // RIGHT: torch-timing-without-sync
  return 40.0 / std::chrono::duration<double>(end - begin).count();
}

}  // namespace kws

int main(int argc, char** argv) {
  using namespace kws;
  torch::manual_seed(8);
  const auto cfg = ServiceConfig::parse(argc, argv);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Spotter net;
  if (cfg.preemphasis > 0.0f) net->front->apply_tilt(cfg.preemphasis);
  net->to(device);
  pretrain(net, cfg, device);

  Enrollment enrollment(net, device);
  for (int64_t word = 1; word < static_cast<int64_t>(kWords.size()); ++word) enrollment.add(word, utterance(word));
  enrollment.finish();
  if (cfg.adapt_steps > 0) std::cout << "adapted " << enrollment.adapt(cfg.adapt_steps) << '\n';
  std::cout << "speaker bias norm " << enrollment.calibrate(5).norm().item<double>() << '\n';
  std::cout << "offline windows/s " << offline_throughput(net, device) << '\n';

  auto service = std::make_shared<Service>(net, cfg, device);
  service->keep_history();
  service->count_words();
  service->add_listener([](const Detection& d) { std::cout << d.second << "s " << d.word << ' ' << d.score << '\n'; });
  service->start();
  WakeSamples samples;
  std::thread capture([&] {
    for (int second = 0; second < cfg.seconds; ++second) {
      auto source = utterance(second % static_cast<int64_t>(kWords.size()));
      const auto* raw = source.data_ptr<float>();
      auto window = adopt(std::make_shared<std::vector<float>>(raw, raw + source.numel()));
      samples.offer(window);
      service->submit({second, window});
    }
  });
  capture.join();
  service->stop();
  std::cout << "kept " << service->history().size() << " words " << service->counts().size() << " prints "
            << service->fingerprints().size() << " peaks " << samples.count() << " noise " << samples.noise_level()
            << " latency ms " << service->mean_latency_ms() << '\n';
  return 0;
}
