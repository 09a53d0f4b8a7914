// RUN: %check_torch %s torch-device-mismatch %t -still-warns
//
// Helpers of tests that are run once for each device, and ask options, a device
// or a tensor for it before they move what they have made.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

template <typename Layer>
Layer layerFor(const torch::TensorOptions &options) {
  Layer layer(4, 4);
  if (options.device() == torch::kCUDA)
    layer->to(torch::kCUDA);
  return layer;
}

void encodes(bool gpu) {
  torch::Device device = gpu ? torch::kCUDA : torch::kCPU;
  auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
  Linear layer = layerFor<Linear>(options);
  Tensor x = torch::tensor({{1.0, 2.0, 3.0, 4.0}}, options);
  layer->forward(x);
}

void decodes(torch::Device device) {
  Linear layer(4, 4);
  if (device.type() != torch::kCPU)
    layer->to(torch::kCUDA);
  layer->forward(torch::rand({1, 4}, device));
}

// Moved as another tensor is.
void follows(const Tensor &like) {
  Linear layer(4, 4);
  if (like.is_cuda())
    layer->to(like.device());
  layer->forward(torch::rand_like(like));
}

// What it makes is on the CPU whatever it is asked for.
void forgets(torch::Device device) {
  Linear layer(4, 4);
  if (device.is_cuda())
    layer->to(torch::kCUDA);
  Tensor x = torch::rand({1, 4});
  layer->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'x' is on the CPU, and 'layer' was moved to a CUDA device
}

void onCpu() {
  encodes(false);
  decodes(torch::kCPU);
  follows(torch::rand({1, 4}));
  forgets(torch::kCPU);
}

void onCuda() {
  encodes(true);
  decodes(torch::kCUDA);
  follows(torch::rand({1, 4}, torch::kCUDA));
  forgets(torch::kCUDA);
}
