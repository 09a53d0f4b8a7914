// RUN: %check_torch -still-warns %s torch-undetached-hidden-state %t
//
// Findings without a fix: store and backward() lie in different blocks or
// functions. The first function shows that --fix did run.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::optim::SGD;

void plain(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto first = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    first = cell->forward(x, first);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'first' carries what its backward() needs (its autograd graph) into the next iteration
    torch::mse_loss(first, y).backward();
    // CHECK-FIXES: first = first.detach();
    opt.step();
  }
}
// CHECK-FIXES-NOT: detach()

// The block of the backward() is not run in each iteration.
void conditional(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                 Tensor y) {
  auto h = torch::zeros({4, 8});
  auto loss = torch::zeros({});
  for (size_t t = 0; t < xs.size(); ++t) {
    h = cell->forward(xs[t], h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    loss = loss + torch::mse_loss(h, y);
    if (t % 2 == 1) {
      opt.zero_grad();
      loss.backward();
      opt.step();
      loss = torch::zeros({});
    }
  }
}

// In the inner loop the gradient through time is wanted.
void innerLoop(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto h = torch::zeros({4, 8});
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto &x : xs) {
      h = cell->forward(x, h);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    }
    opt.zero_grad();
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// The store is the module's, the backward() is its user's.
struct StatefulImpl : torch::nn::Module {
  StatefulImpl() { gru = register_module("gru", GRU(8, 8)); }
  Tensor forward(const Tensor &x) {
    Tensor output;
    std::tie(output, state) = gru->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration
    return output;
  }
  GRU gru{nullptr};
  Tensor state;
};
TORCH_MODULE(Stateful);

void train(const std::vector<Tensor> &xs, Tensor y) {
  Stateful net;
  SGD opt(net->parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// The backward() is a helper's.
static void descend(SGD &opt, const Tensor &loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
}

void helper(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    descend(opt, torch::mse_loss(h, y));
  }
}

// CHECK-FIXES: int last;
int last;
