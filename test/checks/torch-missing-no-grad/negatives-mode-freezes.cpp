// RUN: %check_torch %s torch-missing-no-grad %t
//
// A class whose train() switches the gradients of its parameters: eval() calls it with false, and
// nothing is recorded then.

#include <torch/torch.h>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

class Model : public torch::nn::Module {
public:
  virtual Tensor forward(Tensor x) = 0;
  void train(bool on = true) override {
    for (auto &parameter : parameters())
      parameter.set_requires_grad(on);
    torch::nn::Module::train(on);
  }
};
class Line : public Model {
public:
  Line() { linear = register_module("linear", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) override { return linear->forward(x); }
  torch::nn::Linear linear{nullptr};
};
struct BaseFirstImpl : torch::nn::Module {
  BaseFirstImpl() { linear = register_module("linear", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) { return linear->forward(x); }
  void train(bool on) override {
    torch::nn::Module::train(on);
    for (auto &each : named_parameters())
      each.value().requires_grad_(on);
  }
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(BaseFirst);

double given(std::shared_ptr<Model> net, const Tensors &xs) {
  net->eval();
  double sum = 0;
  for (const Tensor &x : xs)
    sum += net->forward(x).sum().item<double>();
  return sum;
}
double made(const Tensors &xs) {
  auto net = std::make_shared<Line>();
  torch::load(net, "line.pt");
  net->eval();
  double sum = 0;
  for (const Tensor &x : xs)
    sum += net->forward(x).sum().item<double>();
  return sum;
}
double held(const Tensors &xs) {
  BaseFirst net;
  torch::load(net, "line.pt");
  net->train(false);
  double sum = 0;
  for (const Tensor &x : xs)
    sum += net->forward(x).sum().item<double>();
  return sum;
}
void alternating(std::shared_ptr<Model> net, const Tensors &xs, torch::optim::Adam &optimizer, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    net->train(false);
    Tensors kept;
    for (const Tensor &x : xs)
      kept.push_back(net->forward(x).to(torch::kCPU));
    std::cout << torch::cat(kept, 0).sum();
    net->train(true);
    for (const Tensor &x : xs) {
      optimizer.zero_grad();
      net->forward(x).sum().backward();
      optimizer.step();
    }
  }
}

// A parameter of its own, beside modules that are reached by pointers.
class Scaled : public Model {
public:
  explicit Scaled(std::shared_ptr<Model> inner) : inner_(register_module("inner", std::move(inner))) {
    scale_ = register_parameter("scale", torch::ones({1}));
  }
  Tensor forward(Tensor x) override {
    x = inner_->forward(x);
    x *= scale_;
    return x;
  }

private:
  std::shared_ptr<Model> inner_;
  Tensor scale_;
};
void evaluated(const Tensors &xs, int rounds) {
  auto net = std::make_shared<Scaled>(std::make_shared<Line>());
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int round = 0; round < rounds; ++round) {
    net->train(true);
    for (const Tensor &x : xs) {
      optimizer.zero_grad();
      net->forward(x).sum().backward();
      optimizer.step();
    }
    net->eval();
    int64_t right = 0;
    for (const Tensor &x : xs)
      right += net->forward(x).argmax(1).sum().item<int64_t>();
    std::cout << right;
  }
}

// One that does something else.
struct LoggedImpl : torch::nn::Module {
  LoggedImpl() { linear = register_module("linear", torch::nn::Linear(4, 4)); }
  Tensor forward(Tensor x) { return linear->forward(x); }
  void train(bool on) override {
    std::cout << on;
    torch::nn::Module::train(on);
  }
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(Logged);
double logged(const Tensors &xs) {
  Logged net;
  torch::load(net, "line.pt");
  net->eval();
  double sum = 0;
  for (const Tensor &x : xs)
    sum += net->forward(x).sum().item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results
  return sum;
}
