// RUN: %check_torch %s torch-device-mismatch %t
//
// Options of a function hold no tensor but those that the program puts in: the
// result is where the input is.

#include <torch/torch.h>

namespace F = torch::nn::functional;
using torch::Tensor;

static Tensor sectors(const Tensor &direction) {
  const Tensor angle = torch::atan2(direction.select(1, 1), direction.select(1, 0)).mul_(0.5);
  // A range has a dimension, also from one number to another.
  static const Tensor centres = torch::arange(-1.5, 1.5, 0.5);
  return (angle.unsqueeze(1) - centres).abs_().argmin(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'centres' is on the CPU, and the other tensor is on 'device'
}

struct Scale {
  Tensor mean, deviation;
};
static Scale measure(const Tensor &image) {
  return {image.mean({1, 2}, /*keepdim=*/true), image.std({1, 2}, true, /*keepdim=*/true)};
}
static Tensor scaled(const Tensor &image, const Scale &by) {
  return (image - by.mean).div(by.deviation);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'by.mean' is on the CPU
  // CHECK-MESSAGES: :[[@LINE-2]]:32: warning: 'by.deviation' is on the CPU
}
// All of it is one number, which may be on the CPU.
static Tensor centred(const Tensor &image, const Tensor &mean) { return image - mean; }

void show(torch::Device device, const std::vector<Tensor> &images) {
  const Tensor first = torch::rand({3, 16, 16});
  const Scale by = measure(first);
  for (const Tensor &image : images)
    std::cout << scaled(image.to(device), by) << scaled(image.to(torch::kCPU), by)
              << centred(image.to(device), first.mean());
}

void search(torch::nn::Linear net, torch::Device device, const std::vector<Tensor> &files,
            const F::NormalizeFuncOptions &given) {
  net->to(device);
  const auto byRow = F::NormalizeFuncOptions().p(2).dim(1);
  const Tensor bank = F::normalize(torch::rand({100, 4}), byRow);
  const Tensor there = F::normalize(torch::rand({100, 4}, device), byRow);
  for (const Tensor &x : files) {
    Tensor query = F::normalize(net(x.to(device)), F::NormalizeFuncOptions().dim(1));
    std::cout << query.mm(bank.t()) << sectors(query);
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: this tensor is on the CPU, and 'query' is on 'device'
    std::cout << query.mm(there.t());
    std::cout << F::normalize(query.cpu(), byRow).mm(bank.t());
    // Whoever has made these may have put a tensor into them.
    std::cout << F::normalize(x, given).mm(bank.t());
  }
}
