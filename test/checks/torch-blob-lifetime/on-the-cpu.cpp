// RUN: %check_torch %s torch-blob-lifetime %t
//
// What to(device) has made is copied where it lies on the CPU, for there it is the memory itself.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;

static void cloneIfOnCpu(Tensor &x) {
  if (x.device().type() == torch::kCPU)
    x = x.clone();
}
struct Data {
  std::vector<Tensor> images;
};
Data load(torch::DeviceType device, int64_t n) {
  Data data;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<float> pixels(100, 1.f);
    Tensor image = torch::from_blob(pixels.data(), {100}, {torch::kFloat32}).to(device);
    cloneIfOnCpu(image);
    data.images.push_back(image);
  }
  return data;
}

Tensor isCpu(torch::Device device) {
  std::vector<float> pixels(100, 1.f);
  Tensor image = torch::from_blob(pixels.data(), {100}).to(device);
  if (image.device().is_cpu())
    image = image.clone();
  return image;
}
Tensor isNotCuda(torch::Device device) {
  std::vector<float> pixels(100, 1.f);
  Tensor image = torch::from_blob(pixels.data(), {100}).to(device);
  if (!image.is_cuda())
    return image.clone();
  return image;
}

// On the other side, of another tensor, and of what was never moved.
Tensor isCuda(torch::Device device) {
  std::vector<float> pixels(100, 1.f);
  Tensor image = torch::from_blob(pixels.data(), {100}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor still points into 'pixels'
  // CHECK-FIXES: Tensor image = torch::from_blob(pixels.data(), {100}).clone().to(device);
  if (image.is_cuda())
    image = image.clone();
  return image;
}
Tensor another(torch::Device device, Tensor x) {
  std::vector<float> pixels(100, 1.f);
  Tensor image = torch::from_blob(pixels.data(), {100}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor still points into 'pixels'
  // CHECK-FIXES: Tensor image = torch::from_blob(pixels.data(), {100}).clone().to(device);
  if (x.is_cpu())
    image = image.clone();
  return image;
}
Tensor notMoved() {
  std::vector<float> pixels(100, 1.f);
  Tensor image = torch::from_blob(pixels.data(), {100});
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: tensor still points into 'pixels'
  // CHECK-FIXES: Tensor image = torch::from_blob(pixels.data(), {100}).clone();
  if (image.is_cuda())
    image = image.clone();
  return image;
}
