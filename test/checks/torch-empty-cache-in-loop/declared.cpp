// RUN: %check_torch %s torch-empty-cache-in-loop %t
//
// The function is declared by hand, where the headers of CUDA are not at hand.

#include <torch/torch.h>

namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
}
// Somebody's own.
namespace pool {
void emptyCache();
}

void inference(torch::nn::Linear net, const std::vector<torch::Tensor> &xs) {
  torch::NoGradGuard guard;
  for (const auto &x : xs) {
    std::cout << net->forward(x).sum().item<float>();
    c10::cuda::CUDACachingAllocator::emptyCache();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'c10::cuda::CUDACachingAllocator::emptyCache' gives the cached memory back to the driver in every iteration
    // CHECK-FIXES: {{^}}    std::cout << net->forward(x).sum().item<float>();{{$}}
    // CHECK-FIXES-NEXT: {{^ *//$}}
  }
}
void other(torch::nn::Linear net, const std::vector<torch::Tensor> &xs) {
  torch::NoGradGuard guard;
  for (const auto &x : xs) {
    std::cout << net->forward(x).sum().item<float>();
    pool::emptyCache();
  }
}
