// RUN: %check_torch %s torch-allocation-in-loop %t -still-warns -- -config="{CheckOptions: {torch-allocation-in-loop.Minor: true}}"
//
// Where nothing is trained, a tensor that is not known to be large is no
// matter: there is a pass beside it, or nothing says that the loop is hot.
// Strict tells it: strict.cpp.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void use(const Tensor &x);

// As large as a batch is.
void answers(Linear net, const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    use(net->forward(x * mask));
  }
}

// A mask of a megabyte and more.
void frames(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs) {
    auto mask = torch::ones({3, 720, 1280});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    use(net->forward(x * mask));
  }
}

// A loop that computes, without a network.
void computes(const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    use(x * mask);
  }
}
void computesMuch(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto mask = torch::ones({720, 1280});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    use(x * mask);
  }
}

// Trained, in the loop and after it.
void trains(Linear net, torch::optim::SGD &optimizer,
            const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    optimizer.zero_grad();
    net->forward(x * mask).sum().backward();
    optimizer.step();
  }
}

void unrolls(Linear net, const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  Tensor loss = torch::zeros({1});
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    loss = loss + net->forward(x * mask).sum();
  }
  loss.backward();
}

// A forward() is run by training, too.
struct Unrolled : torch::nn::Module {
  Linear cell{nullptr};
  Tensor forward(Tensor x, int64_t steps, int64_t n, int64_t m) {
    for (int64_t i = 0; i < steps; ++i) {
      auto mask = torch::ones({n, m});
      // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes the same tensor in every iteration
      x = cell->forward(x * mask);
    }
    return x;
  }
};

// The same between epochs that train: nothing in the loop does.
Tensor boards(const std::vector<int> &games) {
  auto planes = torch::ones({static_cast<int64_t>(games.size()), 3, 81});
  planes.select(1, 0).zero_();
  return planes;
}
void playAndTrain(Linear net, torch::optim::SGD &opt, const std::vector<int> &games) {
  for (int epoch = 0; epoch < 100; ++epoch) {
    {
      torch::NoGradGuard no_grad;
      for (int move = 0; move < 200; ++move)
        use(net->forward(boards(games)));
    }
    opt.zero_grad();
    net->forward(torch::rand({64, 81})).sum().backward();
    opt.step();
  }
}
void trainWithMask(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  for (const auto &x : xs) {
    auto mask = torch::ones({n, m});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration
    opt.zero_grad();
    net->forward(x * mask).sum().backward();
    opt.step();
  }
}
