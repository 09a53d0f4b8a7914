// RUN: %check_torch %s torch-partial-eval-mode %t -still-warns
//
// Two networks, each trained for itself, are evaluated together: one of them in
// train mode.

#include <torch/torch.h>

using torch::NoGradGuard;
using torch::Tensor;
using torch::nn::BatchNorm1d;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;

static Sequential make() { return Sequential(Linear(4, 4), BatchNorm1d(4), Dropout(0.3)); }

struct Models {
  Sequential gen = make(), grader = make();
  torch::optim::Adam ofGen{gen->parameters()}, ofGrader{grader->parameters()};
};

static void step(Sequential &net, torch::optim::Adam &opt, const Tensor &x) {
  opt.zero_grad();
  net->forward(x).square().mean().backward();
  opt.step();
}

static double validate(Models &m, const Tensor &x) {
  NoGradGuard no_grad;
  m.gen->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: only 'm.gen' is set to eval mode: 'm.grader', which is evaluated with it, runs with its BatchNorm1d as in training; set it to eval(), and back, as well [torch-partial-eval-mode]
  double sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += (m.gen->forward(x) + m.grader->forward(x)).mean().item<double>();
  m.gen->train();
  return sum;
}

static double validateBoth(Models &m, const Tensor &x) {
  NoGradGuard no_grad;
  m.gen->eval();
  m.grader->eval();
  const double sum = (m.gen->forward(x) + m.grader->forward(x)).mean().item<double>();
  m.gen->train();
  m.grader->train();
  return sum;
}

// Its dropout is wanted.
static double doubt(Models &m, const Tensor &x) {
  NoGradGuard no_grad;
  m.gen->eval();
  m.grader->train();
  const double sum = m.grader->forward(m.gen->forward(x)).std().item<double>();
  m.gen->train();
  return sum;
}

// A teacher, set to eval mode once; the other goes on with its training.
static void selfTraining(const Tensor &x) {
  Sequential teacher = make(), student = make();
  torch::optim::Adam first(teacher->parameters()), second(student->parameters());
  for (int i = 0; i < 9; ++i)
    step(teacher, first, x);
  teacher->eval();
  for (int i = 0; i < 9; ++i) {
    Tensor weights;
    {
      NoGradGuard no_grad;
      weights = (teacher->forward(x) - student->forward(x)).abs();
    }
    second.zero_grad();
    (student->forward(x).square() * weights).mean().backward();
    second.step();
  }
}

// Written into one loop, after the training.
static void inOne(const Tensor &x) {
  Sequential a = make(), b = make();
  torch::optim::Adam ofA(a->parameters()), ofB(b->parameters());
  for (int epoch = 0; epoch < 9; ++epoch) {
    a->train();
    for (int i = 0; i < 9; ++i) {
      step(a, ofA, x);
      step(b, ofB, x);
    }
    a->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: only 'a' is set to eval mode: 'b', which is evaluated with it
    NoGradGuard no_grad;
    std::cout << a->forward(x) << b->forward(x);
  }
}

int main() {
  auto x = torch::rand({8, 4});
  Models m;
  for (int epoch = 0; epoch < 9; ++epoch) {
    for (int i = 0; i < 9; ++i) {
      step(m.gen, m.ofGen, x);
      step(m.grader, m.ofGrader, x);
    }
    std::cout << validate(m, x) << doubt(m, x) << validateBoth(m, x);
  }
  selfTraining(x);
  inOne(x);
}
