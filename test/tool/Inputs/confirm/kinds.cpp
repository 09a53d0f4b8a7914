// A finding for each kind that a verdict depends on, and for its neighbours; analysed by
// confirm-reworded.test, never run.
#include <torch/torch.h>

#include <vector>

float overwrites(torch::nn::Linear net, torch::optim::SGD &optimizer,
                 const std::vector<torch::Tensor> &inputs) {
  torch::Tensor last;
  for (const torch::Tensor &input : inputs) {
    optimizer.zero_grad();
    torch::Tensor loss = net->forward(input).sum();
    loss.backward();
    optimizer.step();
    last = loss;
  }
  return last.item<float>();
}

void grows(torch::nn::Linear net, torch::optim::SGD &optimizer,
           const std::vector<torch::Tensor> &inputs) {
  std::vector<torch::Tensor> losses;
  for (const torch::Tensor &input : inputs) {
    optimizer.zero_grad();
    torch::Tensor loss = net->forward(input).sum();
    loss.backward();
    optimizer.step();
    losses.push_back(loss);
  }
}

void throws(torch::nn::GRU net, torch::optim::SGD &optimizer,
            const std::vector<torch::Tensor> &inputs) {
  torch::Tensor state = torch::zeros({1, 1, 8}), output;
  for (const torch::Tensor &input : inputs) {
    optimizer.zero_grad();
    std::tie(output, state) = net->forward(input, state);
    output.sum().backward();
    optimizer.step();
  }
}

torch::Tensor converts(torch::Tensor weights, const std::vector<torch::Tensor> &inputs) {
  torch::NoGradGuard no_grad;
  torch::Tensor sum = torch::zeros({8});
  for (const torch::Tensor &input : inputs) {
    torch::Tensor exact = weights.to(torch::kFloat64);
    sum += (exact * input).sum();
  }
  return sum;
}

torch::Tensor moves(torch::Tensor weights, const std::vector<torch::Tensor> &inputs) {
  torch::NoGradGuard no_grad;
  torch::Tensor sum = torch::zeros({8});
  for (const torch::Tensor &input : inputs) {
    torch::Tensor there = weights.to(torch::kCUDA);
    sum += (there * input).sum();
  }
  return sum;
}
