// RUN: %check_torch %s torch-retained-graph %t -still-warns
//
// A template is met once for each of its instantiations, and told and mended
// once.

#include <torch/torch.h>

using torch::Tensor;

struct Curves {
  template <class T> void add(T step, Tensor loss) {
    steps.push_back(double(step));
    losses.push_back(loss);
    // CHECK-FIXES: {{^}}    losses.push_back(loss.detach());
  }
  std::vector<double> steps;
  std::vector<Tensor> losses;
};

void evaluate(torch::nn::Linear net, Tensor x) {
  Curves curves;
  for (int i = 0; i < 1000; ++i) {
    Tensor loss = net->forward(x).sum();
    curves.losses.push_back(loss);
    // CHECK-FIXES: {{^}}    curves.losses.push_back(loss.detach());
    curves.add(i, loss);
    curves.add(float(i), loss);
    curves.add(double(i), loss);
    // CHECK-NOTES: :[[@LINE-5]]:5: warning: tensor 'loss' kept in 'curves.losses' keeps what its backward() would need (its autograd graph)
    // CHECK-NOTES: :[[@LINE-7]]:19: note: the graph is built here
    // CHECK-NOTES: :[[@LINE-9]]:3: note: in every iteration of this loop
    // CHECK-NOTES: :[[@LINE-19]]:5: note: a graph is kept here as well
  }
}
