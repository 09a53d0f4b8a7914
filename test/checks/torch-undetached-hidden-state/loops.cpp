// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Loops of every kind, nested loops, and what does not end the history.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::LSTMCell;
using torch::optim::SGD;

void whileLoop(GRUCell cell, SGD &opt, Tensor x, Tensor y) {
  auto h = torch::zeros({4, 8});
  float last = 1e9f;
  while (last > 0.01f) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
    auto loss = torch::mse_loss(h, y);
    loss.backward();
    opt.step();
    last = loss.item<float>();
  }
}

void doLoop(GRUCell cell, SGD &opt, Tensor x, Tensor y) {
  auto h = torch::zeros({4, 8});
  int steps = 0;
  do {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  } while (++steps < 10);
}

void gotoLoop(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  size_t i = 0;
next:
  opt.zero_grad();
  h = cell->forward(xs[i], h);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
  torch::mse_loss(h, y).backward();
  opt.step();
  if (++i < xs.size())
    goto next;
}

// The epoch begins with a new state, its batches do not.
void initialisedPerEpoch(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                         Tensor y) {
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto h = torch::zeros({4, 8});
    for (const auto &x : xs) {
      opt.zero_grad();
      h = cell->forward(x, h);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
      torch::mse_loss(h, y).backward();
      opt.step();
    }
  }
}

// The sequence is unrolled and backwarded as a whole, but the next one begins
// with the state that this one has ended with.
void notInitialisedPerEpoch(GRUCell cell, SGD &opt,
                            const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto &x : xs) {
      h = cell->forward(x, h);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
    }
    opt.zero_grad();
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// Windows of k steps, backwarded one by one: the state leads from each into the
// one before.
void everyFewSteps(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  auto h = torch::zeros({4, 8});
  auto loss = torch::zeros({});
  for (size_t t = 0; t < xs.size(); ++t) {
    h = cell->forward(xs[t], h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    loss = loss + torch::mse_loss(h, y);
    if ((t + 1) % 2 == 0) {
      opt.zero_grad();
      loss.backward();
      opt.step();
      loss = torch::zeros({});
    }
  }
}

// ----- what does not end the history -----

void firstIterationOnly(GRU layer, SGD &opt, const std::vector<Tensor> &xs,
                        Tensor y) {
  Tensor output, state;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i == 0)
      state = torch::zeros({1, 4, 8});
    opt.zero_grad();
    std::tie(output, state) = layer->forward(xs[i], state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}

void whereUndefined(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  Tensor h;
  for (const auto &x : xs) {
    if (!h.defined())
      h = torch::zeros({4, 8});
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// The result of detach() is dropped.
void discarded(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h.detach();
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// Another tensor is detached, and a copy keeps the history.
void copies(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  std::vector<Tensor> shown;
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, h);
    torch::mse_loss(next, y).backward();
    opt.step();
    shown.push_back(next.detach());
    h = next.clone();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
  }
}

// The cell state is left out.
void halfDetached(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                  Tensor y) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    state = cell->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{.*state.*}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(std::get<0>(state), y).backward();
    opt.step();
    std::get<0>(state).detach_();
  }
}

// The guard is over the accuracy only.
void guardElsewhere(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
    {
      torch::NoGradGuard no_grad;
      std::cout << (h - y).abs().mean().item<float>() << '\n';
    }
  }
}
