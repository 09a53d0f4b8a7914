#include "server.h"

#include <iostream>
#include <thread>

namespace {

constexpr int64_t kFeatures = 12;
constexpr int64_t kClasses = 4;

// A class for each quadrant of the first two features.
torch::Tensor classify(const torch::Tensor& features) {
  auto right = features.select(1, 0).gt(0).to(torch::kInt64);
  auto upper = features.select(1, 1).gt(0).to(torch::kInt64);
  return right * 2 + upper;
}

torch::nn::Sequential make_net() {
  return torch::nn::Sequential(
      torch::nn::Linear(kFeatures, 64),
      torch::nn::ReLU(),
      torch::nn::Linear(64, kClasses));
}

void fit(torch::nn::Sequential& net, int steps) {
  torch::optim::Adam optimizer(net->parameters(), 1e-2);
  for (int step = 0; step < steps; ++step) {
    auto features = torch::randn({64, kFeatures});
    auto loss = torch::nn::functional::cross_entropy(
        net->forward(features), classify(features));
    net->zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// Sends requests one by one and counts the right answers.
int ask(serving::Server& server, const torch::Tensor& samples) {
  const auto expected = classify(samples);
  const auto labels = expected.accessor<int64_t, 1>();
  int right = 0;
  for (int64_t i = 0; i < samples.size(0); ++i) {
    auto answer = server.submit(samples[i] * 10);
    if (answer.get().label == labels[i]) ++right;
  }
  return right;
}

}  // namespace

int main() {
  torch::manual_seed(1);
  const torch::Device device =
      torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

  auto net = make_net();
  fit(net, 200);

  // The sensors deliver tenths.
  auto scale = torch::full({kFeatures}, 0.1, torch::kFloat64);
  serving::Server server(net, scale, device);
  int right[3] = {0, 0, 0};
  std::vector<std::thread> clients;
  for (int& count : right) {
    auto samples = torch::randn({100, kFeatures});
    clients.emplace_back([&server, &count, samples] { count = ask(server, samples); });
  }
  for (auto& client : clients) client.join();
  std::cout << "right " << right[0] + right[1] + right[2] << " of 300, confidence "
            << server.recent_confidence() << '\n';
  return 0;
}
