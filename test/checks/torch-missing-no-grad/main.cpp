// RUN: %check_torch %s torch-missing-no-grad %t
//
// Training and evaluation in one main(): without eval(), main() shows it. The
// first evaluation loop has no guard, the second one has.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

int main() {
  Linear net(8, 2);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::vector<torch::data::Example<>> train, test;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto &batch : train) {
      opt.zero_grad();
      auto outputs = net->forward(batch.data); // Backwarded: quiet.
      auto loss = torch::nll_loss(outputs, batch.target);
      loss.backward();
      opt.step();
    }
  }

  int64_t correct = 0;
  for (auto &batch : test) {
    auto outputs = net->forward(batch.data);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
    correct += (outputs.argmax(1) == batch.target).sum().item<int64_t>();
  }
  std::cout << correct << '\n';

  torch::NoGradGuard no_grad; // From here on.
  for (auto &batch : test) {
    auto outputs = net->forward(batch.data);
    std::cout << outputs.argmax(1) << '\n';
  }
}
