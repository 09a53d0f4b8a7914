// Ingest path of a rotating lidar: packets in, labelled range images out.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace lidar {

constexpr int64_t kBeams = 64;
constexpr int64_t kColumns = 1024;
constexpr uint32_t kMagic = 0x4c444152;

struct Vec4 {
  float x, y, z, w;
};

struct Packet {
  std::vector<Vec4> returns;
  std::vector<double> stamps;
  std::vector<uint8_t> labels;
  std::vector<std::complex<float>> iq;
  int64_t seq = 0;
};

struct WireFormat {
  torch::ScalarType dtype = torch::kFloat32;
  int64_t channels = 5;
};

Packet synthesize(int64_t seq, std::mt19937& rng) {
  std::uniform_real_distribution<float> jitter(-0.05f, 0.05f);
  Packet p;
  p.seq = seq;
  p.returns.reserve(kBeams * kColumns);
  for (int64_t b = 0; b < kBeams; ++b) {
    for (int64_t c = 0; c < kColumns; ++c) {
      const float az = 6.2831853f * static_cast<float>(c) / kColumns;
      const float r = 12.0f + 3.0f * std::sin(4 * az) + jitter(rng);
      p.returns.push_back({r * std::cos(az), r * std::sin(az), 0.02f * b, 0.5f + jitter(rng)});
    }
  }
  for (int64_t c = 0; c < kColumns; ++c) {
    p.stamps.push_back(1.7e9 + 0.1 * seq + 1e-4 * c);
    p.iq.emplace_back(jitter(rng), jitter(rng));
  }
  p.labels.assign(kBeams * kColumns, 0);
  return p;
}

// Non-owning look at a packet; the packet outlives it.
class PacketView {
 public:
  explicit PacketView(Packet& p) : p_(p), bytes_(torch::TensorOptions().dtype(torch::kByte)) {}

  torch::Tensor xyzw() const {
    return torch::from_blob(p_.returns.data(), {kBeams, kColumns, 4}, torch::kFloat32);  // RIGHT: torch-blob-dtype
  }

  torch::Tensor times() const {
    auto* first = p_.stamps.data();
    const auto count = static_cast<int64_t>(p_.stamps.size());
    return torch::from_blob(first, {count}, torch::TensorOptions().requires_grad(false));  // EXPECT: torch-blob-dtype
  }

  torch::Tensor labels() const {
    return torch::from_blob(p_.labels.data(), {kBeams, kColumns}, bytes_);  // RIGHT: torch-blob-dtype
  }

  torch::Tensor spectrum() const {
    auto iq = torch::from_blob(p_.iq.data(), {kColumns}, torch::kComplexFloat);
    return torch::fft::fft(iq).abs();
  }

 private:
  Packet& p_;
  torch::TensorOptions bytes_;
};

struct RangeNetImpl : torch::nn::Module {
  RangeNetImpl(int64_t in, int64_t classes)
      : stem(torch::nn::Conv2dOptions(in, 16, 3).padding(1)),
        mid(torch::nn::Conv2dOptions(16, 16, 3).padding(1).stride({1, 2})),
        head(torch::nn::Conv2dOptions(16, classes, 1)) {
    register_module("stem", stem);
    register_module("mid", mid);
    register_module("head", head);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(stem(x));
    x = torch::relu(mid(x));
    return head(x);
  }
  torch::nn::Conv2d stem, mid, head;
};
TORCH_MODULE(RangeNet);

class Decoder {
 public:
  explicit Decoder(torch::Device device) : device_(device) {}

  torch::Tensor ranges(const Packet& p) const {
    std::vector<float> metres;
    metres.reserve(p.returns.size());
    for (const auto& r : p.returns) metres.push_back(std::sqrt(r.x * r.x + r.y * r.y + r.z * r.z));
    return torch::from_blob(metres.data(), {kBeams, kColumns}, torch::kFloat).to(device_);  // EXPECT: torch-blob-lifetime
  }

  torch::Tensor intensities(const Packet& p) const {
    std::vector<float> w;
    w.reserve(p.returns.size());
    for (const auto& r : p.returns) w.push_back(r.w);
    auto view = torch::from_blob(w.data(), {kBeams, kColumns}, torch::kFloat);  // RIGHT: torch-blob-lifetime
    return view.mul(255.0f).to(device_);
  }

  torch::Tensor heights(const Packet& p) const {
    auto* z = new std::vector<float>();
    z->reserve(p.returns.size());
    for (const auto& r : p.returns) z->push_back(r.z);
    return torch::from_blob(z->data(), {kBeams, kColumns}, [z](void*) { delete z; }, torch::kFloat);  // RIGHT: torch-blob-lifetime
  }

 private:
  torch::Device device_;
};

class Segmenter {
 public:
  Segmenter(RangeNet net, torch::Device device, WireFormat format)
      : net_(std::move(net)), device_(device), format_(format) {
    net_->to(device_);
    net_->eval();
    const auto opts = torch::TensorOptions().pinned_memory(torch::cuda::is_available());
    staging_ = torch::zeros({1, format_.channels, kBeams, kColumns}, opts);
    answer_ = torch::empty({1, 4, kBeams, kColumns / 2}, opts);
  }

  torch::Tensor azimuths() {
    if (!azimuths_.defined() || azimuths_.device() != device_) {  // EXPECT: torch-device-comparison
      azimuths_ = torch::linspace(0, 6.2831853, kColumns, torch::device(device_)).cos().expand({kBeams, kColumns});
    }
    return azimuths_;
  }

  bool same_place(const torch::Tensor& other) const {
    return other.device() == net_->stem->weight.device();  // RIGHT: torch-device-comparison
  }

  torch::Tensor score(const torch::Tensor& xyzw, const torch::Tensor& intensity) {
    torch::NoGradGuard guard;
    staging_[0].slice(0, 0, 4).copy_(xyzw.permute({2, 0, 1}));
    auto frame = staging_.to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
    if (frame.is_same(staging_)) frame = frame.clone();
    frame.select(1, 3).mul_(azimuths());
    if (same_place(intensity)) frame.select(1, 4).copy_(intensity);
    return net_->forward(frame);
  }

  void publish(const torch::Tensor& scores) {
    answer_.copy_(scores, /*non_blocking=*/true);  // EXPECT: torch-unsynchronized-copy
    ++published_;
  }

  double confidence() const {
    const float* p = answer_.data_ptr<float>();
    double s = 0;
    for (int64_t i = 0; i < answer_.numel(); ++i) s += p[i];
    return s / static_cast<double>(answer_.numel());
  }

  std::vector<float> histogram(const torch::Tensor& scores) const {
    auto per_class = scores.mean({0, 2, 3}).to(torch::kCPU, /*non_blocking=*/true);  // RIGHT: torch-unsynchronized-copy
    if (device_.is_cuda()) torch::cuda::synchronize();
    const float* p = per_class.data_ptr<float>();
    return std::vector<float>(p, p + per_class.numel());
  }

  std::string describe(const torch::Tensor& scores) const {
    const auto local = scores.to(torch::kCPU);  // EXPECT: torch-transfer-for-metadata
    std::ostringstream os;
    os << local.sizes() << ' ' << local.scalar_type() << " #" << published_;
    return os.str();
  }

  std::size_t frame_bytes() const {
    const std::size_t cells = static_cast<std::size_t>(format_.channels * kBeams * kColumns);
    return cells * sizeof(format_.dtype);  // EXPECT: torch-sizeof-dtype
  }

  std::size_t answer_bytes() const {
    return static_cast<std::size_t>(answer_.numel()) * c10::elementSize(format_.dtype);
  }

 private:
  RangeNet net_;
  torch::Device device_;
  WireFormat format_;
  torch::Tensor staging_, answer_, azimuths_;
  int published_ = 0;
};

// Keeps what the loop-closure search wants of every frame.
class KeyframeStore {
 public:
  explicit KeyframeStore(std::size_t limit) : limit_(limit) {}

  void add(const torch::Tensor& scores, const torch::Tensor& spectrum) {
    auto horizon = scores.select(2, kBeams / 2);
    horizons_.push_back(horizon);  // EXPECT: torch-view-pins-storage
    auto corner = scores.slice(3, 0, 8).slice(2, 0, 8);
    corners_.push_back(corner.clone());  // RIGHT: torch-view-pins-storage
    spectra_.push_back(spectrum);
    if (horizons_.size() > limit_) {
      horizons_.pop_front();
      corners_.pop_front();
      spectra_.pop_front();
    }
  }

  torch::Tensor mean_horizon() const {
    std::vector<torch::Tensor> all(horizons_.begin(), horizons_.end());
    return torch::stack(all).mean(0);
  }

  std::size_t size() const { return horizons_.size(); }

 private:
  std::size_t limit_;
  std::deque<torch::Tensor> horizons_, corners_, spectra_;
};

class Grid {
 public:
  Grid(int64_t rows, int64_t cols) : rows_(rows), cols_(cols), shape_{rows, cols} {}

  torch::IntArrayRef extent() const { return shape_; }  // RIGHT: torch-dangling-data
  torch::Tensor blank() const { return torch::zeros({rows_, cols_}); }

  float* raster(const torch::Tensor& xyzw) const {
    auto flat = xyzw.select(2, 2);
    return flat.mul(100.0f).contiguous().data_ptr<float>();  // EXPECT: torch-dangling-data
  }

  float peak(const torch::Tensor& xyzw) const {
    auto flat = xyzw.select(2, 2).mul(100.0f);
    const float* p = flat.data_ptr<float>();
    float best = p[0];
    for (int64_t i = 1; i < flat.numel(); ++i) best = std::max(best, p[i]);
    return best;
  }

 private:
  int64_t rows_, cols_;
  std::vector<int64_t> shape_;
};

void dump(const std::string& path, const WireFormat& f, const torch::Tensor& t) {
  std::ofstream out(path, std::ios::binary);
  auto host = t.to(torch::kCPU, f.dtype).contiguous();
  const auto n = static_cast<uint64_t>(host.numel());
  out.write(reinterpret_cast<const char*>(&kMagic), sizeof(kMagic));
  out.write(reinterpret_cast<const char*>(&f.dtype), sizeof(f.dtype));  // RIGHT: torch-sizeof-dtype
  out.write(reinterpret_cast<const char*>(&n), sizeof(n));
  out.write(static_cast<const char*>(host.data_ptr()), static_cast<std::streamsize>(n * host.element_size()));
}

torch::Tensor upload(const std::vector<torch::Tensor>& clouds, torch::Device device) {
  auto joined = torch::stack(clouds);
  return joined.to(device, joined.scalar_type(), /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
}

}  // namespace lidar

int main(int argc, char** argv) {
  using namespace lidar;
  bool with_ranges = false, with_raster = false;
  for (int i = 1; i < argc; ++i) {
    with_ranges |= !std::strcmp(argv[i], "--ranges");
    with_raster |= !std::strcmp(argv[i], "--raster");
  }

  torch::manual_seed(3);
  std::mt19937 rng(3);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  WireFormat format;
  RangeNet net(format.channels, 4);
  Segmenter segmenter(net, device, format);
  Decoder decoder(device);
  KeyframeStore store(512);
  Grid grid(kBeams, kColumns);

  std::vector<torch::Tensor> pending;
  auto occupancy = torch::zeros({kColumns, 4}, torch::device(device));
  for (int64_t seq = 0; seq < 6; ++seq) {
    Packet packet = synthesize(seq, rng);
    PacketView view(packet);
    const auto xyzw = view.xyzw();
    const auto scores = segmenter.score(xyzw, decoder.intensities(packet));
    segmenter.publish(scores);
    std::cout << "frame " << seq << " confidence " << segmenter.confidence() << ' ' << segmenter.describe(scores) << '\n';

    store.add(scores, view.spectrum());
    pending.push_back(xyzw.clone());  // RIGHT: torch-blob-lifetime
    if (pending.size() == 3) {
      occupancy += upload(pending, device).flatten(0, 1).mean(0);
      pending.clear();
    }

    const auto t = view.times();
    std::cout << "  span " << (t[-1] - t[0]).item<double>() << " s, peak " << grid.peak(xyzw) << " cm\n";
    std::cout << "  heights " << decoder.heights(packet).max().item<float>() << ", classes";
    for (float h : segmenter.histogram(scores)) std::cout << ' ' << h;
    std::cout << ", labelled " << view.labels().count_nonzero().item<int64_t>() << '\n';

    if (with_ranges) std::cout << "  ranges " << decoder.ranges(packet).mean().item<float>() << '\n';
    if (with_raster) {
      const float* p = grid.raster(xyzw);
      std::cout << "  raster " << p[0] << ' ' << p[kColumns] << '\n';
    }
  }

  const auto horizon = store.mean_horizon();
  const bool on_host = horizon.device() == torch::kCPU;  // RIGHT: torch-device-comparison
  std::cout << "horizon " << horizon.sizes() << (on_host ? " (host)" : " (device)") << ", kept " << store.size() << '\n';

  std::cout << "occupancy " << occupancy.norm().item<float>() << ", grid " << grid.extent() << ' ' << grid.blank().numel() << '\n';
  std::cout << "bytes per frame " << segmenter.frame_bytes() << ", per answer " << segmenter.answer_bytes() << '\n';
  dump("/dev/null", format, occupancy);
  return 0;
}
