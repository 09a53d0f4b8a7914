// RUN: %check_torch %s torch-missing-zero-grad %t
//
// A loop goes through optimizers: each of them steps once.

#include <torch/torch.h>

#include <algorithm>
#include <memory>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void byReference(std::vector<Linear> &nets, std::vector<std::unique_ptr<SGD>> &opts) {
  for (size_t i = 0; i < opts.size(); ++i) {
    auto &opt = opts[i];
    nets[i]->forward(torch::rand({2, 4})).sum().backward();
    opt->step();
  }
}

void bySubscript(std::vector<Linear> &nets, std::vector<SGD> &opts) {
  for (size_t i = 1; i < opts.size(); i++) {
    nets[i]->forward(torch::rand({2, 4})).sum().backward();
    opts.at(i - 1).step();
  }
}

struct Agent {
  Agent() : net(4, 4), opt(net->parameters(), 0.1) {}
  void learn() {
    net->forward(torch::rand({2, 4})).sum().backward();
    opt.step();
  }
  Linear net;
  SGD opt;
};

void byRange(std::vector<Agent> &agents) {
  for (auto &agent : agents)
    agent.learn();
}

void byBinding(std::map<std::string, std::shared_ptr<Agent>> &agents) {
  for (auto &[name, agent] : agents) {
    agent->net->forward(torch::rand({2, 4})).sum().backward();
    agent->opt.step();
  }
}

void byIterator(std::vector<Agent> &agents) {
  for (auto it = agents.begin(); it != agents.end(); ++it)
    it->learn();
}

void byAlgorithm(std::vector<Agent> &agents) {
  std::for_each(agents.begin(), agents.end(), [](Agent &agent) { agent.learn(); });
}

template <class Net> static void learn(Net &net, SGD &opt) {
  net->forward(torch::rand({2, 4})).sum().backward();
  opt.step();
}

void byHelper(std::vector<Linear> &nets, std::vector<SGD> &opts) {
  for (size_t i = 0; i < opts.size(); ++i)
    learn(nets[i], opts[i]);
}

// Cleared before all of them begin again.
void everyEpoch(std::vector<Linear> &nets, std::vector<SGD> &opts) {
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (auto &opt : opts)
      opt.zero_grad();
    for (size_t i = 0; i < opts.size(); ++i) {
      nets[i]->forward(torch::rand({2, 4})).sum().backward();
      opts[i].step();
    }
  }
}

void grid(std::vector<std::vector<Linear>> &nets, std::vector<std::vector<SGD>> &opts) {
  for (size_t i = 0; i < nets.size(); ++i)
    for (size_t j = 0; j < nets[i].size(); ++j) {
      nets[i][j]->forward(torch::rand({2, 4})).sum().backward();
      opts[i][j].step();
    }
}
