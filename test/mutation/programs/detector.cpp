// What comes behind a detector: boxes are decoded on the device, copied to the host once
// for each image, and thinned out there.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace detect {

using torch::Tensor;

struct Box {
  float left, top, right, bottom, score;
  int64_t label;
};

struct HeadImpl : torch::nn::Module {
  HeadImpl() {
    trunk = register_module("trunk", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)));
    boxes = register_module("boxes", torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 4, 1)));
    scores = register_module("scores", torch::nn::Conv2d(torch::nn::Conv2dOptions(8, 5, 1)));
  }
  std::pair<Tensor, Tensor> forward(Tensor image) {
    image = torch::relu(trunk(image));
    return {boxes(image).flatten(2).squeeze(0).t(), scores(image).flatten(2).squeeze(0).t().softmax(1)};
  }
  torch::nn::Conv2d trunk{nullptr}, boxes{nullptr}, scores{nullptr};
};
TORCH_MODULE(Head);

// The middle of each cell, as the boxes count from there.
Tensor centres(int64_t height, int64_t width, torch::Device device) {
  auto y = torch::arange(height, torch::TensorOptions(torch::kFloat).device(device));
  auto x = torch::arange(width, torch::TensorOptions(torch::kFloat).device(device));
  auto grid = torch::meshgrid({y, x}, "ij");
  return torch::stack({grid[1], grid[0], grid[1], grid[0]}, 2).view({-1, 4});
}

std::vector<Box> above(const Tensor& places, const Tensor& scores, float threshold) {
  std::vector<Box> found;
  const auto p = places.accessor<float, 2>();
  const auto s = scores.accessor<float, 2>();
  for (int64_t i = 0; i < s.size(0); ++i) {
    int64_t best = 0;
    for (int64_t k = 1; k < s.size(1); ++k)
      if (s[i][k] > s[i][best])
        best = k;
    const float score = s[i][best];
    if (score < threshold)
      continue;
    found.push_back({p[i][0], p[i][1], p[i][2], p[i][3], score, best});
  }
  return found;
}

float overlap(const Box& a, const Box& b) {
  const float w = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float h = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (w <= 0 || h <= 0)
    return 0;
  const float both = w * h;
  return both / ((a.right - a.left) * (a.bottom - a.top) +
                 (b.right - b.left) * (b.bottom - b.top) - both + 1e-6F);
}

std::vector<Box> thinned(std::vector<Box> boxes, float most) {
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box& box : boxes)
    if (std::none_of(kept.begin(), kept.end(), [&](const Box& k) {
          return k.label == box.label && overlap(k, box) > most;
        }))
      kept.push_back(box);
  return kept;
}

// Where the boxes are, drawn into one picture of bytes.
Tensor drawn(const std::vector<Box>& boxes, int64_t height, int64_t width) {
  Tensor canvas = torch::zeros({height, width}, torch::kUInt8);
  auto pixel = canvas.accessor<uint8_t, 2>();
  for (const Box& box : boxes) {
    const auto top = std::clamp<int64_t>(box.top, 0, height - 1);
    const auto bottom = std::clamp<int64_t>(box.bottom, 0, height - 1);
    for (int64_t x = std::max<int64_t>(box.left, 0); x < std::min<int64_t>(box.right, width); ++x) {
      pixel[top][x] = 255;
      pixel[bottom][x] = 255;
    }
  }
  return canvas;
}

class Detector {
 public:
  explicit Detector(torch::Device device) : device_(device) {
    head_->to(device);
    head_->eval();
  }

  std::vector<Box> operator()(const Tensor& image) {
    torch::InferenceMode guard;
    auto input = image.to(device_);
    auto [offsets, scores] = head_->forward(input.unsqueeze(0));
    auto places = offsets.sigmoid() * torch::tensor({-3.F, -3.F, 3.F, 3.F}, device_) +
                  centres(input.size(1), input.size(2), device_);
    auto places_here = places.cpu();
    auto scores_here = scores.cpu();
    return thinned(above(places_here, scores_here, 0.25F), 0.4F);
  }

 private:
  torch::Device device_;
  Head head_;
};

}  // namespace detect

int main() {
  torch::manual_seed(11);
  detect::Detector detector(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  int64_t ink = 0;
  for (int n = 0; n < 5; ++n) {
    auto boxes = detector(torch::rand({3, 16, 20}));
    ink += detect::drawn(boxes, 16, 20).gt(0).sum().item<int64_t>();
    std::printf("image %d: %zu boxes\n", n, boxes.size());
  }
  std::printf("%lld pixels\n", static_cast<long long>(ink));
}
