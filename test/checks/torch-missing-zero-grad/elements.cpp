// RUN: %check_torch %s torch-missing-zero-grad %t
//
// A loop goes through optimizers, and each of them comes back.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void everyEpoch(std::vector<Linear> &nets, std::vector<std::unique_ptr<SGD>> &opts) {
  for (int epoch = 0; epoch < 5; ++epoch)
    for (size_t i = 0; i < opts.size(); ++i) {
      nets[i]->forward(torch::rand({2, 4})).sum().backward();
      opts[i]->step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opts[i]' are not cleared
    }
}

struct Agent {
  Agent() : net(4, 4), opt(net->parameters(), 0.1) {}
  void learn() {
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opt' are not cleared
  }
  Linear net;
  SGD opt;
};

void everyRound(std::vector<Agent> &agents) {
  while (!agents.empty())
    for (auto &agent : agents)
      agent.learn();
}

// One for all, and those that come back.
void theSame(std::vector<Linear> &nets, std::vector<SGD> &opts) {
  for (size_t i = 0; i < nets.size(); ++i) {
    nets[i]->forward(torch::rand({2, 4})).sum().backward();
    opts[0].step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opts[0]' are not cleared
  }
}

void inTurn(std::vector<Linear> &nets, std::vector<SGD> &opts) {
  for (size_t i = 0; i < 100; ++i) {
    nets[i % 2]->forward(torch::rand({2, 4})).sum().backward();
    opts[i % 2].step();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: gradients of 'opts[i % 2]' are not cleared
  }
}

// The loop chooses a net; batches are what it steps for.
void batches(std::vector<Linear> &nets, std::vector<SGD> &opts) {
  for (size_t i = 0; i < nets.size(); ++i)
    for (int batch = 0; batch < 9; ++batch) {
      nets[i]->forward(torch::rand({2, 4})).sum().backward();
      opts[i].step();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: gradients of 'opts[i]' are not cleared
    }
}

// One coordinate chooses the row, the batches lie between, the other chooses
// in the row.
void grid(std::vector<std::vector<Linear>> &nets, std::vector<std::vector<SGD>> &opts) {
  for (size_t i = 0; i < nets.size(); ++i)
    for (int batch = 0; batch < 9; ++batch)
      for (size_t j = 0; j < nets[i].size(); ++j) {
        nets[i][j]->forward(torch::rand({2, 4})).sum().backward();
        opts[i][j].step();
        // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: gradients of 'opts[i][j]' are not cleared
      }
}
