// Phase picker for a small seismic network: packets of raw counts come in,
// windows go through a convolutional net, picks go into a catalogue.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace seis {

constexpr int64_t kComponents = 3;
constexpr int64_t kWindow = 3000;
constexpr double kRate = 100.0;
constexpr auto kWireType = torch::kInt16;
constexpr auto kStoreType = torch::kFloat32;

// ---------------------------------------------------------------- packets

struct Packet {
  uint32_t station = 0;
  double start = 0.0;
  std::vector<uint8_t> payload;  // int16 counts, component after component

  int64_t samples() const {
    return static_cast<int64_t>(payload.size() / (kComponents * c10::elementSize(kWireType)));  // RIGHT: torch-sizeof-dtype
  }
};

struct Segment {
  uint32_t station = 0;
  double start = 0.0;
  torch::Tensor counts;  // [3, n]
};

struct Calibration {
  std::array<double, kComponents> gain{};
  std::string unit = "m/s";
  torch::Tensor asTensor() {
    auto view = torch::from_blob(gain.data(), {kComponents, 1});  // EXPECT: torch-blob-dtype
    return view.clone();
  }
};

Packet synthesize(uint32_t station, double start, int64_t n, double onset) {
  Packet p;
  p.station = station;
  p.start = start;
  std::vector<int16_t> counts(kComponents * n);
  for (int64_t c = 0; c < kComponents; ++c) {
    for (int64_t i = 0; i < n; ++i) {
      double t = i / kRate;
      double a = 20.0 * std::sin(0.7 * t + c + station);
      if (t > onset) a += 900.0 * std::exp(-(t - onset) / 3.0) * std::sin(25.0 * (t - onset));
      counts[c * n + i] = static_cast<int16_t>(a);
    }
  }
  p.payload.resize(counts.size() * sizeof(int16_t));
  std::memcpy(p.payload.data(), counts.data(), p.payload.size());
  return p;
}

/// Packets of the current digitisers.
Segment decode(Packet& p) {
  auto raw = torch::from_blob(p.payload.data(), {kComponents, p.samples()}, kWireType);  // RIGHT: torch-blob-dtype
  return Segment{p.station, p.start, raw.clone()};
}

/// Packets of the old digitisers are interleaved and byte-swapped.
Segment decodeLegacy(const Packet& p) {
  const int64_t n = p.samples();
  std::vector<int16_t> host(n * kComponents);
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<int16_t>((p.payload[2 * i] << 8) | p.payload[2 * i + 1]);
  }
  auto grid = torch::from_blob(host.data(), {n, kComponents}, torch::kInt16);  // EXPECT: torch-blob-lifetime
  Segment s;
  s.station = p.station;
  s.start = p.start;
  s.counts = grid.t();
  return s;
}

/// Boards with a 24-bit converter send int32.
torch::Tensor decodeWide(const Packet& p) {
  std::vector<int32_t> host(p.payload.size() / sizeof(int32_t));
  std::memcpy(host.data(), p.payload.data(), host.size() * sizeof(int32_t));
  auto t = torch::from_blob(host.data(), {static_cast<int64_t>(host.size())}, torch::kInt32);  // RIGHT: torch-blob-lifetime
  return t.to(torch::kFloat32);
}

torch::Tensor adopt(std::vector<float> samples) {
  auto owner = std::make_shared<std::vector<float>>(std::move(samples));
  const auto n = static_cast<int64_t>(owner->size());
  return torch::from_blob(owner->data(), {n}, [owner](void*) {});  // RIGHT: torch-blob-lifetime
}

void writeSegment(std::ostream& out, const Segment& s) {
  const auto type = s.counts.scalar_type();
  const int64_t n = s.counts.size(1);
  out.write(reinterpret_cast<const char*>(&type), sizeof(type));  // RIGHT: torch-sizeof-dtype
  out.write(reinterpret_cast<const char*>(&n), sizeof(n));
  auto flat = s.counts.contiguous();
  out.write(static_cast<const char*>(flat.data_ptr()), static_cast<std::streamsize>(flat.nbytes()));
}

// ---------------------------------------------------------------- network

struct PickerImpl : torch::nn::Module {
  explicit PickerImpl(int64_t width) {
    auto conv = [](int64_t in, int64_t out) {
      return torch::nn::Conv1d(torch::nn::Conv1dOptions(in, out, 7).padding(3));
    };
    body = register_module("body", torch::nn::Sequential(conv(kComponents, width), torch::nn::BatchNorm1d(width),
                                                         torch::nn::ReLU(), conv(width, width), torch::nn::ReLU()));
    head = register_module("head", torch::nn::Conv1d(torch::nn::Conv1dOptions(width, 3, 1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head->forward(body->forward(x)); }
  torch::nn::Sequential body{nullptr};
  torch::nn::Conv1d head{nullptr};
};
TORCH_MODULE(Picker);

torch::Tensor boxcar(const torch::Tensor& p, int64_t width) {
  return torch::avg_pool1d(p.unsqueeze(0), width, 1, width / 2).squeeze(0);
}

// ---------------------------------------------------------------- catalogue

struct Pick {
  uint32_t station;
  double time;
  int phase;
  torch::Tensor snippet;
};

class Catalogue {
 public:
  void add(Pick p) { picks_.push_back(std::move(p)); }
  size_t size() const { return picks_.size(); }
  const Pick& at(size_t i) const { return picks_.at(i); }

 private:
  std::vector<Pick> picks_;
};

/// Recent windows of a station, as many as a budget of bytes allows.
class WindowCache {
 public:
  explicit WindowCache(size_t budgetBytes)
      : capacity_(budgetBytes / (kComponents * kWindow * sizeof(kStoreType))) {}  // EXPECT: torch-sizeof-dtype

  void push(torch::Tensor w) {
    windows_.push_back(std::move(w));
    while (windows_.size() > capacity_) windows_.pop_front();
  }
  size_t bytes() const {
    size_t n = 0;
    for (const auto& w : windows_) n += w.nbytes();
    return n;
  }

 private:
  size_t capacity_;
  std::deque<torch::Tensor> windows_;
};

// ---------------------------------------------------------------- engine

class Engine {
 public:
  Engine(Picker net, torch::Device device) : net_(std::move(net)), device_(device), cache_(64u << 20) {
    net_->to(device_);
    net_->eval();
  }

  void calibrate(uint32_t station, Calibration c) { gains_[station] = c.asTensor().to(device_); }

  /// One window of a live stream.
  torch::Tensor live(const Segment& s) {
    auto wave = s.counts.to(torch::kFloat32);
    wave = wave.to(device_) * gains_.at(s.station);  // EXPECT: torch-convert-before-transfer
    cache_.push(wave);
    auto scores = net_->forward(wave.unsqueeze(0));  // EXPECT: torch-missing-no-grad
    return torch::softmax(scores, 1).squeeze(0);
  }

  /// A whole archive file.
  torch::Tensor archive(const torch::Tensor& counts, uint32_t station) {
    torch::NoGradGuard off;
    auto wave = counts.to(device_).to(torch::kFloat32) * gains_.at(station);  // RIGHT: torch-convert-before-transfer
    return classify(wave.unsqueeze(0));
  }

  void harvestLive(const Segment& s, const torch::Tensor& prob, Catalogue& out) {
    const int64_t n = prob.size(1);
    for (int64_t i = 1; i + 1 < n; i += 10) {
      const float p = prob[1][i].item<float>();  // EXPECT: torch-element-access-in-loop
      if (p > threshold_) out.add({s.station, s.start + i / kRate, 1, {}});
    }
  }

  void harvestDay(const torch::Tensor& day, uint32_t station, const torch::Tensor& prob, Catalogue& out) {
    const torch::Tensor host = prob.to(torch::kCPU);
    const auto acc = host.accessor<float, 2>();
    const int64_t n = host.size(1);  // RIGHT: torch-transfer-for-metadata
    for (int phase = 1; phase <= 2; ++phase) {
      int64_t next = 100;
      for (int64_t i = 100; i + 100 < n; ++i) {
        if (i < next || acc[phase][i] < threshold_) continue;  // RIGHT: torch-element-access-in-loop
        Pick pick{station, i / kRate, phase, {}};
        if (phase == 1) {
          pick.snippet = day.slice(1, i - 100, i + 100);  // EXPECT: torch-view-pins-storage
        } else {
          pick.snippet = day.slice(1, i - 100, i + 100).clone();  // RIGHT: torch-view-pins-storage
        }
        out.add(std::move(pick));
        next = i + 20000;
      }
    }
  }

  double coverage(const torch::Tensor& prob) const {
    const int64_t frames = prob.to(torch::kCPU).size(1);  // EXPECT: torch-transfer-for-metadata
    return static_cast<double>(frames) / kRate;
  }

  void dump(const torch::Tensor& prob, std::FILE* f) const {
    const int64_t n = prob.size(1);
    const float* noise = boxcar(prob.to(torch::kCPU), 51).contiguous().data_ptr<float>();  // EXPECT: torch-dangling-data
    for (int64_t i = 0; i < n; i += 500) std::fprintf(f, "%lld %.4f\n", static_cast<long long>(i), noise[i]);
  }

  std::vector<float> trace(const torch::Tensor& prob, int phase) const {
    std::vector<float> out(prob.size(1));
    std::memcpy(out.data(), prob[phase].to(torch::kCPU).contiguous().data_ptr<float>(), out.size() * sizeof(float));  // RIGHT: torch-dangling-data
    return out;
  }

  size_t cached() const { return cache_.bytes(); }
  void threshold(float t) { threshold_ = t; }

 private:
  torch::Tensor classify(const torch::Tensor& batch) {
    return torch::softmax(net_->forward(batch), 1).squeeze(0);  // RIGHT: torch-missing-no-grad
  }

  Picker net_;
  torch::Device device_;
  WindowCache cache_;
  std::map<uint32_t, torch::Tensor> gains_;
  float threshold_ = 0.3f;
};

}  // namespace seis

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(3);
  bool legacy = false, dump = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    legacy |= a == "--legacy";
    dump |= a == "--dump";
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  seis::Engine engine(seis::Picker(8), device);
  for (uint32_t s = 0; s < 4; ++s) {
    seis::Calibration c;
    c.gain = {1.0 / (700 + s), 1.0 / 650, 1.0 / 655};
    engine.calibrate(s, c);
  }

  seis::Catalogue catalogue;
  double seconds = 0;
  for (int round = 0; round < 5; ++round) {
    for (uint32_t s = 0; s < 4; ++s) {
      auto packet = seis::synthesize(s, round * 30.0, seis::kWindow, 12.0 + s);
      auto segment = legacy ? seis::decodeLegacy(packet) : seis::decode(packet);
      auto prob = engine.live(segment);
      engine.harvestLive(segment, prob, catalogue);
      seconds += engine.coverage(prob);
      if (dump && s == 0) engine.dump(prob, stdout);
    }
  }
  std::cout << "live: " << catalogue.size() << " picks in " << seconds << " s, cache "
            << engine.cached() / 1024 << " KiB\n";

  auto longPacket = seis::synthesize(1, 0.0, 200000, 700.0);
  auto day = seis::decode(longPacket);
  auto prob = engine.archive(day.counts, 1);
  seis::Catalogue archive;
  engine.threshold(0.2f);
  engine.harvestDay(day.counts, 1, prob, archive);
  auto p = engine.trace(prob, 1);
  std::cout << "archive: " << archive.size() << " picks, peak " << *std::max_element(p.begin(), p.end()) << "\n";

  std::ostringstream file;
  seis::writeSegment(file, day);
  std::vector<float> ramp(4096);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = 0.001f * static_cast<float>(i);
  auto taper = seis::adopt(std::move(ramp));
  seis::Packet wide;
  wide.payload.assign(4 * 300, 1);
  auto w = seis::decodeWide(wide);
  std::cout << "file " << file.str().size() << " bytes, taper " << taper.sum().item<float>() << ", wide "
            << w.mean().item<float>() << "\n";
  return 0;
}
