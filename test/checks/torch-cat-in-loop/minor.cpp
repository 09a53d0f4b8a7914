// RUN: %check_torch %s torch-cat-in-loop %t
// RUN: %check_torch %s torch-cat-in-loop %t -check-prefix=MINOR -- -config="{CheckOptions: {torch-cat-in-loop.Minor: true}}"
//
// What grows beside the passes of a network is told with Minor only.

#include <torch/torch.h>

using torch::Tensor;

Tensor predictions(torch::nn::Linear net, const std::vector<Tensor> &batches) {
  torch::NoGradGuard guard;
  Tensor all = torch::empty({0, 512});
  for (const Tensor &x : batches)
    all = torch::cat({all, net(x)});
    // MINOR-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::cat' copies all that 'all' has collected
  return all;
}

Tensor images(const std::vector<Tensor> &parts) {
  Tensor all = torch::empty({0, 3, 64, 64});
  for (const Tensor &x : parts)
    all = torch::cat({all, x.unsqueeze(0)});
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'torch::cat' copies all that 'all' has collected
    // MINOR-MESSAGES: :[[@LINE-2]]:11: warning: 'torch::cat' copies all that 'all' has collected
  return all;
}
