// RUN: %check_torch %s torch-missing-zero-grad %t
//
// The gradients are cleared by hand, tensor by tensor. A loop over the
// parameters may run zero times on paper; then there are no gradients either.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void gradZero(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    for (auto &p : net->parameters())
      p.grad().zero_();
  }
}

// Undefined before the first backward(), so the test is needed.
void gradZeroIfDefined(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    for (const auto &p : net->parameters()) {
      if (!p.grad().defined())
        continue;
      p.grad().detach_();
      p.grad().zero_();
    }
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void emptyTensor(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    for (auto &p : net->parameters())
      p.mutable_grad() = Tensor();
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

void emptyBraces(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    for (auto &item : net->named_parameters())
      item.value().mutable_grad() = Tensor{};
  }
}

void resetGrad(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    net->weight.mutable_grad().reset();
    net->bias.mutable_grad().reset();
  }
}

void throughParamGroups(Linear net, Tensor x, Tensor y) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    for (auto &group : opt.param_groups())
      for (auto &p : group.params())
        p.mutable_grad().zero_();
  }
}

// The data of the gradient; also fill_(0) clears.
void dataOfGrad(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    for (auto &p : net->parameters())
      if (p.grad().defined())
        p.grad().data().fill_(0);
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}

// Set to new values after each backward(): nothing of the old sum is left.
void replaced(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    for (auto &p : net->parameters())
      p.mutable_grad() = torch::randn_like(p) * 0.01;
    opt.step();
  }
}

// An optimizer over one tensor, cleared by the tensor.
void oneTensor(Linear net, Tensor content, Tensor target) {
  auto image = content.clone().set_requires_grad(true);
  torch::optim::Adam opt({image}, torch::optim::AdamOptions(0.01));
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(image), target).backward();
    opt.step();
    image.mutable_grad() = Tensor();
  }
}

// The parameters are kept in a vector of their own.
void ownVector(Linear net, Tensor x, Tensor y) {
  std::vector<Tensor> params = net->parameters();
  torch::optim::SGD opt(params, 0.1);
  for (int i = 0; i < 10; ++i) {
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
    std::for_each(params.begin(), params.end(),
                  [](Tensor &p) { p.grad().zero_(); });
  }
}

static void clearAll(const std::vector<Tensor> &params) {
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < params.size(); ++i)
    if (params[i].grad().defined())
      params[i].grad().zero_();
}

void byHelper(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    clearAll(net->parameters());
    torch::mse_loss(net->forward(x), y).backward();
    opt.step();
  }
}
