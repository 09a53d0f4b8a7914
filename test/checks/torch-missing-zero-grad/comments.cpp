// RUN: %check_torch %s torch-missing-zero-grad %t

// A comment behind the statement is about it, a NOLINT above all.
#include <torch/torch.h>

void train(torch::nn::Linear net, torch::optim::SGD &opt, const std::vector<torch::Tensor> &in) {
  for (const auto &x : in) {
    net->forward(x).sum().backward();
    // CHECK-FIXES: {{^}}    opt.step();  // NOLINT(bugprone-unused-return-value): the loss
    // CHECK-FIXES-NEXT: {{^}}    opt.zero_grad();{{$}}
    opt.step();  // NOLINT(bugprone-unused-return-value): the loss
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  }
}
void lambda(torch::nn::Linear net, torch::optim::SGD &opt, const std::vector<torch::Tensor> &in) {
  auto one = [&](const torch::Tensor &x) {
    net->forward(x).sum().backward();
    // CHECK-FIXES: {{^}}    opt.step(); /* a */ // b
    // CHECK-FIXES-NEXT: {{^}}    opt.zero_grad();{{$}}
    opt.step(); /* a */ // b
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  };
  for (const auto &x : in)
    one(x);
}
