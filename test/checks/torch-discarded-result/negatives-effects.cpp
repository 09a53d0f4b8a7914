// RUN: %check_torch %s torch-discarded-result %t
//
// Calls that do something, and results that somebody takes.

#include <torch/torch.h>

using torch::Tensor;
namespace F = torch::nn::functional;

Tensor use(Tensor x);

// In place, also on a view, on a temporary and with an output of their own.
Tensor inPlace(Tensor x, Tensor y, Tensor out) {
  x.add_(1);
  x.clamp_(0, 1).mul_(2);
  x.index_put_({0}, 1.0);
  x.copy_(y);
  x.t_();
  x.squeeze_();
  x.resize_({4, 4});
  x.detach_();
  x.requires_grad_();
  x.set_data(y);
  x += y;
  x[0] = 1;
  x.select(0, 1).zero_();
  x.index({0}).fill_(1);
  torch::relu_(x);
  torch::add_out(out, x, y);
  torch::matmul_outf(x, y, out);
  torch::nn::init::xavier_uniform_(x);
  F::relu(x, F::ReLUFuncOptions().inplace(true));
  F::hardtanh(x, F::HardtanhFuncOptions().inplace(true));
  return x + out;
}

// Modules move in place; running one updates its statistics.
Tensor modules(torch::nn::Linear net, torch::jit::Module script, Tensor x,
               torch::nn::Sequential stack, std::shared_ptr<torch::nn::Module> any,
               torch::Device device) {
  net->to(device);
  net->to(torch::kFloat);
  script.to(device);
  stack->to(device);
  any->to(device);
  stack->forward(x);
  net(x);
  net->forward(x).sum();
  script.forward({x}).toTensor().cpu();
  return net(x);
}

// The generator advances; the device starts; statistics are updated.
Tensor sideEffects(Tensor x, Tensor mean, Tensor var, torch::Device device) {
  torch::manual_seed(1);
  torch::rand({4});
  torch::randn_like(x);
  x.bernoulli();
  torch::multinomial(x, 2);
  torch::dropout(x, 0.5, true);
  torch::zeros({1}, device);
  torch::zeros({1}).to(device);
  torch::ones({2, 2}, device).sum();
  torch::empty({1 << 20}, device);
  torch::batch_norm(x, {}, {}, mean, var, true, 0.1, 1e-5, true);
  F::batch_norm(x, mean, var, F::BatchNormFuncOptions().training(true));
  x.retain_grad();
  return x + mean + var;
}

// The user's own functions that write, print, count, throw, or are not seen.
struct ImageData {
  Tensor image;
  int moves = 0;
  void to(torch::Device device) { image = image.to(device); }
  ImageData &cuda() {
    image = image.cuda();
    return *this;
  }
  Tensor counted() {
    ++moves;
    return image.clone();
  }
};
Tensor logged(Tensor x) {
  std::cout << x.sizes() << '\n';
  return x.cuda();
}
Tensor checked(Tensor x) {
  TORCH_CHECK(x.dim() == 4, "expected a batch");
  return x.contiguous();
}
Tensor filled(Tensor x) {
  x.fill_(1);
  return x;
}
Tensor written(Tensor x) {
  x[0] = 1;
  return x.clone();
}
static std::vector<Tensor> history;
Tensor remembered(Tensor x) {
  history.push_back(x);
  return x.detach();
}
Tensor noisy(Tensor x) { return x + torch::randn_like(x); }
Tensor moveInto(Tensor &x) { return x = x.cuda(); }
Tensor unseen(Tensor x);
struct Base {
  virtual ~Base() = default;
  virtual Tensor prepare(Tensor x) { return x.cuda(); }
};

Tensor helpers(ImageData data, Tensor x, Base &base, torch::Device device) {
  data.to(device);
  data.cuda();
  data.counted();
  logged(x);
  checked(x);
  filled(x);
  written(x);
  remembered(x);
  noisy(x);
  moveInto(x);
  unseen(x);
  base.prepare(x);
  return x + data.image;
}

// Taken, or meant.
Tensor taken(Tensor x, torch::Device device, bool isCuda) {
  (void)x.to(device);
  static_cast<void>(x.cpu());
  std::ignore = x.contiguous();
  [[maybe_unused]] auto unused = x.to(device);
  Tensor y = isCuda ? x.cuda() : x.cpu();
  if (x.sum().item<float>() > 0)
    y = x.neg();
  for (Tensor z = x; z.numel() > 1; z = z.slice(0, 1))
    y = y + z.sum();
  return y.to(device);
}

// Sizes are only read.
Tensor metadata(Tensor x) {
  x.size(0);
  x.dim();
  x.sizes();
  x.device();
  x.defined();
  x.is_cuda();
  return x;
}
