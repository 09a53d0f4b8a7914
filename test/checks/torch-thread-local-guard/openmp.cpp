// RUN: %check_torch %s torch-thread-local-guard %t -no-pch -- -- -fopenmp -I %S/Inputs
//
// at::parallel_for where the file is compiled with OpenMP: the caller does a
// part of the work, under its guard, and other threads the rest.

#include <ATen/Parallel.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void spread(Linear net, std::vector<Tensor> xs) {
  torch::NoGradGuard no_grad;
  at::parallel_for(0, xs.size(), 1, [&](int64_t begin, int64_t end) {
    // CHECK-FIXES: {{^}}  at::parallel_for(0, xs.size(), 1, [&](int64_t begin, int64_t end) {
    // CHECK-FIXES-NEXT: {{^}}    torch::NoGradGuard no_grad;
    for (int64_t i = begin; i < end; ++i)
      std::cout << net->forward(xs[i]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'net' records a graph that no backward() runs (memory, time): grad mode is thread-local, and the guard of the calling thread does not hold in the others that share its work; put 'torch::NoGradGuard no_grad;' before it, in this thread [torch-thread-local-guard]
  });
}

void guarded(Linear net, std::vector<Tensor> xs) {
  torch::NoGradGuard no_grad;
  at::parallel_for(0, xs.size(), 1, [&](int64_t begin, int64_t end) {
    torch::NoGradGuard own;
    for (int64_t i = begin; i < end; ++i)
      std::cout << net->forward(xs[i]);
  });
}

// The caller does it all where there are no more than so many.
void coarse(Linear net, std::vector<Tensor> xs) {
  torch::NoGradGuard no_grad;
  at::parallel_for(0, xs.size(), at::internal::GRAIN_SIZE,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       std::cout << net->forward(xs[i]);
                   });
}

void unguarded(Linear net, std::vector<Tensor> xs) {
  at::parallel_for(0, xs.size(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::cout << net->forward(xs[i]);
  });
}
