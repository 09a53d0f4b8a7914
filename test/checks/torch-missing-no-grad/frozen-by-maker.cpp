// RUN: %check_torch %s torch-missing-no-grad %t -still-warns
//
// What a function says of a module that it makes and returns holds for the
// caller's handle to it.

#include <torch/torch.h>

#include <memory>

using torch::Tensor;
namespace nn = torch::nn;

struct DecoderImpl : nn::Module {
  DecoderImpl() : fc(register_module("fc", nn::Linear(8, 16))) {}
  Tensor forward(Tensor x) { return torch::relu(fc(x)); }
  nn::Linear fc;
};
TORCH_MODULE(Decoder);

static nn::Sequential frozenSequential() {
  nn::Sequential net(nn::Linear(8, 32), nn::ReLU(), nn::Linear(32, 8));
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  net->eval();
  return net;
}

static Decoder frozenDecoder() {
  auto net = Decoder();
  for (auto &item : net->named_parameters())
    item.value().set_requires_grad(false);
  return net;
}

template <class Net> static Net frozen(int64_t n) {
  Net net(8, n);
  for (Tensor p : net->parameters())
    p.set_requires_grad(false);
  return net;
}

static Decoder trainable() {
  Decoder net;
  net->eval();
  return net;
}

double quiet(const std::vector<Tensor> &xs) {
  auto first = frozenSequential();
  Decoder second = frozenDecoder();
  auto third = frozen<nn::Linear>(4);
  double sum = 0;
  for (const auto &x : xs) {
    sum += first->forward(x).sum().item<double>();
    sum += second->forward(x).sum().item<double>();
    sum += third->forward(x).sum().item<double>();
  }
  return sum;
}

double told(const std::vector<Tensor> &xs) {
  Decoder net = trainable();
  double sum = 0;
  for (const auto &x : xs)
    sum += net->forward(x).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return sum;
}
