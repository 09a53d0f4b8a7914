/*
 * lidar_service: decodes sweeps, runs the obstacle network, packs the answers.
 */
#include <torch/torch.h>

#include <ATen/DeviceAccelerator.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace lidar {

constexpr int64_t kRows = 16;
constexpr int64_t kCols = 64;
constexpr auto kWire = torch::kFloat;

struct Sweep {
  std::vector<double> range;
  std::vector<float> azimuth;
  std::vector<uint16_t> intensity;
  std::vector<int32_t> ring;
};

Sweep simulate(int seed) {
  Sweep s;
  const auto n = static_cast<size_t>(kRows * kCols);
  s.range.resize(n);
  s.azimuth.resize(n);
  s.intensity.resize(n);
  s.ring.resize(n);
  for (size_t i = 0; i < n; ++i) {
    s.range[i] = 8.0 + std::floor(4.0 * std::sin(0.01 * static_cast<double>(i) + seed));
    s.azimuth[i] = 0.1f * static_cast<float>(i % kCols);
    s.intensity[i] = static_cast<uint16_t>((i * 977 + static_cast<size_t>(seed)) & 0xffff);
    s.ring[i] = static_cast<int32_t>(i / kCols);
  }
  return s;
}

// ----------------------------------------------------------------- decoding

class Decoder {
 public:
  // 3 x rows x cols
  torch::Tensor planes(Sweep& s) const {
    const auto layout = torch::TensorOptions().dtype(kWire).layout(torch::kStrided);
    auto azimuth = torch::from_blob(s.azimuth.data(), {kRows, kCols}, layout);  // RIGHT: torch-blob-dtype
    auto range = torch::from_blob(s.range.data(), {kRows, kCols}, layout);  // EXPECT: torch-blob-dtype
    auto intensity = torch::from_blob(s.intensity.data(), {kRows, kCols}, layout.dtype(torch::kUInt16));  // RIGHT: torch-blob-dtype
    return torch::stack({range.nan_to_num(0).clamp(0, 120), azimuth, intensity.to(kWire) / 65535});
  }

  static torch::Tensor adopt(std::vector<float> values) {
    auto owner = std::make_shared<std::vector<float>>(std::move(values));
    const auto n = static_cast<int64_t>(owner->size());
    return torch::from_blob(owner->data(), {n}, [owner](void*) {}, torch::kFloat);  // RIGHT: torch-blob-lifetime
  }

  static torch::Tensor azimuths(Sweep s) {
    return torch::from_blob(s.azimuth.data(), {kRows, kCols}, torch::kFloat).clone();  // RIGHT: torch-blob-lifetime
  }
};

class History {
 public:
  explicit History(size_t depth) : depth_(depth) {}

  void remember(Sweep sweep) {
    auto rings = torch::from_blob(sweep.ring.data(), {kRows, kCols}, torch::kInt);  // EXPECT: torch-blob-lifetime
    rings_.push_back(rings.flatten());
    if (rings_.size() > depth_) rings_.pop_front();
  }

  int64_t highest() const {
    int64_t best = 0;
    for (const auto& r : rings_) best = std::max(best, r.max().item<int64_t>());
    return best;
  }

 private:
  size_t depth_;
  std::deque<torch::Tensor> rings_;
};

// ----------------------------------------------------------------- network

struct ObstacleNetImpl : torch::nn::Module {
  ObstacleNetImpl() {
    using torch::nn::Conv2d;
    using torch::nn::Conv2dOptions;
    stem = register_module("stem", Conv2d(Conv2dOptions(3, 16, 3).padding(1)));
    mix = register_module("mix", Conv2d(Conv2dOptions(16, 16, 3).padding(1).stride(2)));
    head = register_module("head", Conv2d(Conv2dOptions(16, 4, 1)));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(stem(x));
    x = torch::relu(mix(x));
    return head(x);
  }
  torch::nn::Conv2d stem{nullptr}, mix{nullptr}, head{nullptr};
};
TORCH_MODULE(ObstacleNet);

// Channel statistics; refreshed from time to time by adapt().
class Normalizer {
 public:
  void warm(const torch::Tensor& first) {
    c10::InferenceMode guard;
    offset_ = first.mean({1, 2}, /*keepdim=*/true);  // EXPECT: torch-inference-tensor
    scale_ = first.std(torch::IntArrayRef({1, 2}), true, true).add_(1e-3);  // RIGHT: torch-inference-tensor
  }

  void adapt(const torch::Tensor& next) {
    offset_.mul_(0.95).add_(next.mean({1, 2}, true), 0.05);
    scale_ = scale_ * 0.95 + next.std(torch::IntArrayRef({1, 2}), true, true) * 0.05;
  }

  torch::Tensor apply(const torch::Tensor& x) const { return (x - offset_) / scale_; }

 private:
  torch::Tensor offset_, scale_;
};

// ----------------------------------------------------------------- answers

struct Packet {
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

Packet pack(const torch::Tensor& scores) {
  Packet p;
  auto host = scores.to(torch::kCPU, kWire).contiguous();
  p.shape = host.sizes().vec();  // RIGHT: torch-dangling-data
  p.bytes.resize(static_cast<size_t>(host.numel()) * sizeof(kWire));  // EXPECT: torch-sizeof-dtype
  std::memcpy(p.bytes.data(), host.data_ptr<float>(), p.bytes.size());
  return p;
}

Packet packHalf(const torch::Tensor& scores) {
  Packet p;
  auto host = scores.to(torch::kCPU, torch::kHalf).contiguous();
  p.shape = host.sizes().vec();
  p.bytes.resize(static_cast<size_t>(host.numel()) * sizeof(at::Half));
  const auto* from = host.data_ptr();
  std::memcpy(p.bytes.data(), from, host.numel() * c10::elementSize(torch::kHalf));  // RIGHT: torch-sizeof-dtype
  return p;
}

// ----------------------------------------------------------------- service

class Service {
 public:
  Service(ObstacleNet net, torch::Device device) : net_(std::move(net)), device_(device) {
    net_->to(device_);
    net_->eval();
    staging_ = torch::empty({1, 3, kRows, kCols}, torch::dtype(kWire).pinned_memory(device_.is_cuda()));
  }

  // Size of an answer for an input of the given size.
  int64_t probe(int64_t rows, int64_t cols) {
    torch::NoGradGuard off;
    const auto x = torch::zeros({1, 3, rows, cols}, device_);
    const auto shape = net_->forward(x).sizes();  // EXPECT: torch-dangling-data
    int64_t n = 1;
    for (auto s : shape) n *= s;
    return n;
  }

  int64_t channels() {
    torch::NoGradGuard off;
    return net_->forward(torch::zeros({1, 3, 8, 8}, device_)).sizes()[1];  // RIGHT: torch-dangling-data
  }

  void calibrate(const torch::Tensor& planes) { normal_.warm(planes); }
  void adapt(const torch::Tensor& planes) { normal_.adapt(planes); }

  torch::Tensor single(const torch::Tensor& planes) {
    torch::NoGradGuard off;
    staging_[0].copy_(normal_.apply(planes));
    const auto x = staging_.to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
    return net_->forward(x).softmax(1).to(torch::kCPU);
  }

  torch::Tensor batch(const std::vector<torch::Tensor>& planes) {
    torch::NoGradGuard off;
    std::vector<torch::Tensor> parts;
    for (const auto& p : planes) parts.push_back(normal_.apply(p));
    auto joined = torch::stack(parts);
    auto x = joined.to(device_, kWire, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
    return net_->forward(x).softmax(1);
  }

  // Forward passes for several batches at a time.
  std::vector<torch::Tensor> parallel(const std::vector<torch::Tensor>& batches) {
    torch::NoGradGuard off;
    std::vector<std::future<torch::Tensor>> jobs;
    jobs.reserve(batches.size());
    for (const auto& b : batches) {
      jobs.push_back(std::async(std::launch::async, [this, b] {
        return net_->forward(b);  // EXPECT: torch-thread-local-guard
      }));
    }
    std::vector<torch::Tensor> out;
    for (auto& j : jobs) out.push_back(j.get());
    return out;
  }

  std::vector<torch::Tensor> shards(const std::vector<torch::Tensor>& batches) {
    std::vector<torch::Tensor> out(batches.size());
    std::vector<std::thread> pool;
    auto work = [&](size_t i) {
      torch::NoGradGuard off;
      out[i] = net_->forward(batches[i]);  // RIGHT: torch-thread-local-guard
    };
    for (size_t i = 0; i < batches.size(); ++i) pool.emplace_back(work, i);
    for (auto& t : pool) t.join();
    return out;
  }

  torch::Device device() const { return device_; }

 private:
  ObstacleNet net_;
  torch::Device device_;
  Normalizer normal_;
  torch::Tensor staging_;
};

struct Alarm {
  float nearest = 0;
  int64_t cells = 0;
};

Alarm alarm(const torch::Tensor& scores) {
  Alarm a;
  const auto flagged = scores.select(1, 3).gt(0.22).nonzero();
  a.cells = flagged.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
  auto worst = scores.amax({2, 3}).to(torch::kCPU, torch::kFloat, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
  const auto view = worst.accessor<float, 2>();
  for (int64_t i = 0; i < view.size(0); ++i) a.nearest = std::max(a.nearest, view[i][3]);
  return a;
}

Alarm alarmSynced(const torch::Tensor& scores) {
  Alarm a;
  auto options = torch::dtype(torch::kFloat).pinned_memory(scores.is_cuda());
  auto host = torch::empty({scores.size(0), scores.size(1)}, options);
  host.copy_(scores.amax({2, 3}), /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy
  if (scores.is_cuda()) torch::cuda::synchronize(scores.device().index());
  auto where = scores.select(1, 3).gt(0.22).nonzero().cpu();
  a.cells = where.size(0);  // RIGHT: torch-transfer-for-metadata
  const auto* cell = where.data_ptr<int64_t>();
  for (int64_t i = 0; i < host.size(0); ++i) a.nearest = std::max(a.nearest, host.data_ptr<float>()[i * host.size(1) + 3]);
  if (a.cells > 0 && cell[0] > 1000) a.nearest = 0;
  return a;
}

}  // namespace lidar

int main(int argc, char** argv) {
  using namespace lidar;
  torch::manual_seed(21);
  const std::set<std::string> flags(argv + 1, argv + argc);
  const auto device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);

  Decoder decoder;
  Service service(ObstacleNet(), device);
  History history(32);

  std::vector<torch::Tensor> frames;
  for (int i = 0; i < 6; ++i) {
    auto sweep = simulate(i);
    frames.push_back(decoder.planes(sweep));
    if (flags.count("--rings")) history.remember(std::move(sweep));
  }
  if (flags.count("--rings")) std::cout << "rings " << history.highest() << "\n";

  service.calibrate(frames.front());
  if (flags.count("--adapt")) service.adapt(frames.back());
  if (flags.count("--probe")) std::cout << "answer " << service.probe(kRows, kCols) << "\n";

  auto one = service.single(frames[0]);
  auto all = service.batch(frames);
  std::cout << "channels " << service.channels() << " single " << one.sizes() << " batch " << all.sizes() << "\n";

  auto bias = Decoder::adopt({0.0f, 0.0f, 0.0f, 0.01f}).to(device).view({1, 4, 1, 1});
  auto raised = all + bias;
  auto a = alarm(raised), b = alarmSynced(raised);
  std::cout << "alarm " << a.nearest << " / " << a.cells << ", " << b.nearest << " / " << b.cells << "\n";

  auto packet = pack(all), half = packHalf(all);
  std::cout << "packet " << packet.bytes.size() << " half " << half.bytes.size() << "\n";

  std::vector<torch::Tensor> groups;
  for (const auto& g : torch::stack(frames).to(device).chunk(3)) groups.push_back(g);
  float sum = 0;
  for (const auto& t : service.parallel(groups)) sum += t.detach().mean().item<float>();
  for (const auto& t : service.shards(groups)) sum += t.mean().item<float>();
  std::cout << "sum " << sum << " az " << Decoder::azimuths(simulate(9)).mean().item<float>() << "\n";
  return 0;
}
