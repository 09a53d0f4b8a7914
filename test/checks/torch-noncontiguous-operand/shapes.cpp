// RUN: %check_torch %s torch-noncontiguous-operand %t -still-warns
//
// Copies for nothing, copies again and again, and layouts that meet.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

double needless(Tensor x) {
  return (x.t().contiguous() * 2 + 1).relu().sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'contiguous' copies 'x.t()' only for elementwise work, which is as fast on the transposed tensor; leave it out [torch-noncontiguous-operand]
}
Tensor needlessByVariable(Tensor image) {
  auto planes = image.permute({2, 0, 1}).contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: 'contiguous' copies 'image.permute({2, 0, 1})' only for elementwise work
  std::cout << planes.sizes();
  auto scaled = planes.div(255);
  return scaled.mean() + scaled.max();
}

void again(Tensor w, const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  Tensor turned = w.t().contiguous();
  // CHECK-FIXES-NEXT: {{^}}  for (const Tensor &x : xs) {
  for (const Tensor &x : xs) {
    Tensor turned = w.t().contiguous();
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: 'w.t()' does not change in this loop, but 'contiguous' copies it in every iteration; copy it once before the loop
    std::cout << x.mm(turned);
  }
}
void againWithoutAName(Tensor w, const std::vector<Tensor> &xs) {
  Tensor view = w.transpose(0, 1);
  for (const Tensor &x : xs)
    std::cout << x.matmul(view.contiguous());
  // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'view' does not change in this loop, but 'contiguous' copies it
}
struct Filter {
  Tensor apply(const Tensor &x) const {
    return x.matmul(kernel.t().contiguous());
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: 'kernel.t()' does not change in this loop, but 'contiguous' copies it
  }
  void all(const std::vector<Tensor> &xs) const {
    for (const Tensor &x : xs)
      std::cout << apply(x);
  }
  Tensor kernel;
};
template <class Batches> void inTemplate(Tensor w, const Batches &xs) {
  for (const auto &x : xs) {
    const auto turned = w.permute({1, 0}).contiguous();
    // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: 'w.permute({1, 0})' does not change in this loop
    std::cout << x.mm(turned);
  }
}
void instance(Tensor w, const std::vector<Tensor> &xs) { inTemplate(w, xs); }

void mixed(int64_t n, int steps) {
  Tensor x = torch::randn({n, n});
  const Tensor weights = torch::randn({n, n}).t();
  for (int i = 0; i < steps; ++i)
    x.mul_(weights);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'weights' is transposed and meets, in every iteration, a tensor that is not, which is slow; it does not change in this loop: make it contiguous once before
}

// What has the sizes of the transposed tensor, and the operation that is told where to write.
void sizesOfAnother(const Tensor &volume, int64_t rounds) {
  const auto turned = volume.permute({2, 1, 0});
  auto sum = torch::zeros(turned.sizes());
  auto rest = torch::empty(turned.sizes());
  for (int64_t i = 0; i < rounds; ++i) {
    sum.add_(turned);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'turned' is transposed and meets, in every iteration, a tensor that is not
    torch::sub_out(rest, turned, sum);
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'turned' is transposed and meets, in every iteration, a tensor that is not
  }
  std::cout << sum << rest;
}
void sizesOfEach(const std::vector<float> &numbers, int64_t n) {
  const std::vector<int64_t> shape{n, n, n};
  auto voxels = torch::from_blob(const_cast<float *>(numbers.data()), shape);
  sizesOfAnother(voxels.to(torch::kDouble).div_(2), 50);
}
