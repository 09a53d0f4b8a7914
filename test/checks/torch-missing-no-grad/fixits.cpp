// RUN: %check_torch %s torch-missing-no-grad %t
//
// The guard becomes the first statement of the scope that holds the evaluation
// alone.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Batches = std::vector<torch::data::Example<>>;

// The whole function evaluates: its body.
// CHECK-FIXES: float wholeFunction(Linear net, Batches &batches) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
float wholeFunction(Linear net, Batches &batches) {
  net->eval();
  float sum = 0;
  for (auto &batch : batches) {
    auto output = net->forward(batch.data);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'net'
    sum += torch::mse_loss(output, batch.target).item<float>();
  }
  return sum;
}

// The function trains as well: the body of the loop that only validates.
// CHECK-FIXES: void loopBody(
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: for (auto &batch : valid) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
void loopBody(Linear net, Batches &train, Batches &valid) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 10; ++epoch) {
    net->train();
    for (auto &batch : train) {
      opt.zero_grad();
      torch::mse_loss(net->forward(batch.data), batch.target).backward();
      opt.step();
    }
    net->eval();
    for (auto &batch : valid) {
      auto output = net->forward(batch.data);
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: forward pass of 'net'
      std::cout << torch::mse_loss(output, batch.target).item<float>();
    }
  }
}

// Samples in a block of the training loop: that block.
// CHECK-FIXES: static void block(
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: if (++step % 100 == 0) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
static void block(Linear net, Batches &train) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  int step = 0;
  for (auto &batch : train) {
    opt.zero_grad();
    torch::mse_loss(net->forward(batch.data), batch.target).backward();
    opt.step();
    if (++step % 100 == 0) {
      auto sample = net->forward(torch::rand({1, 8}));
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: forward pass of 'net'
      std::cout << sample << '\n';
    }
  }
}

void callsBlock(Batches &train) {
  Linear net(8, 2);
  block(net, train);
}

// CHECK-FIXES: double inTemplate(Net &net, Loader &loader) {{\{[[:space:]]*}}torch::NoGradGuard no_grad;
template <class Net, class Loader>
double inTemplate(Net &net, Loader &loader) {
  net->eval();
  double sum = 0;
  for (auto &batch : loader)
    sum += net->forward(batch.data).sum().template item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net'
  return sum;
}

double instantiates(Linear net, torch::nn::Sequential seq, Batches &batches) {
  // The guard is inserted once.
  return inTemplate(net, batches) + inTemplate(seq, batches);
}
// CHECK-FIXES-NOT: NoGradGuard
// CHECK-FIXES: int last;
int last;
