#include <torch/torch.h>
#include <vector>

void train(torch::nn::Linear net, torch::optim::SGD &optimizer,
           const std::vector<torch::Tensor> &inputs, torch::Tensor target) {
  std::vector<torch::Tensor> losses;
  for (const torch::Tensor &input : inputs) {
    torch::Tensor loss = torch::mse_loss(net->forward(input), target);
    loss.backward();
    optimizer.step();
    losses.push_back(loss);
  }
}

double evaluate(torch::nn::Linear net, torch::Tensor input, torch::Tensor target) {
  net->eval();
  return torch::mse_loss(net->forward(input), target).item<double>();
}
