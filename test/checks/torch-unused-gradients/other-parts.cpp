// RUN: %check_torch %s torch-unused-gradients %t
//
// Networks beside the one that is trained, known to share nothing with it.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

// Trained are the parts of another container.
static void otherElement() {
  Sequential used(Linear(4, 4)), trained(Linear(4, 4));
  SGD opt(trained[0]->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    (used->forward(torch::rand({2, 4})) + trained->forward(torch::rand({2, 4}))).sum().backward();
    // CHECK-MESSAGES: :[[@LINE-1]]:6: warning: forward pass of 'used' records a graph, and backward() goes through it
    opt.step();
  }
}

// The shared head is in one of the two only.
static void otherHandle() {
  Linear head(4, 4);
  Sequential with(Linear(4, 4), head);
  Sequential without(Linear(4, 4), torch::nn::ReLU());
  SGD opt(head->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    auto wanted = without->forward(torch::rand({2, 4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'without' records a graph, and backward() goes through it
    torch::mse_loss(with->forward(torch::rand({2, 4})), wanted).backward();
    opt.step();
  }
}

// What is asked of a gradient, and clearing it, is no use of it.
static void clearedByHand() {
  Linear teacher(4, 4), student(4, 4);
  SGD opt(student->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    for (auto &p : teacher->parameters())
      if (p.grad().defined())
        p.grad().zero_();
    auto wanted = teacher->forward(torch::rand({2, 4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'teacher' records a graph, and backward() goes through it
    torch::mse_loss(student->forward(torch::rand({2, 4})), wanted).backward();
    opt.step();
  }
}

int main() {
  otherElement();
  otherHandle();
  clearedByHand();
}
