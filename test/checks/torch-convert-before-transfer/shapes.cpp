// RUN: %check_torch %s torch-convert-before-transfer %t -still-warns
//
// Wider on the host, and moved then.

#include <torch/torch.h>

using torch::Tensor;

Tensor image(unsigned char *data, int64_t h, int64_t w, torch::Device device) {
  return torch::from_blob(data, {h, w, 3}, torch::kUInt8).permute({2, 0, 1}).to(torch::kFloat32).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:98: warning: this tensor is converted to a wider type on the host and moved then: 4 times as many bytes go to the device; move it first and convert it there [torch-convert-before-transfer]
  // CHECK-FIXES: return torch::from_blob(data, {h, w, 3}, torch::kUInt8).permute({2, 0, 1}).to(device).to(torch::kFloat32);
}
Tensor half(Tensor x) {
  Tensor h = torch::zeros({64, 64}, torch::kHalf);
  h[0] = x;
  return h.toType(torch::kFloat).cuda();
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: this tensor is converted to a wider type on the host and moved then: 2 times as many bytes
  // CHECK-FIXES: return h.cuda().toType(torch::kFloat);
}
Tensor variable(unsigned char *data, torch::Device device) {
  auto bytes = torch::from_blob(data, {64, 64}, torch::kByte);
  auto wide = bytes.to(torch::kDouble);
  auto there = wide.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: this tensor is converted to a wider type on the host and moved then: 8 times as many bytes
  return there / 255;
}
Tensor sameName(unsigned char *data, torch::Device device) {
  auto input = torch::from_blob(data, {64, 64}, torch::kByte).to(torch::kFloat);
  input = input.to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this tensor is converted
  return input.div(255);
}

// The enumeration itself.
Tensor enumerator(unsigned char *data, const std::vector<int64_t> &shape, bool gpu) {
  Tensor t;
  if (gpu)
    t = torch::from_blob(data, at::IntArrayRef(shape), at::ScalarType::Byte).to(at::ScalarType::Float).to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:104: warning: this tensor is converted to a wider type on the host and moved then: 4 times as many bytes
    // CHECK-FIXES: t = torch::from_blob(data, at::IntArrayRef(shape), at::ScalarType::Byte).to(torch::kCUDA).to(at::ScalarType::Float);
  return t;
}

// What is computed with numbers on the way is computed there as well.
Tensor scaled(unsigned char *data, torch::Device device) {
  auto bytes = torch::from_blob(data, {64, 64}, torch::kByte);
  return bytes.to(torch::kFloat).div(255).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: this tensor is converted to a wider type on the host and moved then: 4 times as many bytes go to the device; move it first and convert it there, and compute with it then [torch-convert-before-transfer]
}
Tensor inPlace(unsigned char *data, torch::Device device) {
  auto pixels = torch::from_blob(data, {64, 64}, torch::kByte);
  auto there = (torch::sqrt(pixels.to(torch::kFloat32).div_(255.0)) - 0.5).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:76: warning: this tensor is converted
  return there;
}

// Which rows are taken says nothing of their type.
Tensor chosen(int64_t n, torch::Device device) {
  auto all = torch::rand({n, 4096}).mul(255).to(torch::kUInt8);
  auto some = all.index_select(0, torch::randint(n, {64}, torch::kLong));
  return some.to(torch::kFloat32).div_(255.0).to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:47: warning: this tensor is converted
}
