// Three mistakes with fixes: one gives wrong results, one is mended without a trace in the
// output, and the fix of one changes what is printed, since the program asks for the graph.
#include "model/evaluate.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const auto start = std::chrono::steady_clock::now();
  torch::manual_seed(0);
  torch::nn::Linear net(8, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  auto inputs = torch::randn({32, 8}), targets = torch::randn({32, 1});
  std::vector<torch::Tensor> losses;
  for (int step = 0; step < 40; ++step) {
    auto loss = torch::mse_loss(net->forward(inputs), targets);
    loss.backward();
    optimizer.step();
    losses.push_back(loss);
  }
  int bytes = 0;
  while (std::getchar() != EOF)
    ++bytes;
  std::printf("%d argument, %d bytes of input\n", argc - 1, bytes);
  std::printf("loss %.4f\n", losses.back().item<float>());
  std::printf("evaluation %.4f\n", evaluate(net, inputs, targets));
  std::printf("with graph: %d\n", losses.front().requires_grad());
  if (mode == "needs" && !hasGraph(net, inputs))
    return 3;
  if (mode == "prints")
    std::printf("graph: %d\n", hasGraph(net, inputs));
  if (mode != "timed")
    return 0;
  const auto time = std::chrono::steady_clock::now() - start;
  std::printf("took %lld ns\n", static_cast<long long>(time.count()));
}
