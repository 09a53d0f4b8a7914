// Training with several optimizers, over any network: a body with a head, distillation, folds.
#include <torch/torch.h>

#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace {
using Pair = std::pair<torch::Tensor, torch::Tensor>;
std::vector<Pair> makePairs(int n) {
  std::vector<Pair> out;
  for (int i = 0; i < n; ++i) {
    auto x = torch::randn({24, 10});
    out.emplace_back(x, x.narrow(1, 0, 3).sin());
  }
  return out;
}

torch::nn::Sequential tower(double drop) {
  return torch::nn::Sequential(torch::nn::Linear(10, 20), torch::nn::ReLU(), torch::nn::Dropout(drop));
}
template <typename Body, typename Head>
class Duo {
 public:
  Duo(Body body, Head head)
      : body_(body), head_(head), slow_(body_->parameters(), 1e-3), fast_(head_->parameters(), 1e-2) {}
  void study(const std::vector<Pair>& pairs) {
    std::optional<torch::Tensor> peak;
    for (const auto& [x, y] : pairs) {
      auto loss = torch::mse_loss(head_->forward(body_->forward(x)), y);
      slow_.zero_grad();
      loss.backward();
      slow_.step();  // RIGHT: torch-missing-zero-grad (cleared above)
      fast_.step();  // EXPECT: torch-missing-zero-grad
      peak = loss.detach();  // RIGHT: torch-retained-graph (detached)
    }
    if (peak) std::cout << "last loss " << peak->template item<float>() << '\n';
  }
  // Alternating: the head learns with the body held still.
  void settle(const std::vector<Pair>& pairs) {
    for (const auto& [x, y] : pairs) {
      torch::Tensor features;
      {
        torch::NoGradGuard off;
        features = body_->forward(x);  // RIGHT: torch-unused-gradients, torch-missing-no-grad (under a guard)
      }
      fast_.zero_grad();
      torch::mse_loss(head_->forward(features), y).backward();
      fast_.step();
    }
  }
 private:
  Body body_;
  Head head_;
  torch::optim::Adam slow_;
  torch::optim::SGD fast_;
};
// A student learns what a finished teacher says.
template <typename Teacher>
double distill(const std::vector<Pair>& pairs, int epochs) {
  Teacher teacher(10, 3);
  torch::nn::Linear student(10, 3);
  torch::optim::Adam opt(student->parameters(), torch::optim::AdamOptions(1e-2));
  torch::Tensor total = torch::zeros({});
  for (int e = 0; e < epochs; ++e)
    for (const auto& pair : pairs) {
      auto wisdom = teacher->forward(pair.first);  // EXPECT: torch-unused-gradients
      auto loss = torch::mse_loss(student->forward(pair.first), wisdom);
      opt.zero_grad();
      loss.backward();
      opt.step();
      total = total + loss;  // EXPECT: torch-retained-graph
    }
  return total.item<double>() / (epochs * pairs.size());
}
double temper(const Pair& pair) {
  torch::nn::Linear head(10, 3);
  auto heat = torch::ones({1}, torch::requires_grad()) * 2.0;
  auto cold = (torch::ones({1}) * 0.5).requires_grad_();
  torch::optim::SGD opt(head->parameters(), 0.1);
  opt.add_parameters({cold});  // RIGHT: torch-non-leaf-parameter (a leaf)
  opt.add_parameters({heat});  // EXPECT: torch-non-leaf-parameter
  auto loss = torch::mse_loss(head->forward(pair.first) * heat + cold, pair.second);
  opt.zero_grad();
  loss.backward();
  opt.step();  // RIGHT: torch-missing-zero-grad (one step, no loop)
  return heat.item<double>();
}
double supervise(const std::vector<Pair>& pairs, int epochs) {
  auto net = tower(0.3);
  net->push_back(torch::nn::Linear(20, 3));
  auto opt = std::make_unique<torch::optim::RMSprop>(net->parameters(), 1e-3);
  double held = 0;
  auto grade = [&net](const Pair& p) {
    torch::NoGradGuard off;
    net->eval();  // EXPECT: torch-eval-mode-not-restored
    return torch::mse_loss(net->forward(p.first), p.second).item<double>();
  };
  for (int e = 0; e < epochs; ++e) {
    for (const auto& [x, y] : pairs) {
      opt->zero_grad();
      torch::mse_loss(net->forward(x), y).backward();
      opt->step();
    }
    held = grade(pairs.front());
  }
  return held;
}
double crossValidate(const std::vector<Pair>& pairs, int folds) {
  double sum = 0;
  for (int f = 0; f < folds; ++f) {
    torch::nn::Linear net(10, 3);
    torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-2));  // RIGHT: torch-optimizer-in-loop (a network for each fold)
    for (size_t i = f; i < pairs.size(); ++i) {
      auto loss = torch::mse_loss(net->forward(pairs[i].first), pairs[i].second);
      opt.zero_grad();
      loss.backward();
      opt.step();
      if (i + 1 == pairs.size()) sum += loss.item<double>();
    }
  }
  return sum / folds;
}
double polish(torch::nn::Linear& net, const Pair& pair, int rounds) {
  double last = 0;
  torch::optim::LBFGS opt(net->parameters(), torch::optim::LBFGSOptions(0.5).max_iter(4));
  for (int r = 0; r < rounds; ++r)
    last = opt.step([&] {  // RIGHT: torch-missing-zero-grad (a closure that clears)
      opt.zero_grad();
      auto loss = torch::mse_loss(net->forward(pair.first), pair.second);
      loss.backward();
      return loss;
    }).item<double>();
  return last;
}
}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(17);
  const auto pairs = makePairs(30);
  Duo<torch::nn::Sequential, torch::nn::Linear> duo(tower(0.1), torch::nn::Linear(20, 3));
  duo.study(pairs);
  duo.settle(pairs);
  torch::nn::Linear plain(10, 3);
  std::cout << distill<torch::nn::Linear>(pairs, 2) << ' ' << temper(pairs.front()) << ' ' << supervise(pairs, 3) << ' '
            << crossValidate(pairs, 3) << ' ' << polish(plain, pairs.back(), 3) << '\n';
}
