// RUN: %check_torch %s torch-retained-graph %t
//
// The notes lead to the operation that starts the graph and to the loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void stored(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> losses;
  for (int i = 0; i < 10; ++i) {
    auto output = net->forward(x);
    auto loss = torch::mse_loss(output, y);
    loss.backward();
    losses.push_back(loss);
  }
}
// CHECK-NOTES: :[[@LINE-3]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration
// CHECK-NOTES: :[[@LINE-7]]:19: note: the graph is built here
// CHECK-NOTES: :[[@LINE-9]]:3: note: in every iteration of this loop

void accumulated(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  Tensor total = torch::zeros({});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    total += loss;
  }
}
// CHECK-NOTES: :[[@LINE-3]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all iterations (their autograd graphs)
// CHECK-NOTES: :[[@LINE-6]]:{{17|33}}: note: the graph is built here
// CHECK-NOTES: :[[@LINE-8]]:3: note: in every iteration of this loop

// A member that lives from call to call.
struct Trainer {
  void step(Tensor x, Tensor y) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    history.push_back(loss);
  }
  Linear net{8, 2};
  std::vector<Tensor> history;
};
// CHECK-NOTES: :[[@LINE-5]]:5: warning: tensor 'loss' kept in 'history' keeps what its backward() would need (its autograd graph) for every iteration
// CHECK-NOTES: :[[@LINE-8]]:{{17|33}}: note: the graph is built here
// CHECK-NOTES: :[[@LINE+4]]:3: note: called in every iteration of this loop

void run(Tensor x, Tensor y) {
  Trainer trainer;
  for (int i = 0; i < 10; ++i)
    trainer.step(x, y);
}

// The callers are not known: who reads it shows that the graph is not wanted.
class Recorder {
public:
  void record(Linear net, Tensor x) {
    auto value = net->forward(x);
    values.push_back(value);
  }
  Tensor all() const { return torch::stack(values).detach(); }

private:
  std::vector<Tensor> values;
};
// CHECK-NOTES: :[[@LINE-7]]:5: warning: tensor 'value' kept in 'values' keeps what its backward() would need (its autograd graph), though no code that reads it makes use of that; memory grows with each call; store 'value.item<float>()' or 'value.detach()'
// CHECK-NOTES: :[[@LINE-9]]:18: note: the graph is built here
// CHECK-NOTES: :[[@LINE-7]]:31: note: it is read here, without its graph
