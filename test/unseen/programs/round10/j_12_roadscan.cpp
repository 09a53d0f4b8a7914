// Cracks in road surfaces: strips of a line camera, a small segmentation net in
// mixed precision, a map of the road that is stitched from overlapping tiles.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <set>
#include <stack>
#include <string>
#include <utility>
#include <vector>

namespace road {

using torch::Tensor;

struct Settings {
  int64_t tile = 32;
  int64_t stride = 16;
  int64_t batch = 8;
  int64_t classes = 3;
  int64_t width = 12;
  bool amp = true;
  torch::Device device{torch::kCPU};
};

Settings settings() {
  Settings s;
  if (torch::cuda::is_available()) s.device = torch::Device("cuda");
  return s;
}

/// Autocast for a block.
class Amp {
 public:
  Amp(torch::DeviceType type, bool on) : type_(type), before_(at::autocast::is_autocast_enabled(type)) {
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(type_, on);  // RIGHT: torch-autocast-cache
  }
  ~Amp() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, before_);
  }
  Amp(const Amp&) = delete;
  Amp& operator=(const Amp&) = delete;

 private:
  torch::DeviceType type_;
  bool before_;
};

// ------------------------------------------------------------------ camera

struct Strip {
  int64_t rows, cols;
  std::vector<uint8_t> pixels;
};

Strip capture(int64_t rows, int64_t cols, unsigned seed) {
  Strip s{rows, cols, std::vector<uint8_t>(rows * cols)};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      seed = seed * 1664525u + 1013904223u;
      const bool crack = (r + c / 3) % 29 == 0;
      s.pixels[r * cols + c] = static_cast<uint8_t>((crack ? 40 : 150) + (seed >> 28));
    }
  }
  return s;
}

Tensor grey(Strip& s) {
  return torch::from_blob(s.pixels.data(), {s.rows, s.cols}, torch::kUInt8).clone();  // RIGHT: torch-redundant-transfer
}

struct Batch {
  Tensor image;   // [n, 1, t, t] bytes
  Tensor label;   // [n, t, t] bool

  Batch to(torch::Device d) const {
    Tensor i = image.to(d, /*non_blocking=*/true);  // EXPECT: torch-pageable-transfer
    return {i.to(torch::kFloat32).div_(255), label.to(d).to(torch::kLong)};  // RIGHT: torch-convert-before-transfer
  }
};

std::vector<Batch> tiles(const Tensor& strip, const Settings& s) {
  auto cut = strip.unfold(0, s.tile, s.stride).unfold(1, s.tile, s.stride).reshape({-1, 1, s.tile, s.tile});
  std::vector<Batch> all;
  for (int64_t a = 0; a + s.batch <= cut.size(0); a += s.batch) {
    auto image = cut.slice(0, a, a + s.batch);
    auto label = image.squeeze(1) < 100;
    all.push_back({image, label});
  }
  return all;
}

/// Page-locked memory through which all strips of a drive go to the device.
class Staging {
 public:
  Staging(int64_t rows, int64_t cols, torch::Device d)
      : device_(d),
        buffer_(torch::empty({rows, cols}, torch::TensorOptions().dtype(torch::kUInt8).pinned_memory(d.is_cuda()))) {}

  Tensor send(const Strip& s) {
    std::memcpy(buffer_.data_ptr(), s.pixels.data(), s.pixels.size());
    auto there = buffer_.to(device_, /*non_blocking=*/true);  // RIGHT: torch-pageable-transfer
    if (device_.is_cuda()) torch::cuda::synchronize();
    return there.to(torch::kFloat32).div_(255);
  }

 private:
  torch::Device device_;
  Tensor buffer_;
};

// ------------------------------------------------------------------ network

struct SegmenterImpl : torch::nn::Module {
  explicit SegmenterImpl(const Settings& s) {
    using Options = torch::nn::Conv2dOptions;
    down = register_module("down", torch::nn::Conv2d(Options(1, s.width, 3).padding(1)));
    mid = register_module("mid", torch::nn::Conv2d(Options(s.width, s.width, 3).padding(2).dilation(2)));
    up = register_module("up", torch::nn::Conv2d(Options(s.width, s.classes, 1)));
    grade = register_module("grade", torch::nn::Linear(s.width, 1));
  }
  Tensor encode(const Tensor& x) { return torch::relu(mid(torch::relu(down(x)))); }
  Tensor forward(const Tensor& x) { return up(encode(x)); }

  torch::nn::Conv2d down{nullptr}, mid{nullptr}, up{nullptr};
  torch::nn::Linear grade{nullptr};
};
TORCH_MODULE(Segmenter);

// ------------------------------------------------------------------ training

class Course {
 public:
  Course(Segmenter net, const Settings& s) : net_(std::move(net)), s_(s) {
    balance_ = torch::tensor({0.2f, 1.0f, 2.0f});
  }

  /// First course: the whole of it in mixed precision.
  double pretrain(const std::vector<Batch>& data, int epochs) {
    torch::optim::Adam opt(net_->parameters(), torch::optim::AdamOptions(1e-3));
    const auto type = s_.device.type();
    at::autocast::set_autocast_dtype(type, torch::kBFloat16);
    at::autocast::set_autocast_enabled(type, s_.amp);  // EXPECT: torch-autocast-cache
    Tensor last;
    for (int e = 0; e < epochs; ++e) {
      for (const auto& host : data) {
        auto b = host.to(s_.device);
        auto scores = net_->forward(b.image);
        auto weight = balance_.to(s_.device);  // EXPECT: torch-repeated-transfer
        auto loss = torch::cross_entropy_loss(scores, b.label, weight);
        opt.zero_grad();
        loss.backward();
        opt.step();
        last = loss.detach();
      }
    }
    at::autocast::set_autocast_enabled(type, false);
    return last.item<double>();
  }

  /// Second course: hard tiles, weighted by how far they are from the border.
  double harden(const std::vector<Batch>& data) {
    torch::optim::SGD opt(net_->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
    const auto weight = balance_.to(s_.device);
    auto ramp = torch::linspace(0.5, 1.0, s_.tile, torch::TensorOptions().device(s_.device));  // RIGHT: torch-allocate-on-device
    Tensor last;
    for (const auto& host : data) {
      auto b = host.to(s_.device);  // RIGHT: torch-repeated-transfer
      Tensor scores;
      {
        Amp amp(s_.device.type(), s_.amp);
        scores = net_->forward(b.image);
      }
      auto weighted = scores * ramp;  // RIGHT: torch-autocast-boundary
      auto loss = torch::cross_entropy_loss(weighted, b.label, weight);
      opt.zero_grad();
      loss.backward();
      opt.step();
      last = loss.detach();
    }
    return last.item<double>();
  }

 private:
  Segmenter net_;
  Settings s_;
  Tensor balance_;
};

// ------------------------------------------------------------------ survey

/// Specks that the net leaves are closed before they are counted.
Tensor closeGaps(const Tensor& prob) {
  auto host = prob.to(torch::kCPU);
  auto wide = torch::max_pool2d(host, 3, 1, 1);
  auto thin = -torch::max_pool2d(-wide, 3, 1, 1);
  return thin.to(prob.device());  // EXPECT: torch-device-round-trip
}

/// Keeps the connected parts of at least `least` pixels.
Tensor largeParts(const Tensor& mask, int least) {
  auto host = mask.to(torch::kCPU).contiguous();
  const int64_t rows = host.size(0), cols = host.size(1);
  std::vector<uint8_t> in(rows * cols), out(rows * cols, 0), seen(rows * cols, 0);
  std::memcpy(in.data(), host.data_ptr(), in.size());  // RIGHT: torch-noncontiguous-operand
  for (int64_t start = 0; start < rows * cols; ++start) {
    if (!in[start] || seen[start]) continue;
    std::vector<int64_t> part, todo{start};
    seen[start] = 1;
    while (!todo.empty()) {
      const int64_t i = todo.back();
      todo.pop_back();
      part.push_back(i);
      const int64_t r = i / cols, c = i % cols;
      const int64_t next[4] = {r > 0 ? i - cols : -1, r + 1 < rows ? i + cols : -1, c > 0 ? i - 1 : -1,
                               c + 1 < cols ? i + 1 : -1};
      for (int64_t n : next) {
        if (n >= 0 && in[n] && !seen[n]) {
          seen[n] = 1;
          todo.push_back(n);
        }
      }
    }
    if (static_cast<int>(part.size()) >= least) {
      for (int64_t i : part) out[i] = 1;
    }
  }
  auto kept = torch::from_blob(out.data(), {rows, cols}, torch::kUInt8).to(torch::kBool);
  return kept.to(mask.device());  // RIGHT: torch-device-round-trip
}

class Survey {
 public:
  Survey(Segmenter net, const Settings& s) : net_(std::move(net)), s_(s) { net_->eval(); }

  /// Probability of a crack for every pixel of a strip.
  Tensor map(const Tensor& strip) {
    torch::NoGradGuard guard;
    const int64_t rows = strip.size(0), cols = strip.size(1);
    auto sum = torch::zeros({s_.classes, rows, cols}).to(s_.device);  // EXPECT: torch-allocate-on-device
    auto count = torch::zeros({rows, cols}, sum.options());
    const Tensor& window = blend();
    for (int64_t r = 0; r + s_.tile <= rows; r += s_.stride) {
      for (int64_t c = 0; c + s_.tile <= cols; c += s_.stride) {
        auto tile = strip.slice(0, r, r + s_.tile).slice(1, c, c + s_.tile);
        Tensor scores;
        {
          Amp amp(s_.device.type(), s_.amp);
          scores = net_->forward(tile.unsqueeze(0).unsqueeze(0)).squeeze(0);
        }
        sum.slice(1, r, r + s_.tile).slice(2, c, c + s_.tile).addcmul_(scores.to(torch::kFloat32), window);
        count.slice(0, r, r + s_.tile).slice(1, c, c + s_.tile).add_(window);
      }
    }
    return torch::softmax(sum / count.clamp_min(1e-6), 0);
  }

  /// The most likely class of each pixel, by rows.
  Tensor classes(const Tensor& prob) const {
    auto last = prob.permute({1, 2, 0}).contiguous();  // EXPECT: torch-noncontiguous-operand
    return last.argmax(-1);
  }

  std::vector<float> profile(const Tensor& prob) const {
    Tensor lines = prob[1].mean(1);
    Tensor host = lines.to(torch::kCPU).clone();  // EXPECT: torch-redundant-transfer
    const float* p = host.data_ptr<float>();
    return std::vector<float>(p, p + host.numel());
  }

  /// Condition of the section, from what the encoder has seen.
  Tensor condition(const Tensor& strip) {
    torch::NoGradGuard guard;
    Tensor pooled;
    {
      Amp amp(s_.device.type(), s_.amp);
      pooled = net_->encode(strip.unsqueeze(0).unsqueeze(0)).flatten(2).amax(2);
    }
    return torch::sigmoid(net_->grade(pooled));  // EXPECT: torch-autocast-boundary
  }

  Tensor conditionOf(const Tensor& strip) {
    torch::NoGradGuard guard;
    Tensor pooled;
    {
      Amp amp(s_.device.type(), s_.amp);
      pooled = net_->encode(strip.unsqueeze(0).unsqueeze(0)).flatten(2).amax(2);
    }
    auto exact = pooled.to(torch::kFloat32);
    return torch::sigmoid(net_->grade(exact));  // RIGHT: torch-autocast-boundary
  }

  double cracked(const Tensor& prob, const Tensor& lane) const {
    Tensor weight = lane;
    if (weight.device() != prob.device()) weight = weight.to(prob.device());  // RIGHT: torch-device-comparison
    return (prob[1] * weight).sum().item<double>();
  }

  int built() const { return built_; }

 private:
  const Tensor& blend() {
    if (!window_.defined() || window_.device() != s_.device) {  // EXPECT: torch-device-comparison
      auto one = torch::hann_window(s_.tile, torch::TensorOptions().device(s_.device)) + 0.05;
      window_ = torch::outer(one, one);
      ++built_;
    }
    return window_;
  }

  Segmenter net_;
  Settings s_;
  Tensor window_;
  int built_ = 0;
};

/// For the archive, which is written by the host.
int64_t packed(const Tensor& t, std::vector<char>& out) {
  Tensor host = t.device() == torch::Device(torch::kCPU) ? t : t.to(torch::kCPU);  // RIGHT: torch-device-comparison
  host = host.contiguous();
  out.assign(static_cast<const char*>(host.data_ptr()), static_cast<const char*>(host.data_ptr()) + host.nbytes());
  return static_cast<int64_t>(out.size());
}

}  // namespace road

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(29);
  std::set<std::string> flags(argv + 1, argv + argc);
  auto s = road::settings();
  s.amp = flags.count("--full") == 0;

  road::Segmenter net(s);
  net->to(s.device);
  auto strip = road::capture(96, 128, 7);
  auto data = road::tiles(road::grey(strip), s);

  road::Course course(net, s);
  std::cout << "pretrain " << course.pretrain(data, 2) << "\n";
  std::cout << "harden " << course.harden(data) << "\n";

  road::Survey survey(net, s);
  road::Staging staging(96, 128, s.device);
  torch::Tensor lane = torch::ones({96, 128}, s.device);
  for (unsigned k = 0; k < 3; ++k) {
    auto next = road::capture(96, 128, 100 + k);
    auto there = staging.send(next);
    auto prob = road::closeGaps(survey.map(there));
    auto kept = road::largeParts(prob[1] > 0.4, 6);
    auto grade = flags.count("--grade") ? survey.condition(there) : survey.conditionOf(there);
    auto lines = survey.profile(prob);
    std::vector<char> file;
    const auto bytes = road::packed(survey.classes(prob).to(torch::kUInt8), file);
    std::cout << "strip " << k << " cracked " << survey.cracked(prob, lane) << " kept " << kept.sum().item<int64_t>()
              << " grade " << grade.item<float>() << " worst line " << *std::max_element(lines.begin(), lines.end())
              << " file " << bytes << "\n";
  }
  std::cout << "windows built " << survey.built() << "\n";
  return 0;
}
