// RUN: %check_torch %s torch-device-round-trip %t
//
// The device could have computed what the host does between two copies.

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::Slice;

Tensor direct(Tensor x, torch::Device device) {
  return (x.cpu() * 2).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: this tensor is copied to the host, and what is computed from it there goes to a device again; compute it on the device, and leave out both copies [torch-device-round-trip]
}
Tensor variables(Tensor x, torch::Device device) {
  auto host = x.to(torch::kCPU);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this tensor is copied
  auto scaled = torch::relu(host) + torch::ones({4});
  // CHECK-MESSAGES: :[[@LINE+1]]:17: note: copied to a device here
  return scaled.to(device);
}
Tensor oneName(Tensor x) {
  x = x.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: this tensor is copied
  x = x.squeeze(0);
  x.mul_(2);
  x[0] = 1;
  std::cout << x.sizes() << x.dim() << x.dtype();
  return x.to(torch::kCUDA);
}
// A piece at a time.
Tensor chunks(Tensor rays) {
  rays = rays.to(torch::kCPU);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: this tensor is copied
  std::vector<Tensor> out;
  for (int64_t i = 0; i < rays.size(0); i += 128) {
    auto piece = rays.index({Slice(i, i + 128)}).to(torch::kCUDA).contiguous();
    out.push_back(piece.sin());
  }
  return torch::cat(out, 0);
}
Tensor together(Tensor x, Tensor y, torch::Device device) {
  return torch::cat({x.cpu(), y.cpu()}).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: this tensor is copied
  // CHECK-MESSAGES: :[[@LINE-2]]:33: note: and here
}
// Both operands of a product: one round trip.
Tensor product(Tensor matrix, Tensor points) {
  auto matrix_here = matrix.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: this tensor is copied
  auto points_here = points.cpu().t();
  // CHECK-MESSAGES: :[[@LINE-1]]:29: note: and here
  return torch::matmul(matrix_here, points_here).to(torch::kCUDA);
}
// In each iteration, with a function between.
static Tensor normalized(const Tensor &x) {
  return (x - x.mean()) / x.std();
}
static Tensor down(const Tensor &x) { return x.to(torch::kCPU); }
// CHECK-MESSAGES: :[[@LINE-1]]:48: warning: this tensor is copied
void loop(torch::nn::Linear net, torch::Device device) {
  for (int i = 0; i < 100; ++i) {
    auto y = net->forward(torch::rand({4, 4}, device));
    auto z = normalized(down(y));
    net->forward(z.to(device));
  }
}
struct Rays {
  Tensor from, to;
};
Tensor members(Tensor x, Tensor y) {
  Rays rays;
  rays.from = x.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this tensor is copied
  rays.to = y;
  return rays.from.slice(0, 1, 3).cuda() + rays.to;
}
template <class T> Tensor inTemplate(Tensor x, T factor) {
  auto host = x.cpu();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this tensor is copied
  return (host * factor).cuda();
}
template Tensor inTemplate(Tensor, int);
template Tensor inTemplate(Tensor, float);
auto lambda = [](Tensor x) {
  namespace F = torch::nn::functional;
  auto host = x.to(torch::kCPU, torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this tensor is copied
  return F::pad(host, F::PadFuncOptions({1, 1})).to(torch::kCUDA);
};
