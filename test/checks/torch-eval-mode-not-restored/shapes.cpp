// RUN: %check_torch %s torch-eval-mode-not-restored %t -still-warns
//
// Evaluations that leave the network in eval mode, and a training that goes on.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::BatchNorm1d;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::SGD;

struct NetImpl : torch::nn::Module {
  Linear fc{nullptr};
  Dropout drop{nullptr};
  NetImpl() {
    fc = register_module("fc", Linear(4, 2));
    drop = register_module("drop", Dropout(0.5));
  }
  Tensor forward(Tensor x) { return drop(fc(x)); }
};
TORCH_MODULE(Net);

// train() comes once, before the loop.
void epochs(const std::vector<Tensor> &xs) {
  Net net;
  SGD opt(net->parameters(), 0.1);
  net->train();
  for (int epoch = 0; epoch < 9; ++epoch) {
    // CHECK-FIXES: {{^}}  for (int epoch = 0; epoch < 9; ++epoch) {{[{]$}}
    // CHECK-FIXES-NEXT: {{^}}    net->train();{{$}}
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
    }
    net->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'net' is still in eval mode when the loop trains it again: its Dropout works as in evaluation from then on; call 'net->train()' before the next training pass [torch-eval-mode-not-restored]
    torch::NoGradGuard guard;
    for (const Tensor &x : xs)
      std::cout << net->forward(x).sum().item<float>();
  }
}

// Across functions; a Sequential, which says nothing of itself.
static void learn(Sequential &net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}
static double validate(Sequential &net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard guard;
  net->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net' is still in eval mode when the loop trains it again: its BatchNorm1d works as
  double sum = 0;
  for (const Tensor &x : xs)
    sum += net->forward(x).sum().item<double>();
  return sum;
}
void helpers(const std::vector<Tensor> &xs) {
  Sequential net(Linear(4, 4), BatchNorm1d(4));
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    std::cout << validate(net, xs);
  }
}

// Members; every so many iterations, before the training of the same one.
struct Trainer {
  Net net;
  SGD opt{net->parameters(), 0.1};
  void step(Tensor x) {
    opt.zero_grad();
    net(x).sum().backward();
    opt.step();
  }
  float test(Tensor x) {
    torch::NoGradGuard guard;
    return net(x).sum().item<float>();
  }
  void fit(const std::vector<Tensor> &xs) {
    net->train();
    for (size_t i = 0; i < xs.size(); ++i) {
      if (i % 100 == 0) {
        net->eval();
        // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'net' is still in eval mode
        std::cout << test(xs[i]);
      }
      step(xs[i]);
    }
  }
};

// By a function that asks for the mode; train() only at the start of an epoch.
struct ConvImpl : torch::nn::Module {
  Linear fc{register_module("fc", Linear(4, 2))};
  Tensor forward(Tensor x) {
    return torch::dropout(fc(x), 0.5, is_training());
  }
};
TORCH_MODULE(Conv);
template <class Data> void batches(Conv net, SGD &opt, const Data &xs) {
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->train();
    for (size_t k = 0; k < xs.size(); ++k) {
      // CHECK-FIXES: {{^}}    for (size_t k = 0; k < xs.size(); ++k) {{[{]$}}
      // CHECK-FIXES-NEXT: {{^}}      net->train();{{$}}
      opt.zero_grad();
      net->forward(xs[k]).sum().backward();
      opt.step();
      if (k % 10 == 9) {
        net->eval(); // every so many
        // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'net' is still in eval mode when the loop trains it again: its code under is_training() works as
        torch::NoGradGuard guard;
        std::cout << net->forward(xs[0]).sum().template item<float>();
      }
    }
  }
}
void instantiates(Conv net, SGD &opt, const std::vector<Tensor> &xs) {
  batches(net, opt, xs);
}

// Validation first, in a loop of its own, and lambdas.
void first(const std::vector<Tensor> &xs) {
  auto net = std::make_shared<NetImpl>();
  SGD opt(net->parameters(), 0.1);
  auto validate = [&] {
    torch::NoGradGuard guard;
    net->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'net' is still in eval mode
    for (const Tensor &x : xs)
      std::cout << net->forward(x).sum().item<float>();
  };
  for (int epoch = 0; epoch < 9; ++epoch) {
    validate();
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
    }
  }
}

// Registered by name in the body, by an initializer in the class, and among others that are not.
struct NamedImpl : torch::nn::Module {
  NamedImpl() : inner(0.5), outer(0.5) {
    register_module("fc", fc);
    register_module("outer", outer);
  }
  Tensor forward(Tensor x) { return outer(inner(fc(x))); }
  Linear fc{4, 2};
  Dropout inner, outer;
};
TORCH_MODULE(Named);
void named(const std::vector<Tensor> &xs) {
  Named net;
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
    }
    net->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'net' is still in eval mode when the loop trains it again: its Dropout
    torch::NoGradGuard guard;
    for (const Tensor &x : xs)
      std::cout << net->forward(x).sum().item<float>();
  }
}
