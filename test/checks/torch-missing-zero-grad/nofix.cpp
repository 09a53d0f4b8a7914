// RUN: %check_torch -still-warns %s torch-missing-zero-grad %t
//
// Places where no fix may be offered: inside a macro, and where the step() is
// not a statement of its own. The first function shows that --fix did run.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void plain(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD plainOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    plainOpt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'plainOpt' are not cleared between iterations
    // CHECK-FIXES: plainOpt.zero_grad();
  }
}

// The expansion is shared by all uses of the macro.
#define APPLY(o) o.step()

void inMacro(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD macroOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    APPLY(macroOpt);
    // CHECK-MESSAGES: :[[@LINE-1]]:{{[0-9]+}}: warning: gradients of 'macroOpt' are not cleared between iterations
    // CHECK-FIXES-NOT: zero_grad();
  }
}

#define TRAIN_ONE(net, o, x, y)                                                \
  do {                                                                         \
    torch::mse_loss((net)->forward(x), y).backward();                          \
    (o).step();                                                                \
  } while (0)

void wholeStepInMacro(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD bodyOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    TRAIN_ONE(net, bodyOpt, x, y);
    // CHECK-MESSAGES: :[[@LINE-1]]:{{[0-9]+}}: warning: gradients of '{{.*}}bodyOpt{{.*}}' are not cleared between iterations
  }
}

// In the header of a loop there is no place for a statement.
void inLoopHeader(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD headerOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i, headerOpt.step()) {
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: gradients of 'headerOpt' are not cleared between iterations
    torch::mse_loss(net->forward(x), y).backward();
  }
}
// CHECK-FIXES: int last;
int last;
