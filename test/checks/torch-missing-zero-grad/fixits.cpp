// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The fix clears the gradients right after the step(), at the depth of the
// step(), and as the same kind of expression.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;

void plain(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD plainOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    plainOpt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'plainOpt'
    // CHECK-FIXES: plainOpt.step();{{[[:space:]]*}}plainOpt.zero_grad();
  }
}

void byPointer(std::unique_ptr<torch::optim::Optimizer> ptrOpt, Linear net,
               Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    ptrOpt->step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'ptrOpt'
    // CHECK-FIXES: ptrOpt->step();{{[[:space:]]*}}ptrOpt->zero_grad();
  }
}

void dereferenced(torch::optim::Optimizer *derefOpt, Linear net, Tensor x,
                  Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    (*derefOpt).step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'derefOpt'
    // CHECK-FIXES: (*derefOpt).step();{{[[:space:]]*}}{{\(\*derefOpt\)\.|derefOpt->}}zero_grad();
  }
}

// Without braces the inserted statement would run once, after the loop.
void bracelessIf(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD ifOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    if (loss.isfinite().item<bool>())
      ifOpt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'ifOpt'
    // CHECK-FIXES: if (loss.isfinite().item<bool>()){{[[:space:]]*\{[[:space:]]*}}ifOpt.step();{{[[:space:]]*}}ifOpt.zero_grad();{{[[:space:]]*}}}
  }
}

static float gradientsOf(Linear net, Tensor x, Tensor y) {
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  return loss.item<float>();
}

void bracelessLoop(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD loopOpt(net->parameters(), 0.1);
  while (gradientsOf(net, x, y) > 0.1f)
    loopOpt.step();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'loopOpt'
  // CHECK-FIXES: while (gradientsOf(net, x, y) > 0.1f){{[[:space:]]*\{[[:space:]]*}}loopOpt.step();{{[[:space:]]*}}loopOpt.zero_grad();{{[[:space:]]*}}}
}

void twoOnOneLine(Linear a, Linear b, Tensor x, Tensor y) {
  torch::optim::SGD optA(a->parameters(), 0.1);
  torch::optim::SGD optB(b->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(b->forward(a->forward(x)), y).backward();
    optA.step(); optB.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'optA'
    // CHECK-MESSAGES: :[[@LINE-2]]:18: warning: gradients of 'optB'
    // CHECK-FIXES: optA.step();{{[[:space:]]*}}optA.zero_grad();{{[[:space:]]*}}optB.step();{{[[:space:]]*}}optB.zero_grad();
  }
}

// A comment at the end of the line must not swallow the inserted statement.
void trailingComment(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD commentOpt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    commentOpt.step(); // update
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'commentOpt'
    // CHECK-FIXES: commentOpt.step();
    // CHECK-FIXES: {{^[[:space:]]*|; }}commentOpt.zero_grad();
  }
}

struct Trainer {
  Linear net{nullptr};
  std::shared_ptr<torch::optim::Optimizer> opt;
};

void memberOfMember(Trainer *trainer, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(trainer->net->forward(x), y).backward();
    trainer->opt->step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of '{{.*}}opt'
    // CHECK-FIXES: trainer->opt->step();{{[[:space:]]*}}trainer->opt->zero_grad();
  }
}

template <class Net, class Batches>
void inTemplate(Net &net, Batches &batches, torch::optim::Optimizer &tplOpt) {
  for (auto &batch : batches) {
    torch::mse_loss(net->forward(batch.data), batch.target).backward();
    tplOpt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'tplOpt'
    // CHECK-FIXES: tplOpt.step();{{[[:space:]]*}}tplOpt.zero_grad();
  }
}

void instantiates(Linear net, std::vector<torch::data::Example<>> batches,
                  torch::optim::SGD &sgd, torch::optim::Adam &adam) {
  inTemplate(net, batches, sgd);
  inTemplate(net, batches, adam); // The fix is inserted once.
}
