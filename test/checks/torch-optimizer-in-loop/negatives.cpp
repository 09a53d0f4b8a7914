// RUN: %check_torch %s torch-optimizer-in-loop %t
//
// What looks like the mistake and is right, or is not known to be wrong.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::Adam;
using torch::optim::SGD;
using torch::optim::SGDOptions;

void fit(torch::optim::Optimizer &optimizer, Linear &net, Tensor x) {
  optimizer.zero_grad();
  net->forward(x).sum().backward();
  optimizer.step();
}

void before(Linear net, const std::vector<Tensor> &xs) {
  Adam adam(net->parameters());
  for (const Tensor &x : xs)
    fit(adam, net, x);
}

// They keep no state.
void plain(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    SGD sgd(net->parameters(), 0.1);
    fit(sgd, net, x);
    SGD decayed(net->parameters(), SGDOptions(0.1).weight_decay(0.1));
    fit(decayed, net, x);
    SGD zero(net->parameters(), SGDOptions(0.1).momentum(0));
    fit(zero, net, x);
    SGD none(net->parameters(), SGDOptions(0.1).momentum(0.0).dampening(0.5));
    fit(none, net, x);
  }
}

// Or may keep none.
void unknownOptions(Linear net, const std::vector<Tensor> &xs, SGDOptions given, double momentum) {
  for (const Tensor &x : xs) {
    SGD sgd(net->parameters(), given);
    fit(sgd, net, x);
    SGD other(net->parameters(), SGDOptions(0.1).momentum(momentum));
    fit(other, net, x);
  }
}

// One step of it is an optimisation.
void lbfgs(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    torch::optim::LBFGS lbfgs(net->parameters());
    lbfgs.step([&] {
      lbfgs.zero_grad();
      Tensor loss = net->forward(x).sum();
      loss.backward();
      return loss;
    });
  }
}

// One for each epoch, or stage.
void perEpoch(Linear net, const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    Adam adam(net->parameters(), std::pow(0.1, epoch));
    for (const Tensor &x : xs)
      fit(adam, net, x);
  }
}
void twoSteps(Linear net, const std::vector<Tensor> &tasks) {
  for (const Tensor &x : tasks) {
    Adam adam(net->parameters());
    fit(adam, net, x);
    fit(adam, net, x);
  }
}

// One for each model.
void perFold(const std::vector<Tensor> &folds) {
  for (const Tensor &x : folds) {
    Linear net(2, 2);
    Adam adam(net->parameters());
    fit(adam, net, x);
  }
}
void perModel(std::vector<Linear> &nets, Tensor x) {
  for (Linear &net : nets) {
    Adam adam(net->parameters());
    fit(adam, net, x);
  }
  for (size_t i = 0; i < nets.size(); ++i) {
    Adam adam(nets[i]->parameters());
    fit(adam, nets[i], x);
  }
}
void replaced(const std::vector<Tensor> &xs) {
  Linear net(2, 2);
  for (const Tensor &x : xs) {
    net = Linear(2, 2);
    Adam adam(net->parameters());
    fit(adam, net, x);
  }
}
struct Folds {
  std::shared_ptr<torch::nn::LinearImpl> net;
  void run(const std::vector<Tensor> &folds) {
    for (const Tensor &x : folds) {
      net = std::make_shared<torch::nn::LinearImpl>(2, 2);
      Adam adam(net->parameters());
      adam.zero_grad();
      net->forward(x).sum().backward();
      adam.step();
    }
  }
};
void perTensor(int n) {
  for (int i = 0; i < n; ++i) {
    Tensor w = torch::zeros({3}, torch::requires_grad());
    Adam adam({w}, 0.1);
    w.sum().backward();
    adam.step();
  }
}
void perElement(std::vector<Tensor> &weights) {
  for (Tensor &w : weights) {
    Adam adam({w}, 0.1);
    w.sum().backward();
    adam.step();
  }
}
Linear build();
void built(const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Linear net = build();
    Adam adam(net->parameters());
    fit(adam, net, x);
  }
}

// Each iteration begins at other values.
void initialized(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    torch::nn::init::normal_(net->weight);
    Adam adam(net->parameters());
    fit(adam, net, x);
  }
}
void loaded(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    torch::load(net, "start.pt");
    Adam adam(net->parameters());
    fit(adam, net, x);
  }
}
void copied(Linear net, Linear start, const std::vector<Tensor> &tasks) {
  for (const Tensor &x : tasks) {
    {
      torch::NoGradGuard guard;
      net->weight.copy_(start->weight);
    }
    Adam adam({net->weight});
    fit(adam, net, x);
  }
}

// The state comes from elsewhere.
void restored(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Adam adam(net->parameters());
    torch::load(adam, "adam.pt");
    fit(adam, net, x);
    torch::save(adam, "adam.pt");
  }
}
void restore(torch::optim::Optimizer &optimizer);
void restoredElsewhere(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Adam adam(net->parameters());
    restore(adam);
    fit(adam, net, x);
  }
}
void restoredFromArchive(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Adam adam(net->parameters());
    torch::serialize::InputArchive archive;
    archive.load_from("adam.pt");
    adam.load(archive);
    fit(adam, net, x);
  }
}

// A restart that is meant.
void warmRestart(Linear net, const std::vector<Tensor> &xs) {
  auto adam = std::make_unique<Adam>(net->parameters());
  int i = 0;
  for (const Tensor &x : xs) {
    if (++i % 100 == 0)
      adam = std::make_unique<Adam>(net->parameters());
    fit(*adam, net, x);
  }
}
void lazily(Linear net, const std::vector<Tensor> &xs) {
  std::unique_ptr<Adam> adam;
  for (const Tensor &x : xs) {
    if (!adam)
      adam = std::make_unique<Adam>(net->parameters());
    fit(*adam, net, x);
  }
}
void once(Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    static Adam adam(net->parameters());
    fit(adam, net, x);
  }
}

// Nothing is said of what callers elsewhere repeat.
void oneStep(Linear net, Tensor x) {
  Adam adam(net->parameters());
  fit(adam, net, x);
}

// Parameters that grow from one iteration to the next.
void growing(std::vector<Tensor> xs) {
  std::vector<Tensor> weights;
  for (const Tensor &x : xs) {
    weights.push_back(torch::zeros({2}, torch::requires_grad()));
    Adam adam(weights);
    (x * weights.back()).sum().backward();
    adam.step();
  }
}

// It never steps in the loop.
void collected(Linear net, std::vector<std::unique_ptr<Adam>> &all) {
  for (int i = 0; i < 3; ++i)
    all.push_back(std::make_unique<Adam>(net->parameters(), i * 0.1));
}
