// RUN: %check_torch %s torch-retained-graph %t

// An evaluation without a guard is one mistake, however much it keeps.
#include <torch/torch.h>

using torch::Tensor;

double evaluate(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> losses, outputs;
  auto total = torch::zeros({1});
  for (const auto &x : xs) {
    auto out = net->forward(x);
    auto loss = out.square().mean();
    // CHECK-FIXES: {{^}}    losses.push_back(loss.detach());
    losses.push_back(loss);
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'losses' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store 'loss.item<float>()' or 'loss.detach()' [torch-retained-graph]
    // CHECK-NOTES: :[[@LINE-5]]:16: note: the graph is built here
    // CHECK-NOTES: :[[@LINE-7]]:3: note: in every iteration of this loop
    // CHECK-NOTES: :[[@LINE+3]]:5: note: a graph is kept here as well
    // CHECK-NOTES: :[[@LINE+4]]:5: note: a graph is kept here as well
    // CHECK-FIXES: {{^}}    outputs.push_back(out.detach());
    outputs.push_back(out);
    // CHECK-FIXES: {{^}}    total += loss.detach();
    total += loss;
  }
  return total.item<double>() + double(losses.size() + outputs.size());
}
