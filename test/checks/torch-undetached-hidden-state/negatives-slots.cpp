// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// A slot for each layer, which each iteration fills from the first one on, is
// no state. A slot that is read before it is filled is one.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

struct Graph {
  std::vector<Linear> layers;
  std::vector<Tensor> values;
  Tensor target;

  Tensor aggregate(const Tensor &x) { return x * 2; }

  void forward() {
    for (size_t i = 0; i < layers.size(); ++i) {
      Tensor around = aggregate(values[i]);
      values[i + 1] = values[i] + torch::relu(layers[i]->forward(around));
    }
  }

  void train(torch::optim::SGD &optimizer) {
    for (int epoch = 0; epoch < 100; ++epoch) {
      optimizer.zero_grad();
      forward();
      Tensor loss = torch::mse_loss(values.back(), target);
      loss.backward({}, /*keep_graph=*/true);
      optimizer.step();
    }
  }

  // The last one is where the next epoch begins.
  void trainRound(torch::optim::SGD &optimizer) {
    for (int epoch = 0; epoch < 100; ++epoch) {
      values[0] = values[layers.size()];
      for (size_t i = 0; i < layers.size(); ++i)
        values[i + 1] = torch::relu(layers[i]->forward(values[i]));
      // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: recurrent state 'values' carries what its backward() needs
      optimizer.zero_grad();
      Tensor loss = torch::mse_loss(values.back(), target);
      loss.backward({}, /*keep_graph=*/true);
      optimizer.step();
    }
  }
};

// Each reads the one after it, which is of the iteration before.
void later(std::vector<Linear> layers, torch::optim::SGD &optimizer, Tensor x) {
  std::vector<Tensor> values(layers.size() + 1, x);
  for (int step = 0; step < 100; ++step) {
    for (size_t i = 0; i < layers.size(); ++i)
      values[i] = torch::relu(layers[i]->forward(values[i + 1] + values[i]));
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'values' carries what its backward() needs
    optimizer.zero_grad();
    Tensor loss = values[0].sum();
    loss.backward({}, /*keep_graph=*/true);
    optimizer.step();
  }
}

// A cell's own state, layer by layer.
void cells(std::vector<torch::nn::GRUCell> cells, torch::optim::SGD &optimizer,
           Tensor x) {
  std::vector<Tensor> h(cells.size(), x);
  for (int step = 0; step < 100; ++step) {
    Tensor in = x;
    for (size_t i = 0; i < cells.size(); ++i) {
      h[i] = cells[i]->forward(in, h[i]);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'h' carries what its backward() needs
      in = h[i];
    }
    optimizer.zero_grad();
    in.sum().backward();
    optimizer.step();
  }
}

// The same cells, by another name of the element.
void cellsByName(std::vector<torch::nn::GRUCell> cells, torch::optim::SGD &optimizer, Tensor x) {
  std::vector<Tensor> states(cells.size(), x);
  for (int step = 0; step < 100; ++step) {
    Tensor in = x;
    for (size_t i = 0; i < cells.size(); ++i) {
      Tensor &state = states[i];
      state = cells[i]->forward(in, state);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: recurrent state 'state' carries what its backward() needs
      in = state;
    }
    optimizer.zero_grad();
    in.sum().backward();
    optimizer.step();
  }
}
