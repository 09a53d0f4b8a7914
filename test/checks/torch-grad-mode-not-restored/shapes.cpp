// RUN: %check_torch %s torch-grad-mode-not-restored %t
//
// Grad mode that is switched off, and off when the next training pass runs.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

void learn(Linear &net, SGD &opt, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}
void show(Linear &net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs)
    std::cout << net->forward(x).sum().item<float>();
}

// Never restored: in the loop, in a function that the loop calls, in front.
void inLoop(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off when the next training pass runs, so autograd records nothing of that, and its backward() throws; use a 'torch::NoGradGuard' in the scope that needs no gradient [torch-grad-mode-not-restored]
    show(net, xs);
  }
}
// What cannot be seen, and is told nothing of it.
double seconds();
void progress(int epoch, double time);
void beside(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    progress(epoch, seconds());
    learn(net, opt, xs);
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    show(net, xs);
  }
}
// A tensor is computed with there; the flag is nobody's choice.
void saveImage(Tensor picture, const std::string &path, int64_t columns = 8, bool normalize = false);
void pictures(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    saveImage(net->forward(xs.front()), "sample.png");
  }
}
void everySoMany(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    if (epoch % 3 == 0) {
      c10::GradMode::set_enabled(false);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: grad mode is switched off here, and is still off
      show(net, xs);
    }
    learn(net, opt, xs);
  }
}
void inFront(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  torch::autograd::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here, and is still off
  show(net, xs);
  learn(net, opt, xs);
}

// One path leaves before it is restored.
double validate(Linear &net, const std::vector<Tensor> &xs) {
  at::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here and not on again on every path: it is still off when the next training pass runs
  double sum = 0;
  for (const Tensor &x : xs) {
    const double loss = net->forward(x).sum().item<double>();
    if (std::isnan(loss))
      return loss;
    sum += loss;
  }
  // Not reached by each path.
  at::GradMode::set_enabled(true);
  return sum;
}
void earlyReturn(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    std::cout << validate(net, xs);
  }
}
void earlyContinue(const std::vector<std::vector<Tensor>> &sets) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (const auto &xs : sets) {
    learn(net, opt, xs);
    const bool old = at::GradMode::is_enabled();
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here and not on again on every path
    if (xs.size() < 2)
      continue;
    show(net, xs);
    at::GradMode::set_enabled(old);
  }
}

// A method, a lambda, a template, a macro.
struct Trainer {
  Linear net{4, 2};
  SGD opt{net->parameters(), 0.1};
  void evaluate(const std::vector<Tensor> &xs) {
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    show(net, xs);
  }
  void run(const std::vector<Tensor> &xs) {
    for (int epoch = 0; epoch < 9; ++epoch) {
      learn(net, opt, xs);
      evaluate(xs);
    }
  }
};
void lambda(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  const auto evaluate = [&] {
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    show(net, xs);
  };
  for (int epoch = 0; epoch < 9; ++epoch) {
    evaluate();
    learn(net, opt, xs);
  }
}
template <class Module> void check(Module &net, const std::vector<Tensor> &xs) {
  at::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here, and is still off
  for (const Tensor &x : xs)
    net->forward(x);
}
void byTemplate(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    check(net, xs);
    learn(net, opt, xs);
  }
}
#define NO_GRAD() at::GradMode::set_enabled(false)
void byMacro(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    NO_GRAD();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    show(net, xs);
  }
}

// Weights of one's own; gradients that are returned.
void byHand(const std::vector<Tensor> &xs) {
  Tensor w = torch::zeros({4}, torch::requires_grad());
  SGD opt({w}, 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      Tensor loss = (w * x).sum();
      loss.backward();
      opt.step();
    }
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    std::cout << (w * xs.front()).sum();
  }
}
void returned(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  for (const Tensor &x : xs) {
    Tensor loss = net->forward(x).sum();
    std::cout << torch::autograd::grad({loss}, net->parameters());
    at::GradMode::set_enabled(false);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: grad mode is switched off here, and is still off
    std::cout << net->forward(x);
  }
}

// Guards that live on: a static variable, a member, on the heap.
void evaluateOnce(Linear &net, const std::vector<Tensor> &xs) {
  static torch::NoGradGuard guard;
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: the guard 'guard' outlives the scope it is made in, and grad mode is still off when the next training pass runs, so autograd records nothing of that, and its backward() throws; use a 'torch::NoGradGuard' in the scope that needs no gradient as a local variable
  show(net, xs);
}
void byStatic(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    evaluateOnce(net, xs);
  }
}
struct Evaluator {
  torch::NoGradGuard guard;
  // CHECK-MESSAGES: :[[@LINE-2]]:8: warning: the guard 'guard' outlives the scope it is made in
  void run(Linear &net, const std::vector<Tensor> &xs) { show(net, xs); }
};
void byMember(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  Evaluator evaluator;
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    evaluator.run(net, xs);
  }
}
void byHeap(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    auto *guard = new torch::NoGradGuard;
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: the guard 'guard' outlives the scope it is made in
    show(net, xs);
    if (xs.empty())
      continue;
    delete guard;
  }
}

// The answer of the evaluation decides about something else: whether it is on
// again lies within it.
bool isGood(Linear &net, const std::vector<Tensor> &xs) {
  at::GradMode::set_enabled(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: grad mode is switched off here and not on again on every path
  for (const Tensor &x : xs)
    if (net->forward(x).sum().item<float>() > 9)
      return false;
  at::GradMode::set_enabled(true);
  return true;
}
bool isGoodAlways(Linear &net, const Tensor &x) {
  at::GradMode::set_enabled(false);
  const bool isGood = net->forward(x).sum().item<float>() > 9;
  at::GradMode::set_enabled(true);
  return isGood;
}
void asked(const std::vector<Tensor> &xs) {
  Linear net(4, 2);
  SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    if (isGoodAlways(net, xs.front()) && epoch > 2)
      std::cout << "good";
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    learn(net, opt, xs);
    if (isGood(net, xs))
      std::cout << "good";
  }
}
