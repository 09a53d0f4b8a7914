// RUN: %check_torch %s torch-inference-tensor %t
//
// What is computed in inference mode, and given to a layer that is trained.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

class Probe {
public:
  void collect(const Tensor &x) {
    c10::InferenceMode guard;
    features = torch::relu(body->forward(x));
    plain = torch::relu(body->forward(x));
  }
  void fit(const Tensor &y) {
    SGD optimizer(head->parameters(), 0.1);
    for (int i = 0; i < 9; ++i) {
      optimizer.zero_grad();
      torch::mse_loss(head->forward(features), y).backward();
      // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'head' throws "Inference tensors cannot be saved for backward", because its input was made in inference mode; make it outside, or pass its 'clone()' [torch-inference-tensor]
      optimizer.step();
    }
  }
  // Cloned, under a guard, or not by this backward().
  void right(const Tensor &y) {
    SGD optimizer(head->parameters(), 0.1);
    const Tensor copy = plain.clone();
    torch::mse_loss(head->forward(copy), y).backward();
    torch::NoGradGuard no_grad;
    std::cout << head->forward(plain);
  }

private:
  Linear body{8, 4}, head{4, 1};
  Tensor features, plain;
};

// Set twice: it may be the other one.
class Other {
public:
  void collect(const Tensor &x) {
    c10::InferenceMode guard;
    features = torch::relu(x);
  }
  void make(const Tensor &x) { features = x * 2; }
  void fit(const Tensor &y) { torch::mse_loss(head->forward(features), y).backward(); }

private:
  Linear head{4, 1};
  Tensor features;
};

int main() {
  Probe probe;
  probe.collect({});
  probe.fit({});
  probe.right({});
  Other other;
  other.collect({});
  other.make({});
  other.fit({});
}
