// RUN: %check_torch %s torch-repeated-transfer %t
//
// The tensor changes from iteration to iteration.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void rebound(const std::vector<Tensor> &xs, Tensor mask, torch::Device device) {
  for (const auto &x : xs) {
    auto m = mask.to(device);
    std::cout << (x * m).sum().item<float>() << '\n';
    mask = mask * 0.9;
  }
}

void inPlace(const std::vector<Tensor> &xs, torch::Device device) {
  auto a = torch::rand({64, 64}), b = torch::rand({64, 64}),
       c = torch::rand({64, 64}), d = torch::rand({64, 64});
  for (const auto &x : xs) {
    auto y = x * a.to(device) + b.to(device) + c.to(device) * d.to(device);
    std::cout << y.sum().item<float>() << '\n';
    a.mul_(0.9);
    b += 1;
    c[0] = x.cpu();
    d.copy_(x);
  }
}

// Through a view, a reference and an out argument.
void indirectly(const std::vector<Tensor> &xs, torch::Device device) {
  auto a = torch::rand({64, 64}), b = torch::rand({64, 64}),
       c = torch::rand({64, 64});
  auto row = a[0];
  Tensor &alias = b;
  for (const auto &x : xs) {
    auto y = x * a.to(device) + b.to(device) + c.to(device);
    std::cout << y.sum().item<float>() << '\n';
    row.add_(1);
    alias = alias * 2;
    torch::add_out(c, a, b);
  }
}

// The elements are written.
void byElements(const std::vector<Tensor> &xs, torch::Device device) {
  auto table = torch::zeros({64, 64});
  auto elements = table.accessor<float, 2>();
  auto buffer = torch::zeros({64});
  float *values = buffer.data_ptr<float>();
  for (size_t i = 0; i < xs.size(); ++i) {
    elements[0][0] = static_cast<float>(i);
    values[0] = static_cast<float>(i);
    auto y = xs[i] * table.to(device) + buffer.to(device);
    std::cout << y.sum().item<float>() << '\n';
  }
}

static void decay(Tensor &table) { table.mul_(0.9); }
static void replace(Tensor &table) { table = table * 0.9; }

void byHelper(const std::vector<Tensor> &xs, torch::Device device) {
  auto a = torch::rand({64, 64}), b = torch::rand({64, 64});
  for (const auto &x : xs) {
    std::cout << (x * a.to(device) * b.to(device)).sum().item<float>() << '\n';
    decay(a);
    replace(b);
  }
}

void byLambda(const std::vector<Tensor> &xs, torch::Device device) {
  auto table = torch::rand({64, 64});
  auto update = [&table](float factor) { table.mul_(factor); };
  for (const auto &x : xs) {
    std::cout << (x * table.to(device)).sum().item<float>() << '\n';
    update(0.9f);
  }
}

// Nobody knows what this does.
void refresh(Tensor table);

void byUnknown(const std::vector<Tensor> &xs, torch::Device device) {
  auto table = torch::rand({64, 64});
  for (const auto &x : xs) {
    refresh(table);
    std::cout << (x * table.to(device)).sum().item<float>() << '\n';
  }
}

void swapped(const std::vector<Tensor> &xs, torch::Device device) {
  auto front = torch::rand({64, 64}), back = torch::rand({64, 64});
  for (const auto &x : xs) {
    std::cout << (x * front.to(device)).sum().item<float>() << '\n';
    std::swap(front, back);
  }
}

// ----- trained -----

void trainedTensor(const std::vector<Tensor> &xs, torch::Device device) {
  auto weight = torch::rand({64, 64}, torch::requires_grad());
  torch::optim::SGD opt({weight}, 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    torch::matmul(x, weight.to(device)).sum().backward();
    opt.step();
  }
}

void trainedParameter(Linear net, const std::vector<Tensor> &xs) {
  torch::optim::Adam opt(net->parameters(), 1e-3);
  for (const auto &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
    std::cout << net->weight.to(torch::kCPU).norm().item<float>() << '\n';
  }
}

// By hand.
void trainedByHand(const std::vector<Tensor> &xs, torch::Device device) {
  auto weight = torch::rand({64, 64}, torch::requires_grad());
  for (const auto &x : xs) {
    torch::matmul(x, weight.to(device)).sum().backward();
    torch::NoGradGuard no_grad;
    weight -= 0.1 * weight.grad();
    weight.mutable_grad().zero_();
  }
}

// Batch normalization updates its statistics in every forward pass.
void statistics(torch::nn::BatchNorm1d norm, const std::vector<Tensor> &xs) {
  norm->train();
  for (const auto &x : xs) {
    norm->forward(x);
    std::cout << norm->running_mean.to(torch::kCPU) << '\n';
  }
}

// ----- members -----

class Average {
public:
  void run(const std::vector<Tensor> &xs, torch::Device device) {
    for (const auto &x : xs) {
      std::cout << (x * mean_.to(device)).sum().item<float>() << '\n';
      update(x);
    }
  }

private:
  void update(const Tensor &x) { mean_ = 0.9 * mean_ + 0.1 * x.cpu(); }
  Tensor mean_ = torch::zeros({64, 64});
};

class Moving {
public:
  float step(const Tensor &x, torch::Device device) {
    state_.mul_(0.9).add_(x.cpu(), 0.1);
    return (x * state_.to(device)).sum().item<float>();
  }

private:
  Tensor state_ = torch::zeros({64, 64});
};

void callsStep(const std::vector<Tensor> &xs, torch::Device device) {
  Moving moving;
  for (const auto &x : xs)
    std::cout << moving.step(x, device) << '\n';
}

// ----- another device each time -----

void replicas(const Tensor &weights, int count) {
  std::vector<Tensor> copies;
  for (int index = 0; index < count; ++index)
    copies.push_back(weights.to(torch::Device(torch::kCUDA, index)));
  std::cout << copies.size() << '\n';
}

void toDevices(const Tensor &weights, const std::vector<torch::Device> &devices) {
  for (const auto &device : devices)
    std::cout << weights.to(device).sum().item<float>() << '\n';
}
