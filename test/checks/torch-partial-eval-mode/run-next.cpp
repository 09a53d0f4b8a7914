// RUN: %check_torch %s torch-partial-eval-mode %t -still-warns
//
// An eval() that was copied, where the other one is set to eval() elsewhere,
// and has been trained since: the function runs it next, in train mode.

#include <torch/torch.h>

using torch::NoGradGuard;
using torch::Tensor;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;

static void fit(Sequential &net, const Tensor &x) {
  torch::optim::Adam opt(net->parameters(), 1e-3);
  net->train();
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    net->forward(x).square().mean().backward();
    opt.step();
  }
}

static void use(Sequential &net, const Tensor &x) {
  NoGradGuard no_grad;
  net->eval();
  std::cout << net->forward(x);
}

static void report(Sequential &maker, Sequential &teacher, const Tensor &x) {
  maker->eval();
  maker->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'maker' is set to eval mode twice, and 'teacher', which is run next, not: it runs with its Dropout as in training; this eval() is probably meant for 'teacher' [torch-partial-eval-mode]
  // CHECK-FIXES: maker->eval();
  // CHECK-FIXES: teacher->eval();
  NoGradGuard no_grad;
  std::cout << maker->forward(x) << teacher->forward(x);
}

struct Two {
  Sequential maker{Linear(4, 4), Dropout(0.1)}, teacher{Linear(4, 4), Dropout(0.1)};
};

static void ofMembers(Two &two, const Tensor &x) {
  NoGradGuard no_grad;
  two.teacher->eval();
  two.teacher->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'two.teacher' is set to eval mode twice, and 'maker', which is run next, not
  auto a = two.teacher->forward(x);
  auto b = two.maker->forward(a);
  std::cout << b;
}

// Here the teacher is in eval mode already.
static void already(Sequential &maker, Sequential &teacher, const Tensor &x) {
  maker->eval();
  maker->eval();
  NoGradGuard no_grad;
  std::cout << maker->forward(x) << teacher->forward(x);
}

// Its dropout is wanted.
static void spread(Sequential &maker, Sequential &teacher, const Tensor &x) {
  maker->eval();
  maker->eval();
  teacher->train();
  NoGradGuard no_grad;
  std::cout << maker->forward(x) << teacher->forward(x);
}

// The other is trained here, not evaluated.
static void distill(Sequential &maker, Sequential &teacher, const Tensor &x) {
  torch::optim::Adam opt(maker->parameters(), 1e-3);
  maker->train();
  teacher->eval();
  teacher->eval();
  auto aim = teacher->forward(x).detach();
  opt.zero_grad();
  torch::mse_loss(maker->forward(x), aim).backward();
  opt.step();
}

int main() {
  auto x = torch::rand({8, 4});
  Sequential maker(Linear(4, 4), Dropout(0.1)), teacher(Linear(4, 4), Dropout(0.1));
  use(teacher, x);
  fit(maker, x);
  distill(maker, teacher, x);
  already(maker, teacher, x);
  fit(teacher, x);
  report(maker, teacher, x);
  spread(maker, teacher, x);
  Two two;
  use(two.maker, x);
  fit(two.maker, x);
  ofMembers(two, x);
}
