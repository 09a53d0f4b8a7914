#include <torch/torch.h>
#include <iostream>

int main() {
  torch::manual_seed(1);
  torch::nn::Linear net(1, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  torch::Tensor x = torch::linspace(-1, 1, 100).unsqueeze(1), y = 3 * x + 2;
  torch::Tensor total = torch::zeros({});
  for (int step = 0; step < 100; ++step) {
    torch::Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
    total += loss;
  }
  std::cout << "mean loss " << total.item<float>() / 100 << "\n";
}
