// Live tracking of football players: cameras deliver frames to a queue, a worker finds the
// players with a heat-map network, and the match session keeps trails, speeds and load.
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Present only where the CUDA runtime is.
extern "C" {
int cudaMalloc(void** memory, size_t bytes) __attribute__((weak));
int cudaFree(void* memory) __attribute__((weak));
}

namespace tracking {

using Clock = std::chrono::steady_clock;

struct Setup {
  int64_t height = 24;
  int64_t width = 40;
  int64_t players = 6;
  int64_t frames = 30;
  int64_t smoothing = 8;
  double fps = 25;
  bool broadcast = false;
  torch::Device device{torch::kCPU};
};

struct Frame {
  int64_t index = 0;
  std::vector<uint8_t> pixels;
};

template <typename T>
class Queue {
 public:
  void push(T item) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
  }

  void close() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

  std::optional<T> pop() {
    std::unique_lock<std::mutex> lock(mutex_);
    ready_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
  bool closed_ = false;
};

// The last seconds of video stay on the device, for the replay operator.
torch::Tensor make_replay_ring(const Setup& s, int64_t seconds) {
  const int64_t count = seconds * static_cast<int64_t>(s.fps);
  auto options = torch::TensorOptions().dtype(torch::kUInt8).device(s.device);
  if (!s.device.is_cuda() || !cudaMalloc) return torch::empty({count, s.height, s.width, 3}, options);
  void* memory = nullptr;
  if (cudaMalloc(&memory, count * s.height * s.width * 3) != 0) throw std::runtime_error("no memory for the replay ring");  // EXPECT: torch-untracked-cuda-memory
  return torch::from_blob(memory, {count, s.height, s.width, 3}, options);
}

// Shared with the graphics engine, which wants plain device memory.
torch::Tensor make_overlay(const Setup& s) {
  auto options = torch::TensorOptions().dtype(torch::kUInt8).device(s.device);
  if (!s.device.is_cuda() || !cudaMalloc) return torch::zeros({s.height, s.width, 4}, options);
  void* memory = nullptr;
  if (cudaMalloc(&memory, s.height * s.width * 4) != 0) throw std::runtime_error("no memory for the overlay");  // RIGHT: torch-untracked-cuda-memory (the deleter frees it)
  return torch::from_blob(memory, {s.height, s.width, 4}, [](void* p) { cudaFree(p); }, options).zero_();
}

// Brings frames to the device. The staging buffer is reused, so the caller waits for each frame's result.
class Uploader {
 public:
  explicit Uploader(const Setup& s)
      : s_(s), staging_(torch::empty({s.height, s.width, 3}, torch::TensorOptions().dtype(torch::kUInt8).pinned_memory(s.device.is_cuda()))) {}

  torch::Tensor live(Frame& frame) {
    staging_.copy_(torch::from_blob(frame.pixels.data(), {s_.height, s_.width, 3}, torch::kUInt8));  // RIGHT: torch-blob-lifetime (copied at once)
    return staging_.to(s_.device, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer (staging is pinned)
  }

  torch::Tensor recorded(Frame& frame) {
    auto pixels = torch::from_blob(frame.pixels.data(), {s_.height, s_.width, 3}, torch::kUInt8);
    return pixels.to(s_.device, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
  }

 private:
  Setup s_;
  torch::Tensor staging_;
};

struct HeatNetImpl : torch::nn::Module {
  explicit HeatNetImpl(int64_t players) {
    stem = register_module("stem", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)));
    body = register_module("body", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 16, 5).padding(2).groups(4)));
    head = register_module("head", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, players, 1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head->forward(torch::relu(body->forward(torch::relu(stem->forward(x))))); }
  torch::nn::Conv2d stem{nullptr}, body{nullptr}, head{nullptr};
};
TORCH_MODULE(HeatNet);

// From image coordinates to metres on the pitch.
class Pitch {
 public:
  explicit Pitch(const Setup& s) : device_(s.device), scale_(torch::tensor(105.0f / s.width)) {
    broadcast_view_ = torch::tensor({{0.95f, 0.05f}, {-0.02f, 1.1f}});
    reload();
  }

  torch::Tensor metres(const torch::Tensor& pixels) {
    refresh();
    return (pixels - middle_) * scale_;  // RIGHT: torch-device-mismatch (a zero-dimensional tensor may stay on the host)
  }

  // The main camera is panned, its view is corrected by a fixed matrix.
  torch::Tensor panned(const torch::Tensor& pixels) const { return (pixels - middle_).matmul(broadcast_view_.t()); }  // EXPECT: torch-device-mismatch

 private:
  void refresh() {
    if (device_.is_cuda() && middle_.device() != torch::Device(torch::kCUDA)) reload();  // EXPECT: torch-device-comparison
  }

  void reload() { middle_ = torch::tensor({20.0f, 12.0f}, device_); }

  torch::Device device_;
  torch::Tensor scale_, middle_, broadcast_view_;
};

class Tracker {
 public:
  using Positions = std::function<void(int64_t, const torch::Tensor&)>;

  explicit Tracker(const Setup& s) : s_(s), net_(s.players), uploader_(s), pitch_(s), ring_(make_replay_ring(s, 1)) {
    net_->to(s.device);
    net_->eval();  // RIGHT: torch-eval-mode-not-restored (this program never trains)
  }

  Positions on_positions;
  std::function<void()> on_end;

  void run(Queue<Frame>& queue) {
    torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard (the worker makes it itself)
    while (auto frame = queue.pop()) {
      auto pixels = s_.broadcast ? uploader_.recorded(*frame) : uploader_.live(*frame);
      ring_[frame->index % ring_.size(0)].copy_(pixels);
      auto where = locate(net_->forward(normalise(pixels)));
      auto metres = s_.broadcast ? pitch_.panned(where) : pitch_.metres(where);
      on_positions(frame->index, metres);
      pan_to_ = metres.select(1, 0).mean().item<float>();  // RIGHT: torch-sync-in-loop (the camera is steered by each value)
    }
    on_end();
  }

  // Frames per second that the network alone would manage.
  double benchmark(int rounds) {
    torch::NoGradGuard no_grad;
    auto x = torch::rand({1, 3, s_.height, s_.width}, s_.device);
    auto heat = net_->forward(x);
    const auto start = Clock::now();
    for (int i = 0; i < rounds; ++i) heat = net_->forward(x);
    const std::chrono::duration<double> took = Clock::now() - start;  // EXPECT: torch-timing-without-sync
    return rounds / took.count();
  }

  float pan_to() const { return pan_to_; }

  double latency() {
    torch::NoGradGuard no_grad;
    auto x = torch::rand({1, 3, s_.height, s_.width}, s_.device);
    if (s_.device.is_cuda()) torch::cuda::synchronize();
    const auto start = Clock::now();
    auto heat = net_->forward(x);
    if (s_.device.is_cuda()) torch::cuda::synchronize();
    const std::chrono::duration<double> took = Clock::now() - start;  // RIGHT: torch-timing-without-sync (waits above)
    return took.count() * 1e3;
  }

 private:
  static torch::Tensor normalise(const torch::Tensor& pixels) { return pixels.permute({2, 0, 1}).unsqueeze(0).to(torch::kFloat).div_(255); }

  // The peak of each player's map, as x and y.
  static torch::Tensor locate(const torch::Tensor& heat) {
    const int64_t width = heat.size(3);
    auto peak = heat.squeeze(0).flatten(1).argmax(1);
    return torch::stack({peak.remainder(width), peak.div(width, "floor")}, 1).to(torch::kFloat);
  }

  Setup s_;
  HeatNet net_;
  Uploader uploader_;
  Pitch pitch_;
  torch::Tensor ring_;
  std::atomic<float> pan_to_{0};
};

class MatchSession : public std::enable_shared_from_this<MatchSession> {
 public:
  MatchSession(const Setup& s, std::shared_ptr<Tracker> tracker)
      : s_(s), tracker_(std::move(tracker)), history_(torch::zeros({s.frames, s.players, 2}, s.device)), overlay_(make_overlay(s)) {}

  void start() {
    tracker_->on_positions = [self = shared_from_this()](int64_t i, const torch::Tensor& p) { self->store(i, p); };  // EXPECT: torch-reference-cycle
    tracker_->on_end = [weak = weak_from_this()] {  // RIGHT: torch-reference-cycle (weak)
      if (auto self = weak.lock()) self->ended_ = true;
    };
  }

  bool ended() const { return ended_; }
  int64_t received() const { return received_; }

  void store(int64_t index, const torch::Tensor& positions) {
    history_[index].copy_(positions);
    ++received_;
  }

  // Trails for the broadcast: each position weighted by its age, over all of the match so far.
  torch::Tensor trails() const {
    torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> smooth;
    for (int64_t t = 1; t <= received_; ++t) {
      auto weight = torch::softmax(torch::linspace(-4, 0, t, s_.device), 0);  // EXPECT: torch-varying-shapes
      smooth.push_back((weight.view({-1, 1, 1}) * history_.narrow(0, 0, t)).sum(0));
    }
    return torch::stack(smooth);
  }

  // The same over a fixed window, for the coaches.
  torch::Tensor recent_means() const {
    torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> means;
    for (int64_t t = s_.smoothing; t <= received_; ++t) {
      means.push_back(history_.narrow(0, t - s_.smoothing, s_.smoothing).mean(0));  // RIGHT: torch-varying-shapes (always the same window)
    }
    return torch::stack(means);
  }

  // Top speed of each player in metres per second.
  std::vector<float> top_speeds() const {
    torch::NoGradGuard no_grad;
    auto speed = (history_.slice(0, 1) - history_.slice(0, 0, -1)).norm(2, 2) * s_.fps;
    auto top = speed.amax(0);
    const float* p = top.to(torch::kCPU).data_ptr<float>();  // EXPECT: torch-dangling-data
    return std::vector<float>(p, p + s_.players);
  }

  std::vector<float> distances() const {
    torch::NoGradGuard no_grad;
    auto host = (history_.slice(0, 1) - history_.slice(0, 0, -1)).norm(2, 2).sum(0).to(torch::kCPU);
    const float* p = host.data_ptr<float>();  // RIGHT: torch-dangling-data (host lives to the end)
    return std::vector<float>(p, p + s_.players);
  }

  // Share of the time spent in each third of the pitch.
  std::vector<double> thirds() const {
    torch::NoGradGuard no_grad;
    auto x = history_.select(2, 0);
    auto counts = torch::stack({(x < -17.5).sum(), (x.abs() <= 17.5).sum(), (x > 17.5).sum()});
    auto host = torch::empty({3}, torch::TensorOptions().dtype(torch::kLong).pinned_memory(s_.device.is_cuda()));
    host.copy_(counts, /*non_blocking=*/true);
    if (s_.device.is_cuda()) torch::cuda::synchronize();
    const int64_t* n = host.data_ptr<int64_t>();  // RIGHT: torch-unsynchronized-copy (waits above)
    const double all = std::max<int64_t>(1, n[0] + n[1] + n[2]);
    return {n[0] / all, n[1] / all, n[2] / all};
  }

  // How compact the team stood, averaged over the match.
  double compactness() const {
    torch::NoGradGuard no_grad;
    auto spread = history_.std(1).mean(1);
    auto host = spread.to(torch::kCPU, /*non_blocking=*/true);
    const float* s = host.data_ptr<float>();  // EXPECT: torch-unsynchronized-copy
    double sum = 0;
    for (int64_t i = 0; i < host.size(0); ++i) sum += s[i];
    return sum / host.size(0);
  }

  void paint(const torch::Tensor& trail) {
    if (trail.device() != overlay_.device()) throw std::invalid_argument("trail and overlay are apart");  // RIGHT: torch-device-comparison (both have an index)
    overlay_.select(2, 3).fill_(trail.numel() > 0 ? 255 : 0);
  }

 private:
  Setup s_;
  std::shared_ptr<Tracker> tracker_;
  torch::Tensor history_, overlay_;
  std::atomic<bool> ended_{false};
  std::atomic<int64_t> received_{0};
};

// Stands for the camera: bright players on dark grass.
void film(const Setup& s, Queue<Frame>& queue) {
  for (int64_t t = 0; t < s.frames; ++t) {
    Frame frame{t, std::vector<uint8_t>(s.height * s.width * 3, 40)};
    for (int64_t p = 0; p < s.players; ++p) {
      const int64_t x = (5 * p + t) % s.width, y = (3 * p + t / 2) % s.height;
      for (int64_t c = 0; c < 3; ++c) frame.pixels[(y * s.width + x) * 3 + c] = static_cast<uint8_t>(120 + 20 * p + 10 * c);
    }
    queue.push(std::move(frame));
  }
  queue.close();
}

}  // namespace tracking

int main(int argc, char** argv) {
  using namespace tracking;
  torch::manual_seed(3);
  Setup setup;
  setup.device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--broadcast") setup.broadcast = true;
    if (word == "--cpu") setup.device = torch::Device(torch::kCPU);
  }

  auto tracker = std::make_shared<Tracker>(setup);
  std::cout << "network alone " << (tracker->benchmark(20) > 0 ? "ran" : "did not run") << ", latency " << tracker->latency() << " ms\n";
  auto session = std::make_shared<MatchSession>(setup, tracker);
  session->start();

  Queue<Frame> queue;
  std::thread camera([&] { film(setup, queue); });
  std::thread worker([&] { tracker->run(queue); });
  camera.join();
  worker.join();

  std::cout << "received " << session->received() << (session->ended() ? " to the end" : "") << ", camera at " << tracker->pan_to() << "\n";
  auto trails = session->trails();
  session->paint(trails);
  std::cout << "trails " << trails.sizes() << " windows " << session->recent_means().size(0) << "\n";
  for (float v : session->top_speeds()) std::cout << v << ' ';
  std::cout << "m/s\n";
  for (float d : session->distances()) std::cout << d << ' ';
  std::cout << "m\n";
  const auto thirds = session->thirds();
  std::cout << "thirds " << thirds[0] << ' ' << thirds[1] << ' ' << thirds[2] << " compactness " << session->compactness() << "\n";
  return 0;
}
