// RUN: %check_torch %s torch-undetached-generator-output %t -still-warns
//
// The helper that trains the critic runs it on what is real as well: that says
// nothing about the call that gives it what is not detached.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;

// Its layers are made by a function, of which nobody knows what it returns.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    body = register_module("body", layer(8, 8));
    head = register_module("head", layer(8, 4));
  }
  Tensor forward(const Tensor &x) { return head->forward(torch::relu(body->forward(x))); }

private:
  static Linear layer(int in, int out) { return Linear(torch::nn::LinearOptions(in, out).bias(false)); }
  Linear body{nullptr}, head{nullptr};
};
TORCH_MODULE(Net);

class Trainer {
public:
  void warmUp(const std::vector<Tensor> &batches) {
    for (const Tensor &real : batches)
      trainCritic(real, net->forward(torch::randn({32, 8})).detach());
  }
  void run(const std::vector<Tensor> &batches) {
    for (const Tensor &real : batches) {
      const Tensor noise = torch::randn({32, 8});
      trainCritic(real, net->forward(noise));
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'critic' is trained on what 'net' has made, with its graph
      ofNet.zero_grad();
      (-critic->forward(net->forward(noise)).mean()).backward();
      ofNet.step();
    }
  }

private:
  void trainCritic(const Tensor &real, const Tensor &fake) {
    ofCritic.zero_grad();
    (critic->forward(fake).mean() - critic->forward(real).mean()).backward();
    ofCritic.step();
  }
  Net net;
  Linear critic{4, 1};
  Adam ofNet{net->parameters(), 1e-3}, ofCritic{critic->parameters(), 1e-3};
};

int main() {
  Trainer trainer;
  trainer.warmUp({});
  trainer.run({});
}
