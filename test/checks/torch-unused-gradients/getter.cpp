// RUN: %check_torch %s torch-unused-gradients %t -still-warns
//
// The optimizer has the parameters of what a method of the user's returns: it is the network that is run.

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) { return fc->forward(x); }
  torch::nn::Linear fc{nullptr};
};
TORCH_MODULE(Net);

// As in a trainer that knows an interface only.
struct Player {
  virtual ~Player() = default;
  virtual Net network() = 0;
  virtual Tensor predict(Tensor input) = 0;
};
struct Learner : Player {
  Learner() { net = Net(); }
  Net network() override { return net; }
  Tensor predict(Tensor input) override { return net->forward(input); }
  Net net = nullptr;
};
struct Pointed {
  std::shared_ptr<NetImpl> get() const { return net; }
  std::shared_ptr<NetImpl> net = std::make_shared<NetImpl>();
};

void train(std::shared_ptr<Player> player, const std::vector<Tensor> &xs) {
  torch::optim::Adam optimizer(player->network()->parameters(), 0.1);
  for (const Tensor &x : xs) {
    optimizer.zero_grad();
    player->predict(x).sum().backward();
    optimizer.step();
  }
}
int main() {
  train(std::make_shared<Learner>(), {torch::ones({2, 4})});
  Pointed pointed;
  Pointed other;
  torch::optim::SGD optimizer(pointed.get()->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    optimizer.zero_grad();
    auto wanted = other.get()->forward(torch::ones({2, 4}));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of {{.*}} records a graph, and backward() goes through it for gradients that no optimizer uses
    (pointed.net->forward(torch::ones({2, 4})) - wanted).square().sum().backward();
    optimizer.step();
  }
}
