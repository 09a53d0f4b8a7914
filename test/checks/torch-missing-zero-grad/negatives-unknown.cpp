// RUN: %check_torch %s torch-missing-zero-grad %t
//
// What cannot be known: functions without a body, virtual and stored calls,
// functions whose callers lie elsewhere. Level 0 stays quiet.

#include <torch/torch.h>

#include <functional>
#include <memory>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Optimizer;

void beforeStep(Optimizer &opt);
void onModule(const Linear &net);

// Defined in another file; it may clear.
void unknownGetsOptimizer(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    beforeStep(opt);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// A holder passed on shares its module: the function may clear by it.
void unknownGetsModule(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    onModule(net);
  }
}

void callback(Linear net, Optimizer &opt, Tensor x, Tensor y,
              const std::function<void(int)> &onIteration) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    onIteration(i); // The caller, who owns 'opt', may clear it here.
  }
}

struct Hooks {
  virtual ~Hooks() = default;
  virtual void beforeBatch(Optimizer &opt) = 0;
};

void virtualCall(Hooks &hooks, Linear net, Optimizer &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    hooks.beforeBatch(opt);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// One step; who calls it, and what he does between, is not known.
void publicStep(Linear net, Optimizer &opt, Tensor x, Tensor y) {
  torch::mse_loss(net->forward(x), y).backward();
  opt.step();
}

class Agent {
public:
  void learn(Tensor x, Tensor y);

private:
  Linear net{8, 2};
  torch::optim::Adam opt{net->parameters()};
};

void Agent::learn(Tensor x, Tensor y) {
  torch::mse_loss(net->forward(x), y).backward();
  opt.step();
}

// A member function of the same class that lies in another file.
class Split {
public:
  void run(Tensor x, Tensor y) {
    for (int i = 0; i < 10; ++i) {
      prepare();
      torch::mse_loss(net->forward(x), y).backward();
      opt.step();
    }
  }

private:
  void prepare();
  Linear net{8, 2};
  torch::optim::Adam opt{net->parameters()};
};

void useSplit(Split &split, Tensor x, Tensor y) { split.run(x, y); }

// A module's own zero_grad(), parameters() and optimizer, which lie in another file.
struct Evolved {
  virtual ~Evolved() = default;
  virtual void zero_grad() {}
};
struct EvolvedNet : Evolved, torch::nn::Module {
  Tensor forward(Tensor x);
  void zero_grad() override;
  void begin(int step);
  std::vector<Tensor> parameters(bool recurse = true) const;
};
struct Annealed : torch::optim::SGD {
  using SGD::SGD;
  void zero_grad(bool quietly, int epoch);
};

struct EvolvedModel {
  std::unique_ptr<EvolvedNet> net;

  void train(Tensor x, Tensor y) {
    torch::optim::SGD opt(net->parameters(), 0.1);
    for (int i = 0; i < 10; ++i) {
      net->zero_grad();
      torch::mse_loss(net->forward(x), y).backward();
      opt.step();
    }
  }
};

// So may any other method, where nothing tells what the optimizer trains.
void anyMethod(EvolvedNet &net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net.parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    net.begin(i);
    torch::mse_loss(net.forward(x), y).backward();
    opt.step();
  }
}

void anneals(Linear net, Tensor x, Tensor y) {
  Annealed opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad(true, i);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}
