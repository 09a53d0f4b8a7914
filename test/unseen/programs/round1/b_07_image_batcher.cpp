#include <torch/torch.h>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

// Raw RGB frames from a grabber -> normalised NCHW batches -> tiny convnet.

struct Frame {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

struct Size { int w, h; };

static Frame grab(int index, Size s) {
  Frame f;
  f.width = s.w;
  f.height = s.h;
  f.rgb.resize(3u * s.w * s.h);
  for (size_t i = 0; i < f.rgb.size(); ++i)
    f.rgb[i] = static_cast<std::uint8_t>((i * (index + 3)) % 251);
  return f;
}

static torch::Tensor wrap(Frame& f) {
  return torch::from_blob(f.rgb.data(), {f.height, f.width, 3}, torch::kByte);  // RIGHT: torch-blob-lifetime (the caller's frame owns the memory)
}

class Preprocessor {
 public:
  Preprocessor(torch::Device device, Size size) : device_(device), size_(size) {
    mean_ = torch::full({3, size.h, size.w}, 0.45).to(device);
    std_ = torch::full({3, size.h, size.w}, 0.22).to(device);
  }

  torch::Tensor operator()(std::vector<Frame>& frames) const {
    std::vector<torch::Tensor> planes;
    for (Frame& f : frames) {
      auto img = wrap(f).permute({2, 0, 1});
      planes.push_back(img.to(device_, torch::kFloat));  // EXPECT: torch-repeated-transfer
    }
    auto batch = torch::stack(planes);
    batch.div(255.0);  // EXPECT: torch-discarded-result
    batch.sub_(mean_).div_(std_);  // RIGHT: torch-discarded-result (in place)
    return batch;
  }

  // Strips of single channels, for the contact sheet.
  torch::Tensor strips(int count) const {
    std::vector<torch::Tensor> rows;
    for (int i = 0; i < count; ++i) {
      std::vector<float> row(size_.w);
      Frame f = grab(i, size_);
      for (int x = 0; x < size_.w; ++x) row[x] = f.rgb[3 * x] / 255.f;
      rows.push_back(torch::from_blob(row.data(), {1, size_.w}));  // EXPECT: torch-blob-lifetime
    }
    return torch::cat(rows);
  }

  // Frames of different grabbers may differ in size.
  torch::Tensor thumbnails(std::vector<Frame>& frames) const {
    std::vector<torch::Tensor> small;
    for (auto& f : frames) {
      auto t = wrap(f).permute({2, 0, 1}).to(torch::kFloat).unsqueeze(0);  // RIGHT: torch-repeated-transfer (sizes differ, each is pooled by itself before they are put together)
      small.push_back(torch::adaptive_avg_pool2d(t, {12, 16}));
    }
    return torch::cat(small).to(device_);
  }

 private:
  torch::Device device_;
  Size size_;
  torch::Tensor mean_, std_;
};

struct TinyNetImpl : torch::nn::Module {
  torch::nn::Sequential body{register_module("body", torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).stride(2)), torch::nn::ReLU(),
      torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 16, 3).stride(2)), torch::nn::ReLU(),
      torch::nn::AdaptiveAvgPool2d(1), torch::nn::Flatten()))};
  torch::nn::Linear top{register_module("top", torch::nn::Linear(16, 5))};  // RIGHT: torch-unregistered-module (registered in the initialiser)
  torch::Tensor forward(torch::Tensor x) { return top(body->forward(x)); }
};
TORCH_MODULE(TinyNet);

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const torch::Device device(torch::cuda::is_available() ? "cuda" : "cpu");
  const Size size{64, 48};
  Preprocessor prep(device, size);
  TinyNet net;
  net->to(device);  // RIGHT: torch-discarded-result (a module moves itself)
  net->eval();

  torch::NoGradGuard no_grad;
  std::vector<int64_t> votes(5, 0);
  for (int b = 0; b < 10; ++b) {
    std::vector<Frame> frames;
    for (int i = 0; i < 8; ++i) frames.push_back(grab(b * 8 + i, size));
    auto classes = net->forward(prep(frames)).argmax(1).cpu();
    for (int64_t i = 0; i < classes.size(0); ++i) ++votes[classes[i].item<int64_t>()];
    if (b == 9) {
      auto thumbs = prep.thumbnails(frames);
      std::printf("thumbs %ld x %ld, mean %.2f\n", thumbs.size(2), thumbs.size(3), thumbs.mean().item<double>());
    }
  }
  for (size_t c = 0; c < votes.size(); ++c) std::printf("class %zu: %ld\n", c, votes[c]);
  if (argc > 1 && std::string(argv[1]) == "strips")
    std::printf("%.3f\n", prep.strips(16).mean().item<double>());
}
