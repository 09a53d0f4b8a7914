// RUN: %check_torch %s torch-convert-before-transfer %t
//
// As few bytes as can be, or it is not known.

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);

Tensor narrowing(torch::Device device) {
  auto d = torch::rand({64, 64}, torch::kDouble);
  return d.to(torch::kFloat).to(device);
}
Tensor same(float *data, torch::Device device) {
  auto f = torch::from_blob(data, {64, 64});
  auto l = torch::zeros({64}, torch::kLong);
  return f.to(torch::kFloat32).to(device) + f.to(torch::kInt).to(device) + l.to(torch::kDouble).to(device);
}
Tensor unknown(Tensor x, torch::Dtype dtype, unsigned char *data, torch::Device device) {
  auto bytes = torch::from_blob(data, {64, 64}, torch::kByte);
  return x.to(torch::kFloat).to(device) + bytes.to(dtype).to(device);
}
Tensor between(unsigned char *data, Tensor mean, torch::Device device) {
  auto bytes = torch::from_blob(data, {64, 64}, torch::kByte);
  // The mean may be on the host, and a sum is smaller than what it is made of.
  return bytes.to(torch::kFloat).sub(mean).to(device) +
         bytes.to(torch::kFloat).sum(0).to(device) +
         bytes.to(torch::kFloat).unfold(0, 8, 8).to(device);
}
Tensor compared(unsigned char *data, torch::Device device) {
  auto bytes = torch::from_blob(data, {64, 64}, torch::kByte);
  return bytes.to(torch::kFloat).gt(0.5).to(device);
}
Tensor first(unsigned char *data, torch::Device device) {
  auto bytes = torch::from_blob(data, {64, 64}, torch::kByte);
  return bytes.to(device).to(torch::kFloat) + bytes.to(torch::kFloat).to(torch::kCPU);
}
Tensor alsoUsed(unsigned char *data, torch::Device device) {
  auto wide = torch::from_blob(data, {64, 64}, torch::kByte).to(torch::kFloat);
  use(wide);
  return wide.to(device);
}
Tensor normalized(unsigned char *data, torch::Device device) {
  auto wide = torch::from_blob(data, {64, 64}, torch::kByte).to(torch::kFloat);
  wide.div_(255);
  wide = wide.to(device);
  return wide;
}
Tensor onDevice(torch::Device device) {
  auto there = torch::zeros({64, 64}, torch::dtype(torch::kByte).device(torch::kCUDA));
  return there.to(torch::kFloat).to(device);
}
Tensor branch(unsigned char *data, torch::Device device, bool gpu) {
  auto wide = torch::from_blob(data, {64, 64}, torch::kByte).to(torch::kFloat);
  if (gpu)
    wide = wide.to(device);
  return wide;
}
// A few numbers: a wider copy costs no more.
Tensor number(int id, torch::Device device) {
  return torch::tensor({id}, torch::kInt).to(torch::kLong).to(device);
}
Tensor rows(int a, int b, torch::Device device) {
  auto t = torch::tensor({{a, 5000}, {b, 5000}}, torch::kInt);
  return t.to(torch::kLong).to(device);
}
Tensor four(unsigned char *data, torch::Device device) {
  return torch::from_blob(data, {2, 2}, torch::kByte).to(torch::kFloat).to(device);
}
