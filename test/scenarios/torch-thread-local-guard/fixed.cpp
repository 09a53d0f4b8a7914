// A server answers requests with a small convolutional network, each in a
// thread of its own, so that it can give up on one that takes too long. Each
// thread has a guard of its own, so that the answers have no graph.
// --size: that many times as many requests.
#include "measure.h"
#include <chrono>
#include <future>

namespace {

constexpr int64_t classes = 4;

torch::nn::Sequential make_net() {
  using torch::nn::Conv2d;
  using torch::nn::Conv2dOptions;
  torch::nn::Sequential net(Conv2d(Conv2dOptions(1, 8, 3).padding(1)),
                            torch::nn::ReLU(),
                            Conv2d(Conv2dOptions(8, 8, 3).padding(1)),
                            torch::nn::ReLU(), torch::nn::Flatten(),
                            torch::nn::Linear(8 * 16 * 16, classes));
  net->eval();
  return net;
}

// The answer to one request; nothing where it takes too long.
torch::Tensor answer(torch::nn::Sequential &net, const torch::Tensor &image) {
  std::future<torch::Tensor> result = std::async(std::launch::async, [&] {
    torch::NoGradGuard no_grad;
    return net->forward(image).softmax(1);
  });
  const auto state = result.wait_for(std::chrono::minutes(1));
  return state == std::future_status::ready ? result.get() : torch::Tensor();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  torch::nn::Sequential net = make_net();
  net->to(device);
  std::vector<torch::Tensor> answers;
  {
    measure::Loop loop("answers");
    for (int64_t request = 0; request < 60 * measure::size(); ++request) {
      const auto image = torch::randn({1, 1, 16, 16}, device);
      answers.push_back(answer(net, image));
      loop.iteration();
    }
  }
  double recorded = 0;
  for (const torch::Tensor &one : answers)
    recorded += one.requires_grad() ? 1 : 0;
  measure::value("recorded-answers", recorded);
  measure::value("certainty", torch::cat(answers).amax(1).sum().item<double>());
  return measure::finish();
}
