// RUN: %check_torch %s torch-repeated-transfer %t -- -config="{CheckOptions: {torch-repeated-transfer.Strict: true}}"
//
// An inner loop that goes through the same elements in each iteration of the
// loop around it converts all of them again.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

void proximal(Linear net, torch::optim::SGD &opt, const Tensor &x, const Tensor &y,
              const Tensors &sent, int steps) {
  for (int s = 0; s < steps; ++s) {
    auto loss = torch::cross_entropy_loss(net->forward(x), y);
    const auto own = net->parameters();
    for (size_t i = 0; i < own.size(); ++i)
      loss = loss + 0.01 * (own[i] - sent[i].to(torch::kFloat32)).pow(2).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:38: warning: this tensor does not change in this loop, but '.to(torch::kFloat32)' converts it in every iteration; convert it once before the loop
    // CHECK-MESSAGES: :[[@LINE-6]]:3: note: in every iteration of this loop
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

double checkedAccess(const Tensors &queries, const Tensors &centers) {
  double best = 0;
  for (const auto &q : queries)
    for (std::size_t k = 0; k != centers.size(); k++)
      best = std::max(best, (q - centers.at(k).to(torch::kFloat64)).norm().item<double>());
  // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: this tensor does not change in this loop
  return best;
}

double ranged(const Tensors &queries, const Tensors &centers) {
  double best = 0;
  int n = 0;
  while (n++ < 10)
    for (const auto &c : centers)
      best += (queries[0] - c.to(torch::kFloat64)).norm().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: 'c' does not change in this loop, but '.to(torch::kFloat64)' converts it
  return best;
}

static Tensor total(const Tensors &weights) {
  Tensor sum = torch::zeros({4}, torch::kFloat64);
  for (size_t i = 0; i < weights.size(); ++i)
    sum = sum + weights[i].to(torch::kFloat64);
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this tensor does not change in this loop
  return sum;
}
double byHelper(const Tensors &xs, const Tensors &weights) {
  double s = 0;
  for (const auto &x : xs)
    s += (x * total(weights)).sum().item<double>();
  return s;
}

// ----- a network that is no module of LibTorch -----

struct Voters {
  std::vector<Linear> heads;
  Tensor operator()(const Tensor &x) {
    Tensor sum = heads.front()->forward(x);
    for (auto &head : heads)
      sum = sum + head->forward(x);
    return sum;
  }
};

void voting(Voters voters, torch::optim::SGD &opt, const Tensor &xs, const Tensor &ys,
            const Tensor &mean) {
  auto normalise = [&](const Tensor &x) {
    return x - mean.to(torch::kFloat32);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'mean' does not change in this loop, but '.to(torch::kFloat32)' converts it in every iteration
  };
  for (int64_t t = 0; t < xs.size(0); ++t) {
    auto loss = torch::mse_loss(voters(normalise(xs[t])), ys[t]);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

void votingByValue(Voters voters, torch::optim::SGD &opt, const Tensors &xs, Tensor mean) {
  auto loss = [mean, voters](const Tensor &x) mutable {
    return voters(x - mean.to(torch::kFloat32)).pow(2).mean();
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'mean' does not change in this loop, but '.to(torch::kFloat32)' converts it in every iteration
  };
  for (const auto &x : xs) {
    opt.zero_grad();
    loss(x).backward();
    opt.step();
  }
}

// ----- quiet -----

// Once for each element.
double once(const Tensors &weights) {
  double s = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    s += weights[i].to(torch::kFloat64).sum().item<double>();
  return s;
}

// Others in each iteration.
double triangle(const Tensors &xs) {
  double s = 0;
  for (size_t i = 0; i < xs.size(); ++i)
    for (size_t j = i + 1; j < xs.size(); ++j)
      s += xs[j].to(torch::kFloat64).sum().item<double>();
  return s;
}
double windows(const Tensors &xs, size_t width) {
  double s = 0;
  for (size_t i = 0; i + width < xs.size(); ++i)
    for (size_t j = 0; j < width; ++j)
      s += xs[i + j].to(torch::kFloat64).sum().item<double>();
  return s;
}
double jumps(const Tensors &xs, int n) {
  double s = 0;
  for (int k = 0; k < n; ++k)
    for (size_t j = 0; j < xs.size(); ++j) {
      s += xs[j].to(torch::kFloat64).sum().item<double>();
      if (s > k)
        j += k;
    }
  return s;
}
double rows(const std::vector<Tensors> &all) {
  double s = 0;
  for (const auto &row : all)
    for (const auto &x : row)
      s += x.to(torch::kFloat64).sum().item<double>();
  return s;
}

// They change.
double updated(Tensors &weights, int n) {
  double s = 0;
  for (int k = 0; k < n; ++k)
    for (size_t i = 0; i < weights.size(); ++i) {
      s += weights[i].to(torch::kFloat64).sum().item<double>();
      weights[i].mul_(0.9);
    }
  return s;
}
double rebound(Tensors &weights, int n) {
  double s = 0;
  for (int k = 0; k < n; ++k)
    for (size_t i = 0; i < weights.size(); ++i) {
      s += weights[i].to(torch::kFloat64).sum().item<double>();
      weights[i] = weights[i] * 2;
    }
  return s;
}
void converted(Tensors &weights, int n) {
  for (int k = 0; k < n; ++k)
    for (auto &w : weights)
      w = w.to(torch::kFloat64);
}

// The copies are changed.
double copies(const Tensors &weights, int n) {
  double s = 0;
  for (int k = 0; k < n; ++k)
    for (const auto &w : weights) {
      auto c = w.to(torch::kFloat64);
      c.add_(k);
      s += c.sum().item<double>();
    }
  return s;
}

// There may be no room for all of them at once.
double streamed(const Tensors &queries, const Tensors &chunks, torch::Device device) {
  double s = 0;
  for (const auto &q : queries)
    for (const auto &chunk : chunks)
      s += (q - chunk.to(device)).sum().item<double>();
  return s;
}

// Epochs: the batches of a data set.
void epochs(Linear net, torch::optim::SGD &opt, const Tensors &batches, const Tensor &mean) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto shift = mean.to(torch::kFloat32);
    for (const auto &batch : batches) {
      opt.zero_grad();
      (net->forward(batch.to(torch::kFloat32) - shift)).sum().backward();
      opt.step();
    }
  }
}
static double epoch(Linear &net, torch::optim::SGD &opt, const Tensors &batches) {
  double sum = 0;
  for (const auto &batch : batches) {
    opt.zero_grad();
    auto loss = net->forward(batch.to(torch::kFloat32)).sum();
    loss.backward();
    opt.step();
    sum += loss.item<double>();
  }
  return sum;
}
void epochsByCall(Linear net, torch::optim::SGD &opt, const Tensors &batches, const Tensor &mean) {
  for (int k = 0; k < 10; ++k)
    std::cout << epoch(net, opt, batches) << mean.to(torch::kFloat32).sum().item<float>();
}
