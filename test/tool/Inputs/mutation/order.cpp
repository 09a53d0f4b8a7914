#include <torch/torch.h>
struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{register_module("fc", torch::nn::Linear(4, 2))};
  torch::nn::Dropout drop{register_module("drop", torch::nn::Dropout(0.5))};
  torch::Tensor forward(torch::Tensor x) { return drop(fc(x)); }
};
TORCH_MODULE(Net);
double evaluate(Net &net, torch::Tensor x) {
  torch::NoGradGuard guard;
  net->eval();
  return net(x).mean().item<double>();
}
void fit(Net &net, Net &other, torch::Tensor x) {
  torch::optim::Adam adam(net->parameters(), 0.1), second(other->parameters(), 0.1);
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->train();
    auto made = other(x);
    auto loss = net(made.detach()).mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
    second.zero_grad();
    made.mean().backward();
    second.step();
    evaluate(net, x);
  }
}
// Once, and not in a training: no points.
double once(Net &net, torch::Tensor x) {
  torch::NoGradGuard guard;
  net->train(false);
  return net(x.detach()).mean().item<double>();
}
