// RUN: %check_torch %s torch-retained-graph %t
//
// A method fills a list for callers of two kinds. Where one of them trains through it, what
// it stores needs its graph, and the caller who only evaluates lacks a guard.

#include <torch/torch.h>

using torch::Tensor;

struct Scorer : torch::nn::Module {
  torch::nn::Linear coarse{nullptr}, fine{nullptr};
  Scorer() {
    coarse = register_module("coarse", torch::nn::Linear(8, 2));
    fine = register_module("fine", torch::nn::Linear(8, 4));
  }

  std::tuple<Tensor, Tensor> score(const std::vector<Tensor> &levels) {
    std::vector<Tensor> rough, exact;
    for (const auto &level : levels) {
      rough.push_back(coarse->forward(level));
      exact.push_back(fine->forward(level));
    }
    return {torch::cat(rough), torch::cat(exact)};
  }

  Tensor locate(const std::vector<Tensor> &levels) {
    auto [rough, exact] = score(levels);
    return exact.detach();
  }

  std::vector<Tensor> history;
  double watch(const Tensor &x) {
    double total = 0;
    for (int i = 0; i < 1000; ++i) {
      Tensor seen = coarse->forward(x);
      history.push_back(seen);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor 'seen' kept in 'history' keeps what its backward() would need (its autograd graph)
      // CHECK-FIXES: history.push_back(seen.detach());
      total += seen.sum().item<double>();
    }
    return total;
  }
};

int main(int count, char **) {
  auto scorer = std::make_shared<Scorer>();
  std::vector<Tensor> levels = {torch::rand({16, 8}), torch::rand({4, 8})};
  if (count > 1) {
    std::cout << scorer->locate(levels) << scorer->watch(levels[0]);
    return 0;
  }
  torch::optim::SGD opt(scorer->parameters(), 0.1);
  for (int step = 0; step < 100; ++step) {
    auto [rough, exact] = scorer->score(levels);
    opt.zero_grad();
    (rough.pow(2).mean() + exact.pow(2).mean()).backward();
    opt.step();
  }
}
