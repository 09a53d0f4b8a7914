// RUN: %check_torch %s torch-partial-eval-mode %t -still-warns
//
// The same where whoever evaluates has kept the modes, and restores them: the
// module is in train mode again, and in eval mode where it was in eval mode.

#include <torch/torch.h>

using torch::NoGradGuard;
using torch::Tensor;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;

struct NetImpl : torch::nn::Module {
  Linear first{nullptr}, last{nullptr};
  Dropout drop{nullptr};
  NetImpl() {
    first = register_module("first", Linear(4, 4));
    last = register_module("last", Linear(4, 4));
    drop = register_module("drop", Dropout(0.2));
  }
  Tensor features(const Tensor &x) { return drop(first(x)); }
  Tensor forward(const Tensor &x) { return last(features(x)); }
};
TORCH_MODULE(Net);

struct Evaluating {
  torch::nn::Module &net;
  const bool was;
  explicit Evaluating(torch::nn::Module &of) : net(of), was(of.is_training()) { net.eval(); }
  ~Evaluating() { net.train(was); }
};

// By a method that is not forward().
static Tensor keepsBoth(Net &net, Sequential &head, const Tensor &x) {
  NoGradGuard no_grad;
  const bool ofNet = net->is_training();
  const bool ofHead = head->is_training();
  net->eval();
  net->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net' is set to eval mode twice, and 'head', which is run next, not: it runs with its Dropout as in training; this eval() is probably meant for 'head' [torch-partial-eval-mode]
  // CHECK-FIXES: net->eval();
  // CHECK-FIXES: head->eval();
  auto sum = torch::zeros({8, 4});
  for (int i = 0; i < 4; ++i)
    sum += head->forward(net->features(x));
  net->train(ofNet);
  head->train(ofHead);
  return sum;
}

static Tensor scoped(Net &net, Sequential &head, const Tensor &x) {
  NoGradGuard no_grad;
  Evaluating a(*net), b(*head);
  return head->forward(net->forward(x));
}

static Tensor behindScopes(Net &net, Sequential &head, const Tensor &x) {
  NoGradGuard no_grad;
  net->eval();
  net->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net' is set to eval mode twice, and 'head', which is run next, not
  return net->forward(x) + head->forward(x);
}

// The head was in eval mode, and is again.
static Tensor wasInEval(Net &net, Sequential &head, const Tensor &x) {
  NoGradGuard no_grad;
  head->eval();
  scoped(net, head, x);
  net->eval();
  net->eval();
  return net->forward(x) + head->forward(x);
}

// The mode is restored before the pass: that is meant.
static Tensor restoredBefore(Net &net, Sequential &head, const Tensor &x) {
  NoGradGuard no_grad;
  const bool was = head->is_training();
  net->eval();
  net->eval();
  head->eval();
  auto a = head->forward(x);
  head->train(was);
  return a + net->forward(x) + head->forward(x);
}

// What the flag holds is not known.
static Tensor mixedFlag(Net &net, Sequential &head, const Tensor &x, int n) {
  NoGradGuard no_grad;
  bool was = head->is_training();
  if (n > 3)
    was = n > 5;
  head->train(was);
  return net->forward(x) + head->forward(x);
}

static Tensor behindMixed(Net &net, Sequential &head, const Tensor &x) {
  NoGradGuard no_grad;
  net->eval();
  net->eval();
  return net->forward(x) + head->forward(x);
}

int main(int n, char **) {
  auto x = torch::rand({8, 4});
  Net net;
  Sequential head(Linear(4, 4), Dropout(0.1));
  torch::optim::SGD opt(head->parameters(), 0.1);
  head->train();
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    head->forward(x).square().mean().backward();
    opt.step();
  }
  std::cout << scoped(net, head, x) << behindScopes(net, head, x) << keepsBoth(net, head, x) << restoredBefore(net, head, x);
  std::cout << mixedFlag(net, head, x, n) << behindMixed(net, head, x);
  head->train();
  std::cout << wasInEval(net, head, x);
}
