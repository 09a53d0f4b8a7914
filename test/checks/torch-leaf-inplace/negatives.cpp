// RUN: %check_torch %s torch-leaf-inplace %t
//
// What looks like it and does not throw.

#include <torch/script.h>
#include <torch/torch.h>

#include <thread>

using torch::Tensor;

static Tensor weight() { return torch::randn({4, 4}, torch::requires_grad()); }

static void guards() {
  auto w = weight();
  {
    torch::NoGradGuard no_grad;
    w -= 0.1;
    w[0] = 1;
    w.t_();
  }
  {
    torch::InferenceMode inference;
    w.add_(1);
  }
  {
    torch::AutoGradMode off(false);
    w.fill_(0);
  }
  torch::GradMode::set_enabled(false);
  w.zero_();
  torch::GradMode::set_enabled(true);
}

struct Quietly {
  torch::NoGradGuard guard;
};

static void shrink(Tensor &t) { t.mul_(0.9); }
static void userGuards() {
  auto w = weight();
  Quietly quietly;
  shrink(w);
}

static void aliases(const Tensor &x) {
  auto w = weight();
  w.data().add_(1);
  w.data()[0] = x[0];
  w.detach().mul_(2);
  auto values = w.detach();
  values[1].zero_();
  w.set_data(x);
  w.set_(x);
  w.data() = x;
}

static void noLeaves(const Tensor &x) {
  auto w = weight();
  auto y = w * 2;
  y.add_(1);
  y[0] = x[0];
  w.clone().zero_();
  w.to(torch::kDouble).add_(1);
  auto copy = w.clone();
  copy += 1;
  w.index({torch::tensor({0, 1})}) = x;
  auto row = w[0];
  row = x[0];
  w = w * 0.5;
  w += 1;
}

static void noGradients(const Tensor &x) {
  auto w = weight();
  w.requires_grad_(false);
  w.add_(1);
  w.requires_grad_();
  auto v = weight();
  v.detach_();
  v.zero_();
  auto plain = torch::zeros({4});
  plain.add_(w.sum());
  plain[0] = w[0][0];
  auto u = weight();
  u.sum().backward();
  u.grad().zero_();
  u.mutable_grad().mul_(2);
  u.set_requires_grad(false);
  u.mul_(2);
}

static void initializers() {
  torch::nn::Linear layer(4, 4);
  torch::nn::init::zeros_(layer->bias);
  torch::nn::init::xavier_uniform_(layer->weight);
  torch::nn::init::constant_(layer->weight, 1);
  for (auto &p : layer->parameters())
    p.requires_grad_(false);
  for (auto &p : layer->parameters())
    p.add_(1);
  torch::nn::BatchNorm1d norm(4);
  norm->running_mean.zero_();
}

static void sometimes(bool frozen) {
  auto w = torch::zeros({4}, torch::TensorOptions().requires_grad(!frozen));
  if (frozen)
    w.add_(1);
}

void freeze(torch::nn::Linear &layer);
Tensor prepared();
static void unseen() {
  torch::nn::Linear layer(4, 4);
  freeze(layer);
  layer->weight.add_(1);
  auto w = prepared();
  w.add_(1);
  auto script = torch::jit::load("model.pt");
  for (auto p : script.parameters())
    p.zero_();
}

static void worker() {
  auto w = weight();
  std::thread([w]() mutable {
    torch::NoGradGuard no_grad;
    w.add_(1);
  }).join();
}

int main() {
  guards();
  userGuards();
  aliases(torch::ones({4, 4}));
  noLeaves(torch::ones({4, 4}));
  noGradients(torch::ones({4}));
  initializers();
  sometimes(true);
  unseen();
  worker();
}

// Their callers may hold a guard.
void library(torch::nn::Linear &layer) {
  layer->weight.fill_(0.5);
  auto w = weight();
  w.zero_();
}

struct Layer : torch::nn::Module {
  Layer() {
    w = register_parameter("w", torch::zeros({4}));
    w.uniform_();
  }
  Tensor w;
};

void copies(torch::nn::Linear &from, torch::nn::Linear &to,
            const Tensor &x) {
  // A backward() of some paths only, and of a graph from elsewhere.
  if (x.size(0) > 1)
    from->forward(x).sum().backward();
  to->weight.copy_(from->weight);
}

void steps(Tensor loss) {
  loss.backward();
  auto w = weight();
  w.add_(1);
}

void evaluates(const Tensor &x) {
  auto w = weight();
  {
    torch::AutoGradMode on(true);
    (w * x).sum().backward();
  }
  w.add_(1);
}
