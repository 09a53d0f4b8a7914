// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Through the user's own functions, lambdas and templates.

#include <torch/torch.h>

#include <algorithm>
#include <functional>

using torch::Tensor;
using torch::nn::GRUCell;
using torch::nn::LSTMCell;
using torch::optim::SGD;

// The helper stores through its parameter; the loop is in the caller.
static void advance(GRUCell cell, const Tensor &x, Tensor &h) {
  h = cell->forward(x, h);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
}

void byReference(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                 Tensor y) {
  auto state = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    advance(cell, x, state);
    torch::mse_loss(state, y).backward();
    opt.step();
  }
}

static void advanceAt(GRUCell cell, const Tensor &x, Tensor *h) {
  *h = cell->forward(x, *h);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: recurrent state '{{.*h}}' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
}

void byPointer(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto state = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    advanceAt(cell, x, &state);
    torch::mse_loss(state, y).backward();
    opt.step();
  }
}

// The helper returns the new state; the caller stores it.
static Tensor advanced(GRUCell cell, const Tensor &x, const Tensor &h) {
  return cell->forward(x, h);
}

void byResult(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto state = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    state = advanced(cell, x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'state = state.detach();'
    torch::mse_loss(state, y).backward();
    opt.step();
  }
}

// A whole step of training is the helper's.
static std::tuple<Tensor, Tensor> trainStep(LSTMCell cell, SGD &opt,
                                            const Tensor &x, const Tensor &y,
                                            std::tuple<Tensor, Tensor> state) {
  opt.zero_grad();
  state = cell->forward(x, state);
  torch::mse_loss(std::get<0>(state), y).backward();
  opt.step();
  return state;
}

void wholeStep(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto carried = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    carried = trainStep(cell, opt, x, y, carried);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'carried' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach its tensors
  }
}

// The backward() is the helper's.
static void descend(SGD &opt, const Tensor &loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
}

void backwardInHelper(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                      Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    descend(opt, torch::mse_loss(h, y));
  }
}

void capturedByLambda(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                      Tensor y) {
  auto h = torch::zeros({4, 8});
  auto step = [&](const Tensor &x) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'h = h.detach();'
    torch::mse_loss(h, y).backward();
    opt.step();
  };
  for (const auto &x : xs)
    step(x);
}

void storedFunction(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                    Tensor y) {
  std::function<Tensor(Tensor, Tensor)> next = [&](Tensor x, Tensor h) {
    return cell->forward(x, h);
  };
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = next(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

void forEach(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  });
}

// The closure runs forward and backward, the state is stored after the step.
void closure(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    Tensor next;
    opt.step([&] {
      opt.zero_grad();
      next = cell->forward(x, h);
      auto loss = torch::mse_loss(next, y);
      loss.backward();
      return loss;
    });
    h = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
  }
}

template <class Cell, class Batches>
void train(Cell &cell, Batches &batches, torch::optim::Optimizer &opt) {
  Tensor h = torch::zeros({4, 8});
  for (auto &batch : batches) {
    opt.zero_grad();
    h = cell->forward(batch.data, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'h = h.detach();'
    Tensor loss = torch::mse_loss(h, batch.target);
    loss.backward();
    opt.step();
  }
}

// Twice instantiated, reported once.
void instantiates(GRUCell gru, torch::nn::RNNCell rnn,
                  std::vector<torch::data::Example<>> batches, SGD &opt) {
  train(gru, batches, opt);
  train(rnn, batches, opt);
}

// ----- quiet -----

// The usual helper of language models.
static Tensor repackage(const Tensor &h) { return h.detach(); }

static std::tuple<Tensor, Tensor>
repackage(const std::tuple<Tensor, Tensor> &state) {
  return {repackage(std::get<0>(state)), repackage(std::get<1>(state))};
}

static void repackageAll(std::vector<Tensor> &states) {
  for (auto &state : states)
    state.detach_();
}

void repackaged(LSTMCell lstm, GRUCell gru, SGD &opt,
                const std::vector<Tensor> &xs, Tensor y) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  auto h = torch::zeros({4, 8});
  std::vector<Tensor> all{torch::zeros({4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    h = repackage(h);
    state = repackage(state);
    repackageAll(all);
    state = lstm->forward(x, state);
    h = gru->forward(x, h);
    all[0] = gru->forward(x, all[0]);
    (torch::mse_loss(std::get<0>(state), y) + torch::mse_loss(h, y) +
     torch::mse_loss(all[0], y))
        .backward();
    opt.step();
  }
}

// The helper returns a state without history.
static Tensor detachedStep(GRUCell cell, SGD &opt, const Tensor &x,
                           const Tensor &y, const Tensor &h) {
  opt.zero_grad();
  auto next = cell->forward(x, h);
  torch::mse_loss(next, y).backward();
  opt.step();
  return next.detach();
}

void detachedByHelper(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                      Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs)
    h = detachedStep(cell, opt, x, y, h);
}

// A copy is passed: what the helper stores is gone when it returns.
static float lossOf(GRUCell cell, const std::vector<Tensor> &xs, Tensor y,
                    Tensor h) {
  for (const auto &x : xs)
    h = cell->forward(x, h);
  auto loss = torch::mse_loss(h, y);
  loss.backward();
  return loss.item<float>();
}

void byValue(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto initial = torch::zeros({4, 8});
  for (int epoch = 0; epoch < 3; ++epoch) {
    opt.zero_grad();
    std::cout << lossOf(cell, xs, y, initial) << '\n';
    opt.step();
  }
}

// What another file does with the state is not known: it may detach it.
void elsewhere(Tensor &h);

void handedOn(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    torch::mse_loss(h, y).backward();
    opt.step();
    elsewhere(h);
  }
}
