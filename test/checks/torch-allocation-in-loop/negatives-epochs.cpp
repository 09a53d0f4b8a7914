// RUN: %check_torch %s torch-allocation-in-loop %t
//
// Once for each epoch, or a few numbers. All is quiet.

#include <torch/torch.h>

using torch::Tensor;

static float trainEpoch(torch::nn::Linear &net, torch::optim::SGD &opt,
                        const std::vector<Tensor> &batches, int64_t n) {
  auto target = torch::zeros({n, n});
  float sum = 0;
  for (const auto &batch : batches) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(batch), target);
    loss.backward();
    opt.step();
    sum += loss.item<float>();
  }
  return sum;
}

// The default argument says how small it is.
static Tensor sample(int64_t size = 32) { return torch::randn({size}); }

int main() {
  torch::nn::Linear net(8, 8);
  torch::optim::SGD opt(net->parameters(), 0.1);
  const std::vector<Tensor> batches{torch::rand({8, 8}), torch::rand({8, 8})};
  for (int epoch = 0; epoch < 10; ++epoch)
    std::cout << trainEpoch(net, opt, batches, 8) << '\n';
  for (int i = 0; i < 100; ++i)
    std::cout << sample().sum().item<float>() << '\n';
}
