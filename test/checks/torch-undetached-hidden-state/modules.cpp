// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// LibTorch's recurrent layers and cells, and the ways to take their results
// apart.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::LSTM;
using torch::nn::LSTMCell;
using torch::nn::RNN;
using torch::nn::RNNCell;
using torch::optim::SGD;

void gruCell(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'h = h.detach();' [torch-undetached-hidden-state]
    auto loss = torch::mse_loss(h, y);
    loss.backward();
    opt.step();
  }
}

void rnnCell(RNNCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  Tensor hidden = torch::zeros({4, 8});
  for (size_t i = 0; i < xs.size(); ++i) {
    hidden = cell(xs[i], hidden);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'hidden' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'hidden = hidden.detach();'
    Tensor loss = torch::mse_loss(hidden, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

void lstmCell(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
              Tensor y) {
  auto state = std::make_tuple(torch::zeros({4, 8}), torch::zeros({4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    state = cell->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach its tensors [torch-undetached-hidden-state]
    auto loss = torch::mse_loss(std::get<0>(state), y);
    loss.backward();
    opt.step();
  }
}

void lstmCellTied(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                  Tensor y) {
  Tensor h = torch::zeros({4, 8}), c = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    std::tie(h, c) = cell->forward(x, std::make_tuple(h, c));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{h.*}}' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// What the holder points to.
void cellPointer(std::shared_ptr<torch::nn::GRUCellImpl> cell, SGD &opt,
                 const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() {{.*}} throws
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}

// ----- layers: the state is the second result -----

void gru(GRU layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  Tensor output, state = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    std::tie(output, state) = layer->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'state = state.detach();'
    auto loss = torch::mse_loss(output, y);
    loss.backward();
    opt.step();
  }
}

void lstm(LSTM layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  std::tuple<Tensor, Tensor> state{torch::zeros({1, 4, 8}),
                                   torch::zeros({1, 4, 8})};
  for (const auto &x : xs) {
    opt.zero_grad();
    Tensor output;
    std::tie(output, state) = layer->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach its tensors
    auto loss = torch::mse_loss(output, y);
    loss.backward();
    opt.step();
  }
}

// Taken apart in one go.
void lstmNested(LSTM layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({1, 4, 8});
  auto c = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    Tensor output;
    std::forward_as_tuple(output, std::tie(h, c)) =
        layer->forward(x, std::make_tuple(h, c));
    // CHECK-MESSAGES: :[[@LINE-2]]:5: warning: recurrent state '{{h.*}}' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
    auto loss = torch::mse_loss(output, y);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// One forward call, one finding: the first of the two stores.
void lstmSeparate(LSTM layer, SGD &opt, const std::vector<Tensor> &xs,
                  Tensor y) {
  auto h = torch::zeros({1, 4, 8});
  auto c = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto result = layer->forward(x, std::make_tuple(h, c));
    h = std::get<0>(std::get<1>(result));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws
    c = std::get<1>(std::get<1>(result));
    torch::mse_loss(std::get<0>(result), y).backward();
    opt.step();
  }
}

void structuredBinding(RNN layer, SGD &opt, const std::vector<Tensor> &xs,
                       Tensor y) {
  auto state = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto [output, next] = layer->forward(x, state);
    auto loss = torch::mse_loss(output, y);
    loss.backward();
    opt.step();
    state = next;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: the next backward() goes on into what this one has freed, and throws; detach it: 'state = state.detach();'
  }
}

// No state before the first iteration: the layer makes zeros of it.
void undefinedAtFirst(GRU layer, SGD &opt, const std::vector<Tensor> &xs,
                      Tensor y) {
  Tensor state;
  for (const auto &x : xs) {
    opt.zero_grad();
    auto result = layer->forward(x, state);
    state = std::get<1>(result);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(std::get<0>(result), y).backward();
    opt.step();
  }
}

// Two cells, two forward calls, two states.
void stackedCells(GRUCell lower, RNNCell upper, SGD &opt,
                  const std::vector<Tensor> &xs, Tensor y) {
  auto first = torch::zeros({4, 8}), second = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    first = lower->forward(x, first);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'first' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    second = upper->forward(first, second);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'second' carries what its backward() needs (its autograd graph) into the next iteration: {{.*}} throws
    torch::mse_loss(second, y).backward();
    opt.step();
  }
}
