// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// The fix detaches the state behind the store and the backward(), whichever
// comes later.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::GRU;
using torch::nn::GRUCell;
using torch::nn::LSTM;
using torch::nn::LSTMCell;
using torch::optim::SGD;

void storedFirst(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs,
                 Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    auto loss = torch::mse_loss(h, y);
    loss.backward();
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void storedFirst(
// CHECK-FIXES: loss.backward();
// CHECK-FIXES-NEXT: {{^    h = h.detach\(\);$}}
// CHECK-FIXES-NEXT: opt.step();

void backwardFirst(GRU layer, SGD &opt, const std::vector<Tensor> &xs,
                   Tensor y) {
  auto state = torch::zeros({1, 4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto [output, next] = layer->forward(x, state);
    torch::mse_loss(output, y).backward();
    state = next;
    opt.step();
    // CHECK-MESSAGES: :[[@LINE-2]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration
  }
}
// CHECK-FIXES-LABEL: void backwardFirst(
// CHECK-FIXES: state = next;
// CHECK-FIXES-NEXT: {{^    state = state.detach\(\);$}}
// CHECK-FIXES-NEXT: opt.step();

void tied(GRU layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  Tensor output, state;
  for (const auto &x : xs) {
    opt.zero_grad();
    std::tie(output, state) = layer->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void tied(
// CHECK-FIXES: torch::mse_loss(output, y).backward();
// CHECK-FIXES-NEXT: {{^    state = state.detach\(\);$}}
// CHECK-FIXES-NEXT: opt.step();

void tuple(LSTM layer, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto state =
      std::make_tuple(torch::zeros({1, 4, 8}), torch::zeros({1, 4, 8}));
  for (const auto &x : xs) {
    opt.zero_grad();
    Tensor output;
    std::tie(output, state) = layer->forward(x, state);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'state' carries what its backward() needs (its autograd graph) into the next iteration
    torch::mse_loss(output, y).backward();
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void tuple(
// CHECK-FIXES: torch::mse_loss(output, y).backward();
// CHECK-FIXES-NEXT: {{^    state = std::make_tuple\(std::get<0>\(state\).detach\(\), std::get<1>\(state\).detach\(\)\);$}}
// CHECK-FIXES-NEXT: opt.step();

// Both are detached, though one finding is reported.
void twoTensors(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
                Tensor y) {
  auto h = torch::zeros({4, 8}), c = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    std::tie(h, c) = cell->forward(x, std::make_tuple(h, c));
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state '{{h.*}}' carries what its backward() needs (its autograd graph) into the next iteration
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void twoTensors(
// CHECK-FIXES: torch::mse_loss(h, y).backward();
// CHECK-FIXES: h = h.detach();
// CHECK-FIXES: c = c.detach();
// CHECK-FIXES-NEXT: opt.step();

void twoStores(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto h = torch::zeros({4, 8}), c = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, std::make_tuple(h, c));
    h = std::get<0>(next);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    c = std::get<1>(next);
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void twoStores(
// CHECK-FIXES: torch::mse_loss(h, y).backward();
// CHECK-FIXES: h = h.detach();
// CHECK-FIXES: c = c.detach();
// CHECK-FIXES-NEXT: opt.step();

class Trainer {
public:
  void step(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    h_ = cell_->forward(x, h_);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h_' carries what its backward() needs (its autograd graph) into the next call
    torch::mse_loss(h_, y).backward();
    opt_.step();
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  Tensor h_ = torch::zeros({4, 8});
};
// CHECK-FIXES-LABEL: class Trainer {
// CHECK-FIXES: torch::mse_loss(h_, y).backward();
// CHECK-FIXES-NEXT: {{^    h_ = h_.detach\(\);$}}
// CHECK-FIXES-NEXT: opt_.step();

void lambda(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  auto step = [&](const Tensor &x) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    torch::mse_loss(h, y).backward();
    opt.step();
  };
  for (const auto &x : xs)
    step(x);
}
// CHECK-FIXES-LABEL: void lambda(
// CHECK-FIXES: torch::mse_loss(h, y).backward();
// CHECK-FIXES-NEXT: {{^    h = h.detach\(\);$}}
// CHECK-FIXES-NEXT: opt.step();

void retained(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: with retain_graph
    torch::mse_loss(h, y).backward({}, true);
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void retained(
// CHECK-FIXES: torch::mse_loss(h, y).backward({}, true);
// CHECK-FIXES-NEXT: {{^    h = h.detach\(\);$}}
// CHECK-FIXES-NEXT: opt.step();

// Twice instantiated, fixed once.
template <class Cell>
void train(Cell &cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  Tensor h = torch::zeros({4, 8});
  for (const Tensor &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}
// CHECK-FIXES-LABEL: void train(
// CHECK-FIXES: torch::mse_loss(h, y).backward();
// CHECK-FIXES-NEXT: {{^    h = h.detach\(\);$}}
// CHECK-FIXES-NEXT: opt.step();

void instantiates(GRUCell gru, torch::nn::RNNCell rnn, SGD &opt,
                  const std::vector<Tensor> &xs, Tensor y) {
  train(gru, opt, xs, y);
  train(rnn, opt, xs, y);
}

// Without a backward(), behind the store.
static void stream(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    std::cout << h.argmax(1) << '\n';
    // CHECK-MESSAGES: :[[@LINE-2]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it
  }
}
// CHECK-FIXES-LABEL: void stream(
// CHECK-FIXES: h = cell->forward(x, h);
// CHECK-FIXES-NEXT: {{^    h = h.detach\(\);$}}
// CHECK-FIXES-NEXT: std::cout

int main() { stream(GRUCell(8, 8), {torch::rand({4, 8})}); }
