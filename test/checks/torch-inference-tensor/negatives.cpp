// RUN: %check_torch %s torch-inference-tensor %t
//
// What is made in inference mode and may be used so.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::optim::SGD;

static Tensor make() {
  c10::InferenceMode guard;
  return torch::zeros({4, 4});
}

// The callers may be in inference mode; nothing shows that they are not.
void unknown() {
  Tensor seen = make();
  seen.add_(1);
}

static Tensor normal(bool isFast) {
  if (isFast) {
    c10::InferenceMode guard;
    return torch::zeros({4, 4});
  }
  return torch::zeros({4, 4});
}
static Tensor leftAgain() {
  c10::InferenceMode guard;
  c10::InferenceMode none(false);
  return torch::zeros({4, 4});
}
static Tensor noGrad() {
  torch::NoGradGuard no_grad;
  return torch::zeros({4, 4});
}
static Tensor asked(bool isFast) {
  c10::InferenceMode guard(isFast);
  return torch::zeros({4, 4});
}

static void renew(Tensor &x) { x = torch::zeros({4, 4}); }

int main(int argc, char **) {
  // In inference mode again.
  Tensor again = make();
  {
    c10::InferenceMode guard;
    again.add_(1);
  }
  // Copies, and aliases with a version of their own.
  Tensor copy = make().clone();
  copy.add_(1);
  Tensor detached = make().detach();
  detached.add_(1);
  Tensor source = make();
  source.detach().add_(1);
  source.data().add_(1);
  Tensor other = source.to(torch::kDouble);
  other.add_(1);
  // Another tensor takes its place.
  Tensor replaced = make();
  replaced = torch::zeros({4, 4});
  replaced.add_(1);
  Tensor changed = make();
  if (argc > 2)
    changed = changed * 2;
  changed.add_(1);
  Tensor chosen = argc > 1 ? make() : torch::zeros({4, 4});
  chosen.add_(1);
  Tensor reset = make();
  renew(reset);
  reset.add_(1);
  Tensor given = make();
  given.set_data(torch::zeros({4, 4}));
  given.add_(1);
  // Perhaps, or not, made in inference mode.
  Tensor either = normal(argc > 1);
  either.add_(1);
  Tensor left = leftAgain();
  left.add_(1);
  Tensor guarded = noGrad();
  guarded.add_(1);
  Tensor perhaps = asked(argc > 1);
  perhaps.add_(1);
  // Read only, or written into something else.
  Tensor sum = torch::zeros({4, 4});
  sum.add_(make());
  sum.copy_(make());
  std::cout << make() + 1;

  // Nothing is saved: not recorded, frozen, nothing to train, a copy.
  Linear net(4, 2), frozen(4, 2);
  for (Tensor &p : frozen->parameters())
    p.requires_grad_(false);
  std::cout << frozen->forward(make()) << torch::nn::ReLU()->forward(make());
  SGD optimizer(net->parameters(), 0.1);
  net->forward(make().clone()).sum().backward();
  optimizer.step();
  {
    torch::NoGradGuard no_grad;
    std::cout << net->forward(make());
  }

  // A module that only infers, or whose parameters become others.
  std::shared_ptr<torch::nn::LinearImpl> layer;
  {
    c10::InferenceMode guard;
    layer = std::make_shared<torch::nn::LinearImpl>(4, 2);
  }
  std::cout << layer->forward(torch::ones({1, 4}));
}

void moved(Tensor x) {
  std::shared_ptr<torch::nn::LinearImpl> layer;
  {
    c10::InferenceMode guard;
    layer = std::make_shared<torch::nn::LinearImpl>(4, 2);
  }
  layer->to(torch::kDouble);
  layer->forward(x).sum().backward();
}
