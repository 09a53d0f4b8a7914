// RUN: %check_torch %s torch-retained-graph %t
//
// Sums over all iterations, and in-place writes into a tensor that lives as
// long: the graphs are chained.

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::Slice;
using torch::nn::Linear;

void compound(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &xs,
              Tensor y) {
  torch::Tensor total = torch::zeros({1});
  for (const auto &x : xs) {
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all iterations (their autograd graphs), so memory grows with each; add 'loss.item<float>()' or 'loss.detach()' [torch-retained-graph]
  }
  std::cout << total.item<float>() / xs.size() << '\n';
}

void binary(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  auto total = torch::zeros({1});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    total = total + loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all iterations (their autograd graphs), so memory grows with each; add 'loss.item<float>()' or 'loss.detach()'
  }
  std::cout << total << '\n';
}

// Re-made per epoch, but over the batches of one epoch it grows.
void perEpoch(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &xs,
              Tensor y) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    Tensor epochLoss = torch::zeros({1});
    for (const auto &x : xs) {
      opt.zero_grad();
      auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      opt.step();
      epochLoss += loss;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: adding 'loss' to 'epochLoss' keeps what backward() would need of all iterations (their autograd graphs)
    }
    std::cout << epochLoss.item<float>() << '\n';
  }
}

// The operands the other way round.
void binarySwapped(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  auto total = torch::zeros({1});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    total = loss + total;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all iterations (their autograd graphs)
  }
  std::cout << total << '\n';
}

void addMethod(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  auto total = torch::zeros({});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    total.add_(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}} 'total' keeps what backward() would need of all iterations (their autograd graphs)
  }
  std::cout << total << '\n';
}

// An average that decays: bounded in value, not in graph.
void movingAverage(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  Tensor average = torch::zeros({});
  for (const auto &x : xs) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    average = 0.9 * average + 0.1 * loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'average' keeps what backward() would need of all iterations (their autograd graphs)
  }
  std::cout << average << '\n';
}

// Reading the sum now and then is no backward().
void readInBetween(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  Tensor running = torch::zeros({1});
  for (size_t i = 0; i < xs.size(); ++i) {
    Tensor loss = torch::mse_loss(net->forward(xs[i]), y);
    loss.backward();
    running += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'running' keeps what backward() would need of all iterations (their autograd graphs)
    if (i % 100 == 0)
      std::cout << running.item<float>() << '\n';
  }
}

// In place into one row after the other of a long-lived tensor.
void indexPut(Linear net, const std::vector<Tensor> &xs, Tensor y) {
  auto metrics = torch::zeros({static_cast<int64_t>(xs.size())});
  for (size_t i = 0; i < xs.size(); ++i) {
    auto loss = torch::mse_loss(net->forward(xs[i]), y);
    loss.backward();
    metrics.index_put_({static_cast<int64_t>(i)}, loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'metrics' keeps what {{(its )?}}backward() would need
  }
  std::cout << metrics.mean().item<float>() << '\n';
}

static void rowAssignment(Linear net, const std::vector<Tensor> &xs) {
  auto features = torch::empty({static_cast<int64_t>(xs.size()), 2});
  for (size_t i = 0; i < xs.size(); ++i) {
    auto feature = net->forward(xs[i]);
    features[i] = feature;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'features' keeps what {{(its )?}}backward() would need
  }
  std::cout << features.sizes() << '\n';
}

static void sliceCopy(Linear net, const std::vector<Tensor> &xs) {
  auto features = torch::empty({static_cast<int64_t>(xs.size()), 2});
  for (size_t i = 0; i < xs.size(); ++i) {
    auto feature = net->forward(xs[i]);
    features.select(0, i).copy_(feature);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'features' keeps what {{(its )?}}backward() would need
  }
  std::cout << features.sizes() << '\n';
}

// A cache that grows by one step each time, and so does its graph.
static void growingCache(Linear keys, Linear query, Tensor token) {
  Tensor cache = torch::zeros({1, 0, 2});
  for (int step = 0; step < 100; ++step) {
    auto key = keys->forward(token).unsqueeze(1);
    cache = torch::cat({cache, key}, 1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'cache' keeps what {{(its )?}}backward() would need
    auto score = torch::matmul(cache, query->forward(token).unsqueeze(-1));
    std::cout << score.argmax().item<int64_t>() << '\n';
  }
}

// Where nothing is backwarded, the callers are known: no guard is in force.
int main() {
  Linear net(8, 2), query(8, 2);
  std::vector<Tensor> xs{torch::rand({8}), torch::rand({8})};
  rowAssignment(net, xs);
  sliceCopy(net, xs);
  growingCache(net, query, torch::rand({1, 8}));
}
