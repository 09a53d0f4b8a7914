// k-fold cross-validation: a new network and a new optimizer for each fold.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <tuple>
#include <vector>

torch::nn::Sequential build_model(int64_t features) {
  torch::nn::Sequential net;
  net->push_back(torch::nn::Linear(features, 64));
  net->push_back(torch::nn::ReLU());
  net->push_back(torch::nn::Dropout(0.1));
  net->push_back(torch::nn::Linear(64, 1));
  return net;
}

// Root of the mean squared error between logarithms.
float log_rmse(torch::nn::Sequential& net, const torch::Tensor& features,
               const torch::Tensor& labels) {
  torch::NoGradGuard no_grad;
  net->eval();
  auto clipped = torch::clamp(net->forward(features), 1.0);
  auto rmse = torch::sqrt(torch::mse_loss(clipped.log(), labels.log()));
  net->train();
  return rmse.item<float>();
}

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor, torch::Tensor>
get_fold(int64_t k, int64_t i, const torch::Tensor& x, const torch::Tensor& y) {
  auto xs = x.chunk(k), ys = y.chunk(k);
  auto x_valid = xs[i], y_valid = ys[i];
  xs.erase(xs.begin() + i);
  ys.erase(ys.begin() + i);
  return {torch::cat(xs), torch::cat(ys), x_valid, y_valid};
}

struct Curves {
  std::vector<float> train;
  std::vector<float> valid;
  std::vector<double> losses;
};

Curves train(torch::nn::Sequential& net, torch::Tensor x, torch::Tensor y,
             torch::Tensor x_valid, torch::Tensor y_valid, int epochs, double rate,
             double decay, int64_t batch_size) {
  Curves curves;
  auto optimizer = torch::optim::Adam(
      net->parameters(), torch::optim::AdamOptions(rate).weight_decay(decay));
  auto order = torch::randperm(x.size(0), x.options().dtype(torch::kInt64));
  for (int epoch = 0; epoch < epochs; epoch++) {
    double epoch_loss = 0.0;
    int64_t n = 0;
    for (int64_t start = 0; start < x.size(0); start += batch_size) {
      auto pick = order.narrow(0, start, std::min(batch_size, x.size(0) - start));
      auto X = x.index_select(0, pick), Y = y.index_select(0, pick);
      auto l = torch::mse_loss(net->forward(X), Y);
      optimizer.zero_grad();
      l.backward();
      optimizer.step();
      epoch_loss += l.item<double>() * X.size(0);
      n += X.size(0);
    }
    curves.losses.push_back(epoch_loss / n);
    curves.train.push_back(log_rmse(net, x, y));
    curves.valid.push_back(log_rmse(net, x_valid, y_valid));
  }
  return curves;
}

int main() {
  torch::manual_seed(11);
  const int64_t k = 5, features = 32;
  auto device = torch::cuda::is_available() ? torch::Device(torch::kCUDA)
                                            : torch::Device(torch::kCPU);
  auto raw = torch::randn({1500, features}, torch::kFloat64);
  auto prices = (raw.abs().sum(1, true) * 1000 + 1).to(torch::kFloat32).to(device);
  auto inputs = raw.to(device, torch::kFloat32);

  float train_sum = 0, valid_sum = 0;
  for (int64_t i = 0; i < k; i++) {
    auto [x, y, x_valid, y_valid] = get_fold(k, i, inputs, prices);
    auto net = build_model(features);
    net->to(device);
    auto curves = train(net, x, y, x_valid, y_valid, 50, 5e-3, 1e-4, 64);
    train_sum += curves.train.back();
    valid_sum += curves.valid.back();
    std::cout << "fold " << i + 1 << ", train log rmse " << curves.train.back()
              << ", valid log rmse " << curves.valid.back() << "\n";
  }
  std::cout << "average " << train_sum / k << " " << valid_sum / k << "\n";

  // The committee of five networks on new data.
  std::vector<torch::nn::Sequential> committee;
  for (int64_t i = 0; i < k; i++) {
    committee.push_back(build_model(features));
    committee.back()->to(device);
    committee.back()->eval();
  }
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> votes;
  auto fresh = torch::randn({100, features}).to(device);
  for (auto& member : committee)
    votes.push_back(member->forward(fresh));
  std::cout << torch::stack(votes).mean(0).mean().item<float>() << "\n";
}
