// RUN: %check_torch %s torch-eval-mode-not-restored %t
//
// What looks like the mistake and is right, or is not known to be wrong.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::BatchNorm1d;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

struct NetImpl : torch::nn::Module {
  Linear fc{register_module("fc", Linear(4, 2))};
  BatchNorm1d norm{register_module("norm", BatchNorm1d(2))};
  Tensor forward(Tensor x) { return norm(fc(x)); }
};
TORCH_MODULE(Net);

template <class Module> void learn(Module &net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}
template <class Module> void show(Module &net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard guard;
  for (const Tensor &x : xs)
    std::cout << net->forward(x).sum().template item<float>();
}

// Restored: before, behind, by a flag, by a guard, elsewhere, perhaps.
void before(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->train();
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
}
struct EvalMode {
  Net net;
  bool was;
  explicit EvalMode(Net net) : net(net), was(net->is_training()) { net->eval(); }
  ~EvalMode() { net->train(was); }
};
void restored(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    const bool was = net->is_training();
    net->eval();
    show(net, xs);
    if (was)
      net->train();
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    EvalMode mode(net);
    show(net, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (bool training : {true, false}) {
      net->train(training);
      if (training)
        learn(net, opt, xs);
      else
        show(net, xs);
    }
  }
}
void prepare(Net &net);
void unseen(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    prepare(net);
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
}
// By the module around it, and by one of its parts.
struct AgentImpl : torch::nn::Module {
  Net net;
  AgentImpl() { register_module("net", net); }
};
void around(const std::vector<Tensor> &xs) {
  AgentImpl agent;
  SGD opt(agent.parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    agent.train();
    learn(agent.net, opt, xs);
    agent.net->eval();
    show(agent.net, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(agent.net, opt, xs);
    agent.eval();
    show(agent.net, xs);
    agent.net->norm->train();
  }
}

// No training comes after it.
void inference(Net net, const std::vector<Tensor> &xs) {
  for (int i = 0; i < 9; ++i) {
    net->eval();
    show(net, xs);
  }
}
void afterwards(const std::vector<Tensor> &xs, int epochs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    learn(net, opt, xs);
    if (epoch == epochs - 1) {
      net->eval();
      show(net, xs);
    }
  }
  for (int epoch = 0; epoch < epochs; ++epoch) {
    net->train();
    learn(net, opt, xs);
  }
  net->eval();
  show(net, xs);
}
void returns(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    if (epoch % 3 == 2) {
      net->eval();
      show(net, xs);
      return;
    }
  }
}
// Another network in each iteration.
void folds(const std::vector<Tensor> &xs) {
  for (int fold = 0; fold < 9; ++fold) {
    Net net;
    SGD opt(net->parameters(), 0.1);
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
}
void anew(const std::vector<Tensor> &xs) {
  Net net;
  for (int fold = 0; fold < 9; ++fold) {
    net = Net();
    SGD opt(net->parameters(), 0.1);
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
}
void ensemble(std::vector<Net> &nets, SGD &opt, const std::vector<Tensor> &xs) {
  for (size_t i = 0; i < nets.size(); ++i) {
    learn(nets[i], opt, xs);
    nets[i]->eval();
    show(nets[i], xs);
  }
}

// Parts are frozen, or all of it is: eval mode is meant.
void part(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->norm->eval();
    learn(net, opt, xs);
    show(net, xs);
  }
}
void backbone(const std::vector<Tensor> &xs) {
  Net features;
  Linear head(2, 2);
  SGD opt(head->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      head->forward(features->forward(x)).sum().backward();
      opt.step();
    }
    features->eval();
    head->eval();
    show(features, xs);
  }
}
void always(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  net->eval();
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->eval();
    learn(net, opt, xs);
    show(net, xs);
  }
}
// Beside each other in one iteration: an attack on the network as it is used.
void attacked(Net net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    net->eval();
    const Tensor target = net->forward(x).detach();
    opt.zero_grad();
    (net->forward(x + 0.1) - target).square().sum().backward();
    opt.step();
  }
}
// From some epoch on the statistics stay as they are.
void late(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    if (epoch % 5 == 4)
      net->eval();
    learn(net, opt, xs);
  }
}
// The target network of another that is trained.
void target(const std::vector<Tensor> &xs) {
  Net net, slow;
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    slow->eval();
    const Tensor goal = slow->forward(x).detach();
    opt.zero_grad();
    (net->forward(x) - goal).square().sum().backward();
    opt.step();
  }
}

// Nothing in them depends on the mode, or nothing is known of it.
struct PlainImpl : torch::nn::Module {
  Linear fc{register_module("fc", Linear(4, 2))};
  torch::nn::LSTM lstm{register_module("lstm", torch::nn::LSTM(4, 2))};
  torch::nn::InstanceNorm1d norm{register_module("norm", torch::nn::InstanceNorm1d(2))};
  Tensor forward(Tensor x) { return torch::relu(norm(fc(x))); }
};
TORCH_MODULE(Plain);
struct UnseenImpl : torch::nn::Module {
  UnseenImpl();
  Tensor forward(Tensor x);
  Sequential layers{nullptr};
};
TORCH_MODULE(Unseen);
void withoutModes(const std::vector<Tensor> &xs) {
  Plain net;
  Sequential layers(Linear(4, 2), torch::nn::ReLU());
  Unseen other;
  SGD opt(net->parameters(), 0.1), second(layers->parameters(), 0.1), third(other->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    learn(layers, second, xs);
    learn(other, third, xs);
    net->eval();
    layers->eval();
    other->eval();
    show(net, xs);
    show(layers, xs);
    show(other, xs);
  }
}
void scripted(torch::jit::Module net, SGD &opt, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net.forward({x}).toTensor().sum().backward();
      opt.step();
    }
    net.eval();
    std::cout << net.forward({xs[0]}).toTensor().sum().item<float>();
  }
}

// One function for both, told which by its caller.
void run(Net &net, SGD *opt, const std::vector<Tensor> &xs) {
  if (opt)
    net->train();
  else
    net->eval();
  for (const Tensor &x : xs) {
    const Tensor loss = net->forward(x).sum();
    if (opt) {
      opt->zero_grad();
      loss.backward();
      opt->step();
    }
  }
}
void phases(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    run(net, &opt, xs);
    run(net, nullptr, xs);
  }
}
void decided(Net net, SGD &opt, const std::vector<Tensor> &xs, bool training) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    if (training) {
      learn(net, opt, xs);
      continue;
    }
    net->eval();
    show(net, xs);
  }
}

// Module by module; by what somebody else has stored.
void eachModule(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->apply([](torch::nn::Module &part) { part.train(); });
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (auto &part : net->modules())
      part->train();
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
}
struct Observed {
  std::shared_ptr<NetImpl> net;
  std::shared_ptr<SGD> opt;
  std::function<void()> begins;
  void run(const std::vector<Tensor> &xs) {
    for (int epoch = 0; epoch < 9; ++epoch) {
      if (begins)
        begins();
      learn(net, *opt, xs);
      net->eval();
      show(net, xs);
    }
  }
};

// A layer that is not registered: eval() does not reach it, so it never was in eval mode.
// That is what torch-unregistered-module says.
struct ApartImpl : torch::nn::Module {
  ApartImpl() : drop(0.5), noise(0.1) { fc = register_module("fc", Linear(4, 2)); }
  Tensor forward(Tensor x) { return noise->forward(drop(fc(x))); }
  Linear fc{nullptr};
  Dropout drop, noise;
};
TORCH_MODULE(Apart);
void apart(const std::vector<Tensor> &xs) {
  Apart net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    net->eval();
    show(net, xs);
  }
}
