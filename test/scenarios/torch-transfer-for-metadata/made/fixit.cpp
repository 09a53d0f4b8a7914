// A classifier of tokens is evaluated: how many of all tokens it gets right. The labels come
// from a file of bytes, and the scores from a network.
// --size: that many times as many tokens in a batch.
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  torch::nn::Linear net(16, 4);
  net->to(device);
  const int64_t tokens = 512 * measure::size();
  int64_t right = 0, all = 0;
  {
    measure::Loop loop("evaluation");
    for (int64_t batch = 0; batch < 60; ++batch) {
      const auto input = torch::rand({tokens, 16}, device);
      const auto labels =
          torch::randint(4, {tokens}, torch::dtype(torch::kLong).device(device));
      const auto scores = net->forward(input);
      right += scores.argmax(1).eq(labels).sum().item<int64_t>();
      all += scores.size(0);
      loop.iteration();
    }
  }
  measure::value("accuracy", static_cast<double>(right) / static_cast<double>(all));
  return measure::finish();
}
