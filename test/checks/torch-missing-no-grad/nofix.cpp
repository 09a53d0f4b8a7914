// RUN: %check_torch -still-warns %s torch-missing-no-grad %t
//
// Inside a macro no fix is offered: its expansion is shared by all its uses.
// The first function shows that --fix did run.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

int64_t plain(Linear net, Tensor x) {
  net->eval();
  return net->forward(x).argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  // CHECK-FIXES: torch::NoGradGuard no_grad;
}

#define EVALUATE(name)                                                         \
  int64_t name(Linear net, Tensor x) {                                         \
    net->eval();                                                               \
    return net->forward(x).argmax().item<int64_t>();                           \
  }

EVALUATE(first)
// CHECK-MESSAGES: :[[@LINE-1]]:{{[0-9]+}}: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: int last;
int last;
