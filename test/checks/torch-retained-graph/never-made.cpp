// RUN: %check_torch %s torch-retained-graph %t
//
// A class of which nobody makes an object yet: a defect is one all the same.

#include <torch/torch.h>
#include <memory>
using torch::Tensor;

struct Trainer {
  virtual ~Trainer() = default;
  virtual void epoch(torch::nn::Linear &net, const std::vector<Tensor> &batches) {
    for (const Tensor &x : batches)
      net->forward(x).sum().backward();
  }
};

struct LoggingTrainer : Trainer {
  void epoch(torch::nn::Linear &net, const std::vector<Tensor> &batches) override {
    for (const Tensor &x : batches) {
      Tensor loss = net->forward(x).sum();
      loss.backward();
      losses.push_back(loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph)
    }
  }
  std::vector<Tensor> losses;
};

static void run(Trainer &trainer, torch::nn::Linear &net) {
  for (int i = 0; i < 10; ++i)
    trainer.epoch(net, {torch::rand({64, 8})});
}

int main() {
  torch::nn::Linear net(8, 1);
  auto trainer = std::make_unique<Trainer>();
  run(*trainer, net);
}
