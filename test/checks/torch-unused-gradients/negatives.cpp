// RUN: %check_torch %s torch-unused-gradients %t
//
// What looks like it and is right, or cannot be told.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::Adam;
using torch::optim::SGD;
using Batches = std::vector<Tensor>;

// Under a guard; detached is not this check's; frozen.
static void freeze(Linear &net) {
  for (auto &p : net->parameters())
    p.requires_grad_(false);
}
void guarded(const Batches &batches) {
  Linear backbone(8, 4), head(4, 2), frozen(8, 4);
  freeze(frozen);
  SGD opt(head->parameters(), 0.1);
  for (const Tensor &x : batches) {
    Tensor features;
    {
      torch::NoGradGuard guard;
      features = backbone->forward(x);
    }
    opt.zero_grad();
    (head->forward(features) + head->forward(frozen->forward(x))).mean().backward();
    opt.step();
  }
}

// Some optimizer trains it, or a part of it; by hand; nobody knows.
void unknown(const Batches &batches, SGD &other);
void trained(const Batches &batches, SGD &given) {
  Linear backbone(8, 4), head(4, 2);
  SGD first(backbone->parameters(), 0.1), opt(head->parameters(), 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    head->forward(backbone->forward(x)).mean().backward();
    opt.step();
    first.step();
    first.zero_grad();
  }
  Linear net(8, 4);
  for (const Tensor &x : batches) {
    net->zero_grad();
    head->forward(net->forward(x)).mean().backward();
    opt.step();
    torch::NoGradGuard guard;
    for (auto &p : net->parameters())
      p -= 0.1 * p.grad();
  }
  Linear mystery(8, 4);
  for (const Tensor &x : batches) {
    given.zero_grad();
    head->forward(mystery->forward(x)).mean().backward();
    given.step();
  }
}
void part() {
  Linear last(4, 2);
  Sequential net(Linear(8, 4), torch::nn::ReLU(), last);
  SGD opt(last->parameters(), 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    net->forward(torch::rand({2, 8})).mean().backward();
    opt.step();
  }
}

// The input needs a gradient: style, saliency, an attack, another network's
// output that is compared by its features.
void inputs(const Batches &batches) {
  Linear features(8, 4), net(8, 8);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    Tensor wanted;
    {
      torch::NoGradGuard guard;
      wanted = features->forward(x);
    }
    torch::mse_loss(features->forward(net->forward(x)), wanted).backward();
    opt.step();
  }
  auto image = torch::rand({1, 8}).requires_grad_();
  Adam adam(std::vector<Tensor>{image}, 0.1);
  for (int i = 0; i < 9; ++i) {
    adam.zero_grad();
    features->forward(image).mean().backward();
    adam.step();
  }
}
void attack(const Batches &batches) {
  Linear victim(8, 4), net(8, 4);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &each : batches) {
    auto x = each.clone().set_requires_grad(true);
    opt.zero_grad();
    torch::mse_loss(net->forward(x), victim->forward(x)).backward();
    opt.step();
    std::cout << x.grad().abs().max();
  }
}
// An optimizer has a tensor of the caller's: it may be this one.
void pixels(Tensor image, Tensor other) {
  Linear features(8, 4);
  Adam opt(std::vector<Tensor>{other}, 0.1);
  for (int i = 0; i < 9; ++i) {
    opt.zero_grad();
    (features->forward(image).mean() + other).backward();
    opt.step();
  }
}

// The derivative is asked for, or some leaves only get one.
void derivatives(const Batches &batches) {
  Linear teacher(8, 4), net(8, 4);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    auto y = teacher->forward(x);
    auto slope = torch::autograd::grad({y.sum()}, teacher->parameters())[0];
    (net->forward(x) - slope.sum()).mean().backward();
    opt.step();
    auto loss = torch::mse_loss(net->forward(x), teacher->forward(x));
    loss.backward({}, false, false, net->parameters());
    opt.step();
  }
}

// It is from elsewhere, or goes there; its gradients are read.
void elsewhere(Linear teacher, const Batches &batches) {
  Linear net(8, 4);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    torch::mse_loss(net->forward(x), teacher->forward(x)).backward();
    opt.step();
  }
}
void train(Linear net);
Linear given(const Batches &batches) {
  Linear one(8, 4), two(8, 4), three(8, 4), net(8, 4);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    (one->forward(x) * net->forward(x)).mean().backward();
    opt.step();
    std::cout << one->weight.grad().norm();
  }
  for (const Tensor &x : batches) {
    opt.zero_grad();
    (two->forward(x) * net->forward(x)).mean().backward();
    opt.step();
    train(two);
  }
  for (const Tensor &x : batches) {
    opt.zero_grad();
    (three->forward(x) * net->forward(x)).mean().backward();
    opt.step();
  }
  return three;
}

// One optimizer for all; it is evaluated only (torch-missing-no-grad).
void together(const Batches &batches) {
  Linear backbone(8, 4), head(4, 2);
  auto all = backbone->parameters();
  for (const Tensor &p : head->parameters())
    all.push_back(p);
  SGD opt(all, 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    head->forward(backbone->forward(x)).mean().backward();
    opt.step();
  }
}

// A helper that the network that is trained goes through as well: the pass of
// the other is made in a function of its own, under a guard.
static Tensor run(Linear &net, const Tensor &x) { return net->forward(x); }
void helper(const Batches &batches) {
  Linear teacher(8, 4), net(8, 4);
  SGD opt(net->parameters(), 0.1);
  for (const Tensor &x : batches) {
    opt.zero_grad();
    Tensor wanted;
    {
      torch::NoGradGuard guard;
      wanted = run(teacher, x);
    }
    torch::mse_loss(run(net, x), wanted).backward();
    opt.step();
  }
}
