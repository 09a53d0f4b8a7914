// Lidar front end: packets from the sensor thread become range images, which a
// segmentation net labels; obstacles are handed to the planner.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace lidar {

constexpr int kRings = 16;
constexpr int kAzimuths = 64;
constexpr int kCells = kRings * kAzimuths;
constexpr auto kRangeType = torch::kShort;

struct Packet {
  uint64_t stamp = 0;
  std::array<int16_t, kCells> range{};      // millimetres / 4
  std::array<uint8_t, kCells> intensity{};
  std::array<double, 12> pose{};            // row major 3x4
};

// ------------------------------------------------------------------ sensor

class PacketQueue {
 public:
  void push(std::unique_ptr<Packet> p) {
    std::lock_guard<std::mutex> hold(m_);
    q_.push_back(std::move(p));
  }
  std::unique_ptr<Packet> pop() {
    std::lock_guard<std::mutex> hold(m_);
    if (q_.empty()) return nullptr;
    auto p = std::move(q_.front());
    q_.pop_front();
    return p;
  }

 private:
  std::mutex m_;
  std::deque<std::unique_ptr<Packet>> q_;
};

void sensor_main(PacketQueue& out, int count) {
  for (int n = 0; n < count; ++n) {
    auto p = std::make_unique<Packet>();
    p->stamp = 1000 + 100 * n;
    for (int i = 0; i < kCells; ++i) {
      p->range[i] = static_cast<int16_t>(500 + (i * 37 + n * 11) % 4000);
      p->intensity[i] = static_cast<uint8_t>((i * 13 + n) % 256);
    }
    p->pose = {1, 0, 0, 0.1 * n, 0, 1, 0, 0, 0, 0, 1, 1.8};
    out.push(std::move(p));
  }
}

// ------------------------------------------------------------------ decode

struct Sweep {
  torch::Tensor range;      // rings x azimuths, int16
  torch::Tensor intensity;  // rings x azimuths, uint8
  torch::Tensor pose;       // 3 x 4
  uint64_t stamp = 0;
};

class Decoder {
 public:
  explicit Decoder(bool zero_copy) : zero_copy_(zero_copy) {}

  Sweep decode(std::unique_ptr<Packet> p) const {
    Sweep s;
    s.stamp = p->stamp;
    s.pose = pose_of(*p);
    s.range = torch::from_blob(p->range.data(), {kRings, kAzimuths}, kRangeType).clone();  // RIGHT: torch-blob-lifetime
    if (zero_copy_) {
      s.intensity = torch::from_blob(p->intensity.data(), {kRings, kAzimuths}, torch::kByte);  // EXPECT: torch-blob-lifetime
    } else {
      s.intensity = torch::empty({kRings, kAzimuths}, torch::kByte);
      std::memcpy(s.intensity.data_ptr(), p->intensity.data(), kCells);
    }
    return s;
  }

  // For the recorder.
  torch::Tensor adopt(std::unique_ptr<Packet> p) const {
    Packet* raw = p.release();
    return torch::from_blob(raw->range.data(), {kRings, kAzimuths}, [raw](void*) { delete raw; }, kRangeType);  // RIGHT: torch-blob-lifetime
  }

 private:
  static torch::Tensor pose_of(Packet& p) {
    auto opts = torch::TensorOptions().dtype(torch::kFloat);
    return torch::from_blob(p.pose.data(), {3, 4}, opts).clone();  // EXPECT: torch-blob-dtype
  }

  bool zero_copy_;
};

torch::Tensor beam_table() {
  std::vector<float> elevation(kRings);
  for (int i = 0; i < kRings; ++i) elevation[i] = -0.26f + 0.035f * i;
  return torch::from_blob(elevation.data(), {kRings}).sin();  // RIGHT: torch-blob-dtype
}

// ------------------------------------------------------------------ recorder

class Recorder {
 public:
  explicit Recorder(int64_t sweeps) : bytes_(sweeps * stride()) {}

  void add(const Sweep& s) {
    if ((used_ + 1) * stride() > bytes_.size()) return;
    std::memcpy(bytes_.data() + used_ * stride(), s.range.data_ptr(), s.range.numel() * s.range.element_size());
    ++used_;
  }

  int16_t first(size_t sweep) const {
    int16_t v;
    std::memcpy(&v, bytes_.data() + sweep * kCells * c10::elementSize(kRangeType), sizeof(v));  // RIGHT: torch-sizeof-dtype
    return v;
  }

  size_t used() const { return used_; }

 private:
  static size_t stride() { return kCells * sizeof(kRangeType); }  // EXPECT: torch-sizeof-dtype

  std::vector<uint8_t> bytes_;
  size_t used_ = 0;
};

// ------------------------------------------------------------------ network

struct SegNetImpl : torch::nn::Module {
  SegNetImpl() {
    a = register_module("a", torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 8, 3).padding(1)));
    b = register_module("b", torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 4, 3).padding(1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return b(torch::relu(a(x))); }
  torch::nn::Conv2d a{nullptr}, b{nullptr};
};
TORCH_MODULE(SegNet);

struct Obstacle {
  int64_t cell;
  float range;
};

class Labeller {
 public:
  Labeller(SegNet net, torch::Device device) : net_(std::move(net)), device_(device), sin_(beam_table().to(device)) {
    net_->to(device_);
    net_->eval();
    if (device_.is_cuda()) {
      pinned_range_ = torch::empty({kRings, kAzimuths}, torch::dtype(kRangeType).pinned_memory(true));
      pinned_intensity_ = torch::empty({kRings, kAzimuths}, torch::dtype(torch::kByte).pinned_memory(true));
    }
  }

  // Two planes on the device, metres and reflectivity.
  torch::Tensor upload(const Sweep& s) {
    torch::Tensor r = s.range, i = s.intensity;
    if (device_.is_cuda()) {
      torch::cuda::synchronize();
      r = pinned_range_.copy_(s.range).to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
      i = pinned_intensity_.copy_(s.intensity).to(device_, /*non_blocking=*/true);
    }
    return scaled(r, i);
  }

  torch::Tensor move_pose(const Sweep& s) const {
    return s.pose.to(device_, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
  }

  torch::Tensor logits(torch::Tensor planes) {
    torch::InferenceMode guard;
    check(planes);
    planes.select(0, 1).clamp_(0, 1);  // RIGHT: torch-discarded-result
    auto ground = planes[0] * sin_.unsqueeze(1) < -1.5;
    planes.index({0}).masked_fill(ground, 0);  // EXPECT: torch-discarded-result
    return net_->forward(planes.unsqueeze(0)).squeeze(0);
  }

  // Class of every cell, smoothed over the neighbours in azimuth.
  torch::Tensor classes(const torch::Tensor& logits) const {
    auto host = logits.softmax(0).cpu();
    auto smooth = (host + host.roll(1, 2)).add_(host.roll(-1, 2)).div_(3);
    return smooth.to(device_).argmax(0);  // EXPECT: torch-device-round-trip
  }

  std::vector<Obstacle> obstacles(const torch::Tensor& planes, const torch::Tensor& classes) const {
    auto cells = (classes == 3).flatten().nonzero().flatten();
    auto dist = planes[0].flatten().index_select(0, cells);
    auto host_cells = cells.cpu();
    auto host_dist = dist.to(torch::kCPU, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    std::vector<Obstacle> out(host_cells.numel());
    const int64_t* c = host_cells.data_ptr<int64_t>();
    const float* d = host_dist.data_ptr<float>();
    for (size_t k = 0; k < out.size(); ++k) out[k] = {c[k], d[k]};
    return out;
  }

  std::vector<float> class_share(const torch::Tensor& classes) const {
    auto share = torch::bincount(classes.flatten(), {}, 4).to(torch::kFloat) / kCells;
    auto host = share.to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy
    if (device_.is_cuda()) torch::cuda::synchronize();
    const float* p = host.data_ptr<float>();
    return {p, p + host.numel()};
  }

  torch::Device device() const { return device_; }

 private:
  static torch::Tensor scaled(const torch::Tensor& r, const torch::Tensor& i) {
    return torch::stack({r.to(torch::kFloat).mul_(0.004), i.to(torch::kFloat).div_(255)});
  }

  void check(const torch::Tensor& planes) const {
    TORCH_CHECK(planes.device().type() == device_.type(), "planes are elsewhere");  // RIGHT: torch-device-comparison
  }

  SegNet net_;
  torch::Device device_;
  torch::Tensor sin_, pinned_range_, pinned_intensity_;
};

// ------------------------------------------------------------------ driver

class Stopwatch {
 public:
  Stopwatch() : t0_(std::chrono::steady_clock::now()) {}
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t0_).count();
  }

 private:
  std::chrono::steady_clock::time_point t0_;
};

// Keeps what the planner still wants on the accelerator, to be fused later.
struct Fusion {
  torch::Device wanted;
  std::vector<torch::Tensor> kept;
  int64_t refused = 0;

  void offer(const torch::Tensor& t) {
    if (t.device() == wanted) {  // EXPECT: torch-device-comparison
      kept.push_back(t);
    } else {
      ++refused;
    }
  }
};

struct Flags {
  int sweeps = 5;
  bool zero_copy = false;
};

Flags parse(int argc, char** argv) {
  Flags f;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--zero-copy") f.zero_copy = true;
    if (a == "--long") f.sweeps = 500;
  }
  return f;
}

}  // namespace lidar

int main(int argc, char** argv) {
  using namespace lidar;
  torch::set_num_threads(1);
  torch::manual_seed(3);
  const Flags flags = parse(argc, argv);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  PacketQueue queue;
  std::thread sensor(sensor_main, std::ref(queue), flags.sweeps + 1);
  sensor.join();

  Decoder decoder(flags.zero_copy);
  Labeller labeller(SegNet(), device);
  Recorder recorder(64);
  Fusion fusion{device, {}};

  auto kept = decoder.adopt(queue.pop());
  double net_ms = 0, total_ms = 0;
  size_t found = 0;
  std::vector<float> share;
  while (auto packet = queue.pop()) {
    Stopwatch whole;
    auto sweep = decoder.decode(std::move(packet));
    recorder.add(sweep);
    auto planes = labeller.upload(sweep);
    auto pose = labeller.move_pose(sweep);

    Stopwatch net_only;
    auto logits = labeller.logits(planes);
    net_ms += net_only.ms();  // EXPECT: torch-timing-without-sync

    auto classes = labeller.classes(logits);
    auto obstacles = labeller.obstacles(planes, classes);
    found += obstacles.size();
    share = labeller.class_share(classes);
    fusion.offer(planes);
    fusion.offer(pose);
    total_ms += whole.ms();  // RIGHT: torch-timing-without-sync
  }
  std::cout << "first range " << kept[0][0].item<int16_t>() << " recorded " << recorder.used() << " last "
            << recorder.first(0) << "\n";
  std::cout << "net " << net_ms << " ms of " << total_ms << " ms, " << found << " obstacles, class 0 "
            << (share.empty() ? 0.f : share[0]) << "\n";
  std::cout << "fused " << fusion.kept.size() << " refused " << fusion.refused << "\n";
  return 0;
}
