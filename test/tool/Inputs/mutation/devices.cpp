// A program that is right, with a point for each mistake of moving data; see
// mutation-devices.test.
#include <torch/torch.h>

#include <vector>

torch::Tensor blank(int64_t n, const torch::Tensor &like) {
  return torch::zeros({n, 64}, like.options());
}

// Made once: no mutation point.
struct Net : torch::nn::Module {
  explicit Net(torch::Device device) : base(torch::ones({64, 64}, device)) {
    fc = register_module("fc", torch::nn::Linear(64, 10));
  }
  torch::Tensor forward(const torch::Tensor &x) { return fc(x.matmul(base)); }
  torch::nn::Linear fc{nullptr};
  torch::Tensor base;
};

int64_t count(const torch::Tensor &counts, const torch::Tensor &labels) {
  auto cell = counts.accessor<int64_t, 2>();
  auto label = labels.accessor<int64_t, 1>();
  int64_t most = 0;
  for (int64_t i = 0; i < label.size(0); ++i) {
    auto row = cell[i];
    ++row[label[i]];
    cell[i][0] = most;
    most = std::max(most, row[0]);
  }
  return most;
}

torch::Tensor scores(Net &net, const std::vector<torch::Tensor> &batches,
                     torch::Device device) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> parts, none;
  std::vector<torch::Tensor> rows;
  rows.reserve(batches.size());
  for (const auto &batch : batches) {
    auto x = batch.to(device).to(torch::kFloat);
    auto h = torch::zeros({x.size(0), 64}, torch::dtype(torch::kFloat).device(device));
    auto y = net.forward(x + h + torch::full({64}, 0.5, device));
    auto host = y.mean(0).cpu();
    rows.push_back(y[0] * host.max().item<double>());
  }
  return torch::stack(rows, 1);
}

int main() {
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available())
    device = torch::kCUDA;
  Net net(device);
  net.to(device);
  std::vector<torch::Tensor> batches(8, torch::ones({4, 64}, torch::kUInt8));
  auto all = scores(net, batches, device) + blank(10, torch::ones({8}))[0][0];
  auto input = torch::zeros({64, 64}, device);
  auto counted = count(torch::zeros({4096, 10}, torch::kLong), torch::zeros({4096}, torch::kLong));
  return static_cast<int>(net.forward(input).sum().item<double>() * all.numel() + counted);
}
