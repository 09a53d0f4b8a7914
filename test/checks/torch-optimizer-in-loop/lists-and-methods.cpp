// RUN: %check_torch %s torch-optimizer-in-loop %t -still-warns
//
// Leaves in a list, and optimizers that a method makes which a loop calls.

#include <torch/torch.h>

using torch::Tensor;
using torch::optim::Adam;
using Tensors = std::vector<Tensor>;

void listed(Tensors xs) {
  auto w = torch::rand({2}, torch::requires_grad());
  auto b = torch::rand({2}, torch::requires_grad());
  Tensors all = {w, b};
  for (auto &x : xs) {
    Adam adam(all, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration
    adam.zero_grad();
    (x * w + b).sum().backward();
    adam.step();
  }
}

void pushed(Tensors xs) {
  auto w = torch::rand({2}, torch::requires_grad());
  Tensors all;
  all.push_back(w);
  for (auto &x : xs) {
    Adam adam(all, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'adam' is constructed anew in every iteration
    adam.zero_grad();
    (x * w).sum().backward();
    adam.step();
  }
}

struct Fit {
  Tensor w = torch::rand({2}, torch::requires_grad());
  Tensor b = torch::rand({2}, torch::requires_grad());
  std::shared_ptr<Adam> adam;

  void begin() {
    adam = std::make_shared<Adam>(Tensors{w, b}, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'adam' is constructed anew in every iteration
  }
  void batch(Tensor x) {
    adam->zero_grad();
    (x * w + b).sum().backward();
    adam->step();
  }
  void run(Tensors xs) {
    for (auto &x : xs) {
      begin();
      batch(x);
    }
  }

  std::unique_ptr<torch::optim::Optimizer> make() {
    return std::make_unique<Adam>(Tensors{w, b}, 0.1);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: the optimizer is constructed anew in every iteration
  }
  void returned(Tensors xs) {
    for (auto &x : xs) {
      auto own = make();
      own->zero_grad();
      (x * w + b).sum().backward();
      own->step();
    }
  }

  // One for each epoch.
  void eachEpoch(Tensors xs) {
    for (int epoch = 0; epoch < 3; ++epoch) {
      Adam own({w, b}, 0.1);
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'own' is constructed anew in every iteration: this Adam forgets its state after every epoch
      for (auto &x : xs) {
        own.zero_grad();
        (x * w + b).sum().backward();
        own.step();
      }
    }
  }
};

// Other tensors in each iteration.
void fresh(Tensors xs) {
  for (auto &x : xs) {
    auto w = torch::rand({2}, torch::requires_grad());
    Tensors all = {w};
    Adam adam(all, 0.1);
    (x * w).sum().backward();
    adam.step();
  }
}

int main() {
  Fit fit;
  fit.run({});
  fit.returned({});
  fit.eachEpoch({});
}
