// RUN: %check_torch %s torch-inplace-saved %t
//
// What looks like it and is right, or cannot be known.

#include <torch/torch.h>

using torch::Tensor;

static Tensor leaf() { return torch::randn({4, 4}, torch::requires_grad()); }

static void notSaved(const Tensor &x) {
  torch::nn::Conv2d conv(3, 3, 3);
  auto y = conv(x);
  y.relu_(); // no layer before it keeps its result
  y.mul_(2);
  auto w = leaf();
  auto z = w * 2 + 1;
  z += 1;
  z.sum().backward();
  auto d = torch::dropout(w * 1, 0.5, true);
  d += 1;
  d.sum().backward();
  auto l = torch::leaky_relu(w);
  l.add_(1);
  l.sum().backward();
  auto scale = torch::ones({4});
  auto s = w + scale;
  scale.zero_();
  s.sum().backward();
  // The operand of mul_() is kept as it was, in a copy.
  auto m = w * 1;
  m.mul_(leaf());
  m.add_(1);
  m.sum().backward();
}

static void nothingRecorded(const Tensor &x) {
  auto y = torch::sigmoid(x); // may need no gradient
  y += 1;
  auto w = leaf();
  (y * w).sum().backward();
  Tensor z;
  {
    torch::NoGradGuard no_grad;
    z = torch::sigmoid(w);
    z += 1;
  }
  (z * w).sum().backward();
  auto t = torch::tanh(w).detach();
  t.mul_(t);
  (t * w).sum().backward();
  auto plain = torch::rand({4, 4}).exp();
  plain.sub_(1);
  (plain + w).sum().backward();
}

static void inOrder(const Tensor &x) {
  auto w = leaf();
  auto buffer = torch::zeros({4, 4});
  for (int i = 0; i < 10; ++i) {
    buffer.copy_(x); // the graph of the last iteration is gone
    auto loss = torch::sigmoid(buffer.mm(w)).sum();
    loss.backward();
  }
  auto y = torch::sigmoid(w);
  y.sum().backward();
  y += 1;
  auto z = torch::tanh(w);
  auto other = torch::exp(w);
  z += 1; // nobody goes back through it
  other.sum().backward();
}

static void otherMemory() {
  auto w = leaf();
  auto y = torch::sigmoid(w);
  y.data().zero_(); // wrong, but nothing notices
  auto copy = y.clone();
  copy += 1;
  copy = copy + 1;
  y = y + 1;
  y += 1; // another tensor by now
  (y + copy).sum().backward();
  auto z = torch::tanh(w);
  auto rows = z.clone().view({-1});
  rows[0] = 1;
  z.requires_grad_();
  z.retain_grad();
  auto kept = z.detach().clone();
  kept.zero_();
  (z * 2).sum().backward();
}

// Which element it is nobody knows.
static void elements() {
  auto w = leaf();
  std::vector<Tensor> outputs;
  for (int i = 0; i < 4; ++i)
    outputs.push_back(torch::sigmoid(w));
  outputs[0] += 1;
  outputs[1].sum().backward();
}

// A transposed operand of three dimensions is copied, and the copy is kept.
static void copied(const Tensor &x) {
  torch::nn::Linear layer(4, 4);
  auto turned = x.transpose(1, 2);
  auto y = layer(turned);
  turned.zero_();
  y.sum().backward();
}

// A leaf: torch-leaf-inplace speaks of it.
static void leaves() {
  auto w = leaf();
  auto y = w * w;
  w.add_(1);
  y.sum().backward();
}

// The module may be frozen: code elsewhere has it.
void freeze(torch::nn::Linear layer);
static void frozen(const Tensor &x) {
  torch::nn::Linear layer(4, 4);
  freeze(layer);
  auto y = torch::relu(layer(x));
  y += 1;
  auto w = leaf();
  (y * w).sum().backward();
}

// A gradient of other inputs may not come by.
static void givenInputs() {
  auto w = leaf(), v = leaf();
  auto y = torch::sigmoid(w);
  auto sum = y.sum() + v.sum();
  y += 1;
  sum.backward({}, std::nullopt, false, std::vector<Tensor>{v});
}

int main() {
  const auto x = torch::randn({4, 4});
  notSaved(torch::randn({1, 3, 8, 8}));
  nothingRecorded(x);
  inOrder(x);
  otherMemory();
  elements();
  copied(torch::randn({2, 4, 3}));
  leaves();
  frozen(x);
  givenInputs();
}
