// RUN: %check_torch %s torch-missing-no-grad %t
//
// std::visit calls what it is given with the alternative that a variant has: what
// comes back may be a loss.

#include <torch/torch.h>
#include <variant>

using torch::Tensor;

struct Amount {
  Tensor loss(const Tensor &x, const Tensor &y) const { return torch::mse_loss(x, y); }
};
struct Kind {
  Tensor loss(const Tensor &x, const Tensor &y) const { return torch::cross_entropy_loss(x, y); }
  Tensor weights;
};
using Task = std::variant<Amount, Kind>;

template <class... T> struct Overloaded : T... {
  using T::operator()...;
};
template <class... T> Overloaded(T...) -> Overloaded<T...>;

struct LossOf {
  const Tensor &x, &y;
  Tensor operator()(const Amount &a) const { return a.loss(x, y); }
  Tensor operator()(const Kind &k) const { return k.loss(x, y); }
};

static void step(torch::optim::Optimizer &opt, const Tensor &loss) {
  opt.zero_grad();
  loss.backward();
  opt.step();
}
void byGenericLambda(torch::nn::Linear net, torch::optim::Optimizer &opt, const Tensor &x, const Tensor &y,
                     Task &task) {
  auto out = net(x);
  step(opt, std::visit([&](auto &t) { return t.loss(out, y); }, task));
}
void byOverloads(torch::nn::Linear net, torch::optim::Optimizer &opt, const Tensor &x, const Tensor &y, Task &task) {
  auto out = net(x);
  step(opt, std::visit(Overloaded{[&](const Amount &a) { return a.loss(out, y); },
                                  [&](const Kind &k) { return k.loss(out, y); }},
                       task));
}
void byClass(torch::nn::Linear net, torch::optim::Optimizer &opt, const Tensor &x, const Tensor &y, Task &task) {
  auto out = net(x);
  step(opt, std::visit(LossOf{out, y}, task));
}
// What the variant holds is what the lambda gets.
void heldByIt(torch::nn::Linear net, torch::optim::Optimizer &opt, const Tensor &x) {
  std::variant<int, Tensor> result = net(x);
  step(opt, std::visit(Overloaded{[](int) { return Tensor(); }, [](const Tensor &t) { return t.mean(); }}, result));
}
double evaluated(torch::nn::Linear net, const std::vector<Tensor> &all, const Tensor &y, Task &task) {
  double sum = 0;
  for (const Tensor &x : all) {
    auto out = net(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net'
    sum += std::visit([&](auto &t) { return t.loss(out, y).template item<double>(); }, task);
  }
  return sum;
}

int main() {
  torch::nn::Linear net(4, 4);
  torch::optim::SGD opt(net->parameters(), 0.1);
  Task task = Amount();
  const std::vector<Tensor> all(10, torch::rand({8, 4}));
  for (const Tensor &x : all) {
    byGenericLambda(net, opt, x, x, task);
    byOverloads(net, opt, x, x, task);
    byClass(net, opt, x, x, task);
    heldByIt(net, opt, x);
  }
  std::cout << evaluated(net, all, all.front(), task);
}
