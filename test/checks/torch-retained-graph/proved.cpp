// RUN: %check_torch %s torch-retained-graph %t
//
// What comes from a function of another file may have no graph. After a
// backward() on it that is known: without one it would have thrown.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

Tensor divergence(const Tensor &predicted, const Tensor &wanted);
std::pair<Tensor, Tensor> losses(const Tensor &predicted, const Tensor &wanted);

double summed(Linear net, torch::optim::SGD &opt,
              const std::vector<Tensor> &xs) {
  Tensor total = torch::zeros({});
  for (const Tensor &x : xs) {
    opt.zero_grad();
    Tensor loss = divergence(net(x), x);
    loss.backward();
    opt.step();
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all iterations (their autograd graphs), so memory grows with each; add 'loss.item<float>()' or 'loss.detach()' [torch-retained-graph]
    // CHECK-FIXES: {{^}}    total += loss.detach();{{$}}
  }
  return total.item<double>();
}

struct Trainer {
  Linear net{4, 4};
  torch::optim::SGD opt{net->parameters(), 0.1};
  std::vector<Tensor> history;

  void step(const Tensor &x) {
    opt.zero_grad();
    auto [loss, penalty] = losses(net(x), x);
    (loss + penalty).backward();
    opt.step();
  }

  double run(const std::vector<Tensor> &xs) {
    for (const Tensor &x : xs) {
      opt.zero_grad();
      auto loss = divergence(net(x), x);
      loss.backward();
      opt.step();
      history.push_back(loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor 'loss' kept in 'history' keeps what its backward() would need (its autograd graph) for every iteration, so memory grows with each; store 'loss.item<float>()' or 'loss.detach()' [torch-retained-graph]
      // CHECK-FIXES: {{^}}      history.push_back(loss.detach());{{$}}
    }
    return torch::stack(history).mean().item<double>();
  }
};

template <typename Net, typename Optimizer>
void generic(Net net, Optimizer &opt, const std::vector<Tensor> &xs) {
  std::vector<Tensor> kept;
  auto train = [&](const Tensor &x) {
    auto loss = divergence(net(x), x);
    opt.zero_grad();
    torch::autograd::backward({loss}, {});
    loss.backward();
    opt.step();
    return loss;
  };
  for (const Tensor &x : xs)
    kept.push_back(train(x));
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor kept in 'kept' keeps what its backward() would need (its autograd graph) for every iteration
  // CHECK-FIXES: {{^}}    kept.push_back(train(x).detach());{{$}}
}
template void generic(Linear, torch::optim::SGD &, const std::vector<Tensor> &);

// It is kept before anything says that it has one.
void asked(Linear net, torch::optim::SGD &opt, const std::vector<Tensor> &xs) {
  std::vector<Tensor> kept;
  for (const Tensor &x : xs) {
    auto loss = divergence(net(x), x);
    kept.push_back(loss);
    if (loss.requires_grad()) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }
}

// The number is taken after backward(), or it is detached.
void numbers(Linear net, torch::optim::SGD &opt,
             const std::vector<Tensor> &xs) {
  std::vector<Tensor> kept;
  double sum = 0;
  for (const Tensor &x : xs) {
    auto loss = divergence(net(x), x);
    opt.zero_grad();
    loss.backward();
    opt.step();
    sum += loss.item<double>();
    kept.push_back(loss.detach());
    loss = loss.detach();
    kept.push_back(loss);
  }
}
