// RUN: %check_torch %s torch-dangling-data %t -still-warns
//
// Sizes belong to the tensor object: another shape is another object, even where no number is copied.

#include <torch/torch.h>

#include <iostream>
#include <vector>

using torch::Tensor;

void show(const Tensor &x) {
  at::IntArrayRef flat = x.flatten(1).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'sizes' of a temporary tensor: they are freed with it at the end of the statement, and the list is used afterwards; give the tensor a name
  // CHECK-FIXES: auto flat_owner = x.flatten(1);
  // CHECK-FIXES: at::IntArrayRef flat = flat_owner.sizes();
  for (int64_t size : flat)
    std::cout << size;
}

int64_t last(const Tensor &x, int64_t n) {
  auto strides = x.reshape({n, -1}).strides();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'strides' of a temporary tensor:
  return strides.back();
}

int64_t like(const Tensor &x, const Tensor &y) {
  auto sizes = torch::reshape(x.detach(), y.sizes()).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'sizes' of a temporary tensor:
  return sizes.front();
}

int64_t flattened(int64_t n) {
  auto x = torch::zeros({n, 3, 4});
  auto sizes = torch::flatten(x, 1, 2).sizes();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'sizes' of a temporary tensor:
  return sizes.front();
}

// One dimension is nothing to flatten: the result is the tensor itself.
int64_t nothingToDo(const Tensor &x, int64_t n) {
  auto matrix = torch::zeros({n, 3});
  auto a = matrix.flatten(1).sizes();
  auto b = torch::flatten(matrix, -1).sizes();
  auto line = torch::zeros({n});
  auto c = line.flatten().sizes();
  auto d = x.flatten(2, 2).sizes();
  return a[0] + b[0] + c[0] + d[0];
}

// Within the statement, copied, with a name.
std::vector<int64_t> inTime(const Tensor &x) {
  auto flat = x.flatten(1);
  auto sizes = flat.sizes();
  for (int64_t size : x.flatten(1).sizes().vec())
    std::cout << size;
  torch::zeros(x.reshape({2, -1}).sizes());
  auto copied = x.flatten(1).sizes().vec();
  copied.push_back(x.flatten(1).sizes()[0] + sizes[0]);
  return x.flatten(1).sizes().vec();
}

// The data are those of the tensor with a name, where it lies in order.
float data(const Tensor &x) {
  auto *p = x.flatten().data_ptr<float>();
  return *p;
}
