// RUN: %check_torch %s torch-allocation-in-loop %t
//
// Numbers of the host that go to a device in every step of a training.

#include <torch/torch.h>

using torch::Tensor;
void use(const Tensor &x);

// The same ones, in a function that has no place to keep them in.
static Tensor pinball(const Tensor &guess, const Tensor &truth, const std::vector<double> &levels) {
  auto level = torch::tensor(levels, guess.options().requires_grad(false));
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::tensor' makes the same tensor in every iteration, and the host waits until its numbers are on the device; create 'level' once before the loop [torch-allocation-in-loop]
  auto error = truth - guess;
  return torch::max(level * error, (level - 1) * error).mean();
}
void quantiles(torch::nn::Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  const std::vector<double> levels{0.1, 0.5, 0.9};
  net->to(device);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    pinball(net->forward(x.to(device)), x.to(device), levels).backward();
    opt.step();
  }
}
// On the CPU, of one number, of other numbers in each step, and where nothing is trained.
void uploads(torch::nn::Linear net, const std::vector<Tensor> &xs, torch::Device device) {
  net->to(device);
  std::vector<double> seen;
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : xs) {
    opt.zero_grad();
    seen.push_back(double(seen.size()));
    auto host = torch::tensor({0.1, 0.5});
    auto number = torch::tensor(0.5, device);
    auto grows = torch::tensor(seen, device);
    ((net->forward(x.to(device)) + number) * grows.mean()).sum().backward();
    use(host);
    opt.step();
  }
  torch::NoGradGuard guard;
  for (const Tensor &x : xs)
    use(net->forward(x.to(device)) * torch::tensor({0.1, 0.5}, device));
}
