// RUN: %check_torch %s torch-missing-zero-grad %t
//
// No accumulation over steps: closures, schedulers, single steps, gradients
// that do not reach the parameters, fresh leaves, classes that are not torch's.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void closure(Linear net, Tensor x, Tensor y) {
  torch::optim::LBFGS opt(net->parameters());
  for (int i = 0; i < 10; ++i) {
    auto evaluate = [&] {
      opt.zero_grad();
      auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      return loss;
    };
    opt.step(evaluate);
  }
}

// A scheduler's step() is not an optimizer's.
void scheduler(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  torch::optim::StepLR scheduler(opt, 30, 0.1);
  torch::optim::ReduceLROnPlateauScheduler plateau(opt);
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    scheduler.step();
    plateau.step(loss.item<float>());
  }
}

int main() {
  Linear net(8, 2);
  torch::optim::SGD opt(net->parameters(), 0.1);
  // A single demonstration step outside any loop.
  auto loss = net->forward(torch::rand({4, 8})).sum();
  loss.backward();
  opt.step();
}

// The loop never comes round.
void leavesAtOnce(Linear net, torch::optim::SGD &opt,
                  const std::vector<Tensor> &xs, Tensor y) {
  for (const auto &x : xs) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    break;
  }
}

// The gradients are made once, before the loop.
void backwardBefore(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  torch::mse_loss(net->forward(x), y).backward();
  for (int i = 0; i < 10; ++i)
    opt.step();
}

// grad() adds to no .grad; the parameters' gradients are set, not added to.
void functionalGradients(Linear net, torch::optim::SGD &opt, Tensor x,
                         Tensor y) {
  auto params = net->parameters();
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    auto grads = torch::autograd::grad({loss}, params);
    for (size_t p = 0; p < params.size(); ++p)
      params[p].mutable_grad() = grads[p];
    opt.step();
  }
}

// backward() with inputs adds to those alone: nothing is added to the
// gradients of the parameters.
void inputsOnly(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  x.set_requires_grad(true);
  std::vector<Tensor> inputs{x};
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward({}, /*retain_graph=*/std::nullopt, /*create_graph=*/false,
                  inputs);
    opt.step();
  }
}

// New leaves, and an optimizer for them, in each iteration.
void freshLeaves(Tensor target) {
  for (int i = 0; i < 10; ++i) {
    auto w = torch::randn({8}, torch::requires_grad());
    torch::optim::SGD opt({w}, 0.1);
    torch::mse_loss(w, target).backward();
    opt.step();
  }
}

// A new model per fold; the step is in the loop but each model takes one.
void freshModels(Tensor x, Tensor y) {
  for (int fold = 0; fold < 5; ++fold) {
    Linear net(8, 2);
    torch::optim::SGD opt(net->parameters(), 0.1);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// Not LibTorch's: the names alone say nothing.
namespace mine {
struct SGD {
  void step();
};
struct Loss {
  void backward();
};
} // namespace mine

void notTorch(mine::SGD &opt, mine::Loss &loss, Linear net, Tensor x) {
  for (int i = 0; i < 10; ++i) {
    loss.backward();
    net->forward(x).sum().backward();
    opt.step();
  }
}
