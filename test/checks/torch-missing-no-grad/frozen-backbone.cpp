// RUN: %check_torch %s torch-missing-no-grad %t
//
// A network of another file: what freezes a part of it for some epochs, and
// gives it back, wants no gradient of an input.

#include <torch/torch.h>

using torch::Tensor;

struct BackboneImpl : torch::nn::Module {
  BackboneImpl();
  Tensor forward(Tensor x);
  torch::nn::Sequential body;
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Backbone);

double epoch(Backbone &net, torch::optim::Adam &opt, const std::vector<Tensor> &train, const std::vector<Tensor> &valid,
             bool frozen) {
  for (auto item : net->named_parameters())
    if (item.key().find("head") == std::string::npos)
      item.value().set_requires_grad(!frozen);
    else
      item.value().set_requires_grad(true);
  net->train();
  for (const Tensor &x : train) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
  double sum = 0;
  net->eval();
  for (const Tensor &x : valid)
    sum += net->forward(x).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results
  return sum;
}

// Of its input: it may differentiate inside.
double slope(Backbone &net, Tensor x) {
  net->eval();
  x = torch::ones({4, 3}).requires_grad_(true);
  return net->forward(x).sum().item<double>();
}
