// A simulation of a field of springs, clustering of its states, and a surrogate that is fitted to it.
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <tuple>
#include <vector>

namespace {

struct Field {
  torch::Tensor gain;
  int64_t cells;
};

using Progress = std::function<void(int, float)>;

std::tuple<torch::Tensor, torch::Tensor> simulate(int steps, double dt, double drag) {
  const auto stiffness = torch::rand({256, 128});
  auto place = torch::randn({256, 128});
  auto speed = torch::zeros({256, 128});
  for (int s = 0; s < steps; ++s) {
    speed = speed - stiffness * place;  // EXPECT: torch-unfused-operation
    speed = speed - drag * speed;  // EXPECT: torch-unfused-operation
    place.add_(speed, dt);
  }
  return {place, speed};
}

std::tuple<torch::Tensor, torch::Tensor> simulateFused(int steps, double dt) {
  const auto stiffness = torch::rand({256, 128});
  auto place = torch::randn({256, 128});
  auto speed = torch::zeros({256, 128});
  for (int s = 0; s < steps; ++s) {
    speed.addcmul_(stiffness, place, -1);
    place.add_(speed, dt);  // RIGHT: torch-unfused-operation (fused)
    const auto pull = stiffness * place;
    speed -= pull;  // RIGHT: torch-unfused-operation (the product has a name)
  }
  return {place, speed};
}

torch::Tensor nearest(const torch::Tensor& points, int64_t k) {
  const auto n = points.size(0);
  const auto hubs = torch::rand({k, 6});
  auto spread = hubs.unsqueeze(0).repeat({n, 1, 1});  // EXPECT: torch-repeat-for-broadcast
  auto distance = (points.unsqueeze(1) - spread).square().sum(2);
  auto stacked = hubs.unsqueeze(0).repeat({3, 1, 1});  // RIGHT: torch-repeat-for-broadcast (bmm needs it)
  auto gram = torch::bmm(stacked, stacked.transpose(1, 2));
  return distance.argmin(1) + gram.argmax().remainder(1);
}

torch::Tensor prefixes(int64_t horizon, torch::Device device) {
  auto total = torch::zeros({}, device);
  for (int64_t t = 1; t <= horizon; ++t) {
    auto open = torch::zeros({t * 64, 2048}, device);  // EXPECT: torch-varying-shapes
    total += open.sum();
    auto bounded = torch::zeros({std::min<int64_t>(t, 4) * 64, 2048}, device);  // RIGHT: torch-varying-shapes (stays the same)
    total += bounded.sum();
  }
  return total;
}

std::vector<float> fit(torch::nn::Sequential& net, const Field& field, int steps, torch::Device device) {
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-3));
  std::vector<float> trace;
  for (int s = 0; s < steps; ++s) {
    auto x = torch::randn({48, field.cells}, device);
    auto weight = field.gain.to(device);  // EXPECT: torch-repeated-transfer
    auto loss = (net->forward(x) - x * weight).square().mean();
    opt.zero_grad(false);  // EXPECT: torch-zero-grad-in-place
    loss.backward();
    opt.step();
    trace.push_back(loss.item<float>());  // EXPECT: torch-sync-in-loop
  }
  return trace;
}

float fitWatching(torch::nn::Sequential& net, const Field& field, int steps, torch::Device device, const Progress& tell) {
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-3));
  const auto weight = field.gain.to(device);  // RIGHT: torch-repeated-transfer (once, before the loop)
  auto effort = torch::zeros({}, device);
  for (int s = 0; s < steps; ++s) {
    auto x = torch::randn({48, field.cells}, device);
    auto loss = (net->forward(x) - x * weight).square().mean();
    opt.zero_grad(false);  // RIGHT: torch-zero-grad-in-place (gradients are read below)
    loss.backward();
    for (const auto& p : net->parameters()) effort += p.grad().norm();
    opt.step();
    if (s % 20 == 0) tell(s, loss.item<float>());  // RIGHT: torch-sync-in-loop (every twenty steps)
  }
  return effort.item<float>();
}

torch::nn::Sequential surrogate(int64_t cells, torch::Device device) {
  torch::nn::Sequential net(torch::nn::Linear(cells, 32), torch::nn::Tanh(), torch::nn::Linear(32, cells));
  net->to(device);
  return net;
}

}  // namespace

int main() {
  torch::manual_seed(30);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto [place, speed] = simulate(30, 0.01, 0.02);
  auto [place2, speed2] = simulateFused(30, 0.01);
  std::cout << place.mean().item<float>() + speed.mean().item<float>() << ' '
            << place2.mean().item<float>() + speed2.mean().item<float>() << '\n';
  std::cout << nearest(torch::rand({400, 6}), 12).sizes() << prefixes(24, device).item<float>() << '\n';
  const Field field{torch::rand({16}), 16};
  auto net = surrogate(field.cells, device);
  const auto trace = fit(net, field, 40, device);
  const float effort = fitWatching(net, field, 40, device, [](int s, float l) { std::cout << s << ": " << l << '\n'; });
  std::cout << trace.front() << " -> " << trace.back() << ", " << effort << '\n';
}
