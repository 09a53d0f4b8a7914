// RUN: %check_torch %s torch-optimizer-in-loop %t
//
// The declaration moves before the loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::SGD;
using torch::optim::SGDOptions;

void local(Linear net, const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  Adam adam(net->parameters(), AdamOptions(1e-3));
  // CHECK-FIXES-NEXT: {{^}}  for (const Tensor &x : xs) {
  // CHECK-FIXES-NOT: Adam adam
  for (const Tensor &x : xs) {
    Adam adam(net->parameters(), AdamOptions(1e-3));
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration
    adam.zero_grad();
    net->forward(x).sum().backward();
    adam.step();
  }
}

void owned(Linear net, const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  auto sgd = std::make_unique<SGD>(net->parameters(), SGDOptions(0.1).momentum(0.9));
  // CHECK-FIXES-NEXT: {{^}}  for (const Tensor &x : xs) {
  // CHECK-FIXES-NOT: auto sgd
  for (const Tensor &x : xs) {
    auto sgd = std::make_unique<SGD>(net->parameters(), SGDOptions(0.1).momentum(0.9));
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'sgd' is constructed anew in every iteration: this SGD forgets
    sgd->zero_grad();
    net->forward(x).sum().backward();
    sgd->step();
  }
}

void shared(Linear net, const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  std::shared_ptr<torch::optim::Optimizer> adam = std::make_shared<Adam>(net->parameters());
  // CHECK-FIXES-NEXT: {{^}}  for (const Tensor &x : xs) {
  for (const Tensor &x : xs) {
    std::shared_ptr<torch::optim::Optimizer> adam = std::make_shared<Adam>(net->parameters());
    // CHECK-MESSAGES: :[[@LINE-1]]:53: warning: 'adam' is constructed anew in every iteration: this Adam forgets
    adam->zero_grad();
    net->forward(x).sum().backward();
    adam->step();
  }
}

// Of two loops the one over the epochs.
void nested(Linear net, const std::vector<Tensor> &xs) {
  // CHECK-FIXES: {{^}}  Adam adam(net->parameters());
  // CHECK-FIXES-NEXT: {{^}}  for (int epoch = 0; epoch < 3; ++epoch) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const Tensor &x : xs) {
      Adam adam(net->parameters());
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'adam' is constructed anew
      adam.zero_grad();
      net->forward(x).sum().backward();
      adam.step();
    }
  }
}

// Of stages the one inside: each has a rate of its own.
void stages(Linear net, const std::vector<Tensor> &xs, const std::vector<double> &rates) {
  for (double rate : rates) {
    // CHECK-FIXES: {{^}}    Adam adam(net->parameters(), AdamOptions(rate));
    // CHECK-FIXES-NEXT: {{^}}    for (const Tensor &x : xs) {
    for (const Tensor &x : xs) {
      Adam adam(net->parameters(), AdamOptions(rate));
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'adam' is constructed anew
      adam.zero_grad();
      net->forward(x).sum().backward();
      adam.step();
    }
  }
}
