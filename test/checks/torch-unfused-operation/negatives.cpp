// RUN: %check_torch %s torch-unfused-operation %t
//
// What looks like it and is right, or is left alone.

#include <torch/torch.h>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

// One operation already; products that have a name; numbers; another factor;
// what is subtracted from a product; a quotient by a number.
void right(Tensor x, const Tensors &as, const Tensor &b, double rate) {
  for (const Tensor &a : as) {
    x = torch::addcmul(x, a, b);
    x = torch::add(x, a, rate);
    x.add_(a, rate);
    const Tensor product = a * b;
    x = x + product;
    std::cout << product;
    x = x + rate * 2;
    x = a * b + 1;
    x = torch::add(x, a * b, rate);
    x = a * b - x;
    x = x + a / 2;
    x = x * a + 1.0;
    x = x + torch::mm(a, b);
    x = x + 0.1 * torch::mse_loss(a, b);
    x = x + a.sum().detach() * rate;
    x += a.mean() / b.mean();
  }
}

// Losses that have names are single numbers as well.
void weighted(const Tensors &as, const Tensor &b, double rate) {
  for (const Tensor &a : as) {
    auto energy = torch::mse_loss(a, b);
    auto forces = torch::nn::functional::l1_loss(a, b);
    Tensor loss = rate * energy + (1 - rate) * forces;
    std::cout << loss;
  }
}

// With a graph: the backward of addcmul() makes more tensors than it saves.
struct GateImpl : torch::nn::Module {
  GateImpl() { gate = register_module("gate", torch::nn::Linear(256, 256)); }
  Tensor forward(const Tensors &xs) {
    Tensor state = torch::zeros({256, 256});
    for (const Tensor &x : xs) {
      const Tensor open = torch::sigmoid(gate(x));
      state = open * state + (1 - open) * x;
    }
    return state;
  }
  torch::nn::Linear gate{nullptr};
};
Tensor unknown(Tensor state, const Tensors &gates, const Tensor &x) {
  for (const Tensor &open : gates)
    state = state + open * x;
  return state;
}

// Small, as the sizes say.
void small() {
  const torch::NoGradGuard no_grad;
  Tensor place = torch::zeros({3}), speed = torch::ones({3});
  for (int step = 0; step < 100; ++step) {
    place = place + speed * torch::ones({3});
    place = place + 0.1 * torch::randn({3});
  }
}

// Not in a loop.
Tensor once(const Tensor &x, const Tensor &a, const Tensor &b) {
  return x + a * b;
}

// Numbers of the host.
double numbers(const std::vector<double> &values) {
  double sum = 0;
  for (double each : values)
    sum = sum + each * 2;
  return sum;
}

// A network is run in each iteration: beside that it costs nothing.
Tensor sample(torch::nn::Linear &net, Tensor x, const Tensors &noise) {
  const torch::NoGradGuard no_grad;
  for (const Tensor &each : noise) {
    const Tensor estimate = net->forward(x);
    x = x - 0.1 * estimate + each * 0.01;
  }
  return x;
}
void train(torch::nn::Linear &net, torch::optim::SGD &optimizer, const Tensors &batches) {
  for (const Tensor &batch : batches) {
    optimizer.zero_grad();
    torch::mse_loss(net->forward(batch + 0.1 * torch::randn({64, 512})), batch).backward();
    optimizer.step();
  }
}

// Data that are made before the work begins.
void prepare(torch::nn::Linear &net, torch::optim::SGD &optimizer, int64_t n) {
  Tensors all;
  for (int64_t i = 0; i < n; ++i)
    all.push_back(torch::ones({n, n}) + 0.1 * torch::randn({n, n}));
  for (const Tensor &x : all) {
    optimizer.zero_grad();
    net->forward(x).sum().backward();
    optimizer.step();
  }
}

// Nobody needs the sum: the parameter is a copy (torch-parameter-copy).
static void blend(Tensor to, const Tensor &from, double rate) { to = to * (1 - rate) + from * rate; }
void blendAll(const Tensors &to, const Tensors &from) {
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < to.size(); ++i)
    blend(to[i], from[i], 0.1);
}

// Of integers add() takes no factor that is none: it throws.
struct Painter {
  const Tensor blue = torch::zeros({600, 600}, torch::kUInt8);
  Tensor shades(const std::vector<float> &factors) const {
    torch::NoGradGuard no_grad;
    std::vector<Tensor> all;
    for (const float factor : factors)
      all.push_back(torch::clamp(blue + (255 - blue) * factor, 0, 255));
    return torch::stack(all);
  }
};
