// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// The notes lead to the forward pass, to the backward() and to the loop.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::GRUCell;
using torch::nn::LSTMCell;
using torch::optim::SGD;

void freed(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    h = cell->forward(x, h);
    auto loss = torch::mse_loss(h, y);
    loss.backward();
    opt.step();
  }
}
// CHECK-NOTES: :[[@LINE-6]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward()
// CHECK-NOTES: :[[@LINE-7]]:9: note: the graph is built here
// CHECK-NOTES: :[[@LINE-6]]:5: note: this backward() frees the graph
// CHECK-NOTES: :[[@LINE-11]]:3: note: in every iteration of this loop

void kept(GRUCell cell, SGD &opt, const std::vector<Tensor> &xs, Tensor y) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, h);
    torch::mse_loss(next, y).backward({}, true);
    opt.step();
    h = next;
  }
}
// CHECK-NOTES: :[[@LINE-3]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: with retain_graph
// CHECK-NOTES: :[[@LINE-7]]:17: note: the graph is built here
// CHECK-NOTES: :[[@LINE-7]]:5: note: this backward() keeps the graph
// CHECK-NOTES: :[[@LINE-11]]:3: note: in every iteration of this loop

// The second store of the same forward pass.
void twoStores(LSTMCell cell, SGD &opt, const std::vector<Tensor> &xs,
               Tensor y) {
  auto h = torch::zeros({4, 8}), c = torch::zeros({4, 8});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto next = cell->forward(x, std::make_tuple(h, c));
    h = std::get<0>(next);
    c = std::get<1>(next);
    torch::mse_loss(h, y).backward();
    opt.step();
  }
}
// CHECK-NOTES: :[[@LINE-6]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: the next backward()
// CHECK-NOTES-DAG: :[[@LINE-6]]:5: note: and here
// CHECK-NOTES-DAG: :[[@LINE-9]]:17: note: the graph is built here
// CHECK-NOTES-DAG: :[[@LINE-7]]:5: note: this backward() frees the graph
// CHECK-NOTES-DAG: :[[@LINE-13]]:3: note: in every iteration of this loop

// From call to call: there is no loop to show.
class Trainer {
public:
  void step(const Tensor &x, const Tensor &y) {
    opt_.zero_grad();
    h_ = cell_->forward(x, h_);
    torch::mse_loss(h_, y).backward();
    opt_.step();
  }

private:
  GRUCell cell_{8, 8};
  SGD opt_{cell_->parameters(), 0.1};
  Tensor h_ = torch::zeros({4, 8});
};
// CHECK-NOTES: :[[@LINE-10]]:5: warning: recurrent state 'h_' carries what its backward() needs (its autograd graph) into the next call: the next backward()
// CHECK-NOTES: :[[@LINE-11]]:10: note: the graph is built here
// CHECK-NOTES: :[[@LINE-11]]:5: note: this backward() frees the graph

// Without a backward() there is none to show.
static void stream(GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({4, 8});
  for (const auto &x : xs) {
    h = cell->forward(x, h);
    std::cout << h.argmax(1) << '\n';
  }
}
// CHECK-NOTES: :[[@LINE-4]]:5: warning: recurrent state 'h' carries what its backward() needs (its autograd graph) into the next iteration: no backward() frees it
// CHECK-NOTES: :[[@LINE-5]]:9: note: the graph is built here
// CHECK-NOTES: :[[@LINE-7]]:3: note: in every iteration of this loop

int main() { stream(GRUCell(8, 8), {torch::rand({4, 8})}); }
