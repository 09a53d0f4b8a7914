// RUN: %check_torch %s torch-allocate-on-device %t
//
// What is made of data of the host, or there already, or once.

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);

Tensor ofData(float *data, int64_t n, const std::vector<float> &v, torch::Device device) {
  return torch::from_blob(data, {n}).to(device) + torch::tensor({1.0f, 2.0f}).to(device) +
         torch::tensor(v).to(device) + torch::scalar_tensor(2).to(device);
}
Tensor filled(int64_t n, torch::Device device) {
  auto x = torch::zeros({n});
  auto a = x.accessor<float, 1>();
  for (int64_t i = 0; i < n; ++i)
    a[i] = float(i);
  auto y = torch::empty({n});
  y[0] = 1;
  y = y.to(device);
  auto z = torch::zeros({n}).index_fill_(0, torch::tensor({1}), 2).to(device);
  return x.to(device) + y + z + (torch::rand({n}) * 2).to(device);
}
Tensor kept(int64_t n, torch::Device device) {
  auto host = torch::zeros({n});
  auto there = host.to(device);
  use(host);
  return there;
}
Tensor branch(int64_t n, bool gpu) {
  auto x = torch::zeros({n});
  if (gpu)
    x = x.to(torch::kCUDA);
  return x;
}
Tensor there(int64_t n, Tensor x, const torch::TensorOptions &options, torch::Device device) {
  return torch::zeros({n}, options).to(device) + torch::zeros({n}, device).to(device) +
         torch::zeros_like(x).to(device) + x.new_zeros({n}).to(device) +
         torch::zeros({n}).to(torch::kCPU) + torch::zeros({n}).to(torch::kDouble) +
         torch::arange(n).toType(torch::kFloat);
}
// Once, and small.
Tensor anchors(torch::Device device) { return torch::zeros({4, 4}).to(device); }
struct State {
  Tensor h;
  void step(const Tensor &x) {
    if (!h.defined())
      h = torch::zeros({x.size(0), 64}).to(x.device());
    h = h + x;
  }
};
struct Net : torch::nn::Module {
  Tensor mask;
  Net(int64_t n, torch::Device device) {
    mask = register_buffer("mask", torch::ones({n, n}).to(device));
  }
  Tensor forward(Tensor x) { return x * mask; }
};

// Once for all batches of an epoch, and once before many passes.
void epochs(torch::nn::LSTM net, torch::optim::SGD &opt, const std::vector<Tensor> &batches,
            int64_t n, torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto h = torch::zeros({1, n, 64}).to(device), c = torch::zeros({1, n, 64}).to(device);
    for (const Tensor &x : batches) {
      opt.zero_grad();
      auto [y, state] = net->forward(x, std::make_tuple(h, c));
      h = std::get<0>(state).detach(), c = std::get<1>(state).detach();
      y.sum().backward();
      opt.step();
    }
  }
}
Tensor denoise(torch::nn::Linear net, int64_t n, int64_t steps, torch::Device device) {
  torch::NoGradGuard no_grad;
  auto z = torch::randn({n, 3, n, n}).to(device);
  for (int64_t t = 0; t < steps; ++t)
    z = z - net->forward(z);
  return z;
}
void fit(torch::nn::Linear net, torch::optim::SGD &opt, int64_t n, torch::Device device) {
  auto x = torch::randn({n, 64}).to(device);
  for (int64_t i = 0; i < 1000; ++i) {
    opt.zero_grad();
    net(x).sum().backward();
    opt.step();
  }
}

// On the side of the CPU, or called from there only, nothing is copied.
struct Globals {
  torch::Device device = torch::kCUDA;
  std::vector<Tensor> inputs;
};
static Tensor state(int64_t n, const torch::Device &device) {
  Tensor planes = torch::zeros({n, 8, 8}).to(device);
  planes[0][1].fill_(1);
  return planes;
}
void batches(Globals &g, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    Tensor batch;
    if (g.device == torch::kCPU) {
      batch = torch::zeros({n, 119, 8, 8}).to(g.device);
      use(state(n, g.device));
    } else {
      batch = torch::zeros({n, 119, 8, 8}, g.device);
    }
    use(batch);
    use(g.device.is_cuda() ? torch::zeros({n, 8}, g.device) : torch::zeros({n, 8}).to(g.device));
    if (!torch::cuda::is_available())
      use(torch::rand({n, n}).to(g.device));
    if (g.device.type() != torch::kCUDA)
      use(torch::rand({n, n}).to(g.device));
  }
}
