#pragma once

#include <torch/torch.h>

#include <random>
#include <vector>

namespace vision {

// Images of one bright square, cross or frame each, on a noisy background.
class Shapes : public torch::data::Dataset<Shapes> {
 public:
  static constexpr int64_t kClasses = 3;
  static constexpr int64_t kSize = 32;

  Shapes(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> background(0.0F, 0.3F);
    std::vector<float> pixels(count * kSize * kSize);
    for (float& pixel : pixels) pixel = background(random);
    std::vector<int64_t> labels(count);
    for (int64_t i = 0; i < count; ++i) {
      labels[i] = static_cast<int64_t>(random() % kClasses);
      draw(&pixels[i * kSize * kSize], labels[i], random);
    }
    images_ = torch::from_blob(pixels.data(), {count, 1, kSize, kSize}, torch::kFloat32)
                  .clone();
    labels_ = torch::tensor(labels, torch::kInt64);
  }

  torch::data::Example<> get(size_t index) override {
    const auto i = static_cast<int64_t>(index);
    return {images_[i], labels_[i]};
  }

  torch::optional<size_t> size() const override {
    return images_.size(0);
  }

  const torch::Tensor& labels() const {
    return labels_;
  }

 private:
  static void draw(float* image, int64_t label, std::mt19937& random) {
    const int64_t side = 8 + static_cast<int64_t>(random() % 9);
    const int64_t top = static_cast<int64_t>(random() % (kSize - side));
    const int64_t left = static_cast<int64_t>(random() % (kSize - side));
    for (int64_t y = 0; y < side; ++y) {
      for (int64_t x = 0; x < side; ++x) {
        const bool centre = y == side / 2 || x == side / 2;
        const bool edge = y == 0 || x == 0 || y == side - 1 || x == side - 1;
        if (label == 0 || (label == 1 && centre) || (label == 2 && edge)) {
          image[(top + y) * kSize + left + x] = 1.0F;
        }
      }
    }
  }

  torch::Tensor images_;
  torch::Tensor labels_;
};

}  // namespace vision
