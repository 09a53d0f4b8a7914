// Draws samples from a small diffusion model.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <vector>

using namespace torch::indexing;

struct DenoiserImpl : torch::nn::Module {
  DenoiserImpl(int64_t size, int64_t wide)
      : in(size + 16, wide), middle(wide, wide), out(wide, size), size_(size) {
    register_module("in", in);
    register_module("middle", middle);
    register_module("out", out);
  }

  // Sines and cosines of the time.
  torch::Tensor embed(const torch::Tensor& t) {
    auto rates = torch::exp(torch::arange(8, t.device()) * (-std::log(1e4) / 8));
    auto angle = t.unsqueeze(1) * rates;
    return torch::cat({angle.sin(), angle.cos()}, 1);
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& t) {
    auto h = torch::silu(in(torch::cat({x, embed(t)}, 1)));
    h = h + torch::silu(middle(h));
    return out(h);
  }

  torch::nn::Linear in, middle, out;
  int64_t size_;
};
TORCH_MODULE(Denoiser);

struct Schedule {
  Schedule(int64_t steps, torch::Device device) {
    beta = torch::linspace(1e-4, 0.02, steps, torch::TensorOptions().device(device));
    alpha = 1 - beta;
    product = alpha.cumprod(0);
  }
  torch::Tensor beta, alpha, product;
};

torch::Tensor sample(Denoiser& net, const Schedule& schedule, int64_t count,
                     std::vector<torch::Tensor>* = nullptr) {
  c10::InferenceMode mode;
  const auto device = schedule.beta.device();
  auto x = torch::randn({count, net->size_}, device);
  for (int64_t step = schedule.beta.numel() - 1; step >= 0; --step) {
    auto t = torch::full({count}, static_cast<double>(step), torch::dtype(torch::kFloat32).device(device));
    auto noise = net(x, t);
    auto mean = (x - schedule.beta[step] / (1 - schedule.product[step]).sqrt() * noise) /
                schedule.alpha[step].sqrt();
    x = step > 0 ? mean + schedule.beta[step].sqrt() * torch::randn_like(x) : mean;
  }
  return x;
}

double fit(Denoiser& net, const Schedule& schedule, const torch::Tensor& data, int64_t steps) {
  const auto device = schedule.beta.device();
  torch::optim::AdamW adam(net->parameters(), 2e-3);
  double smooth = 1;
  for (int64_t i = 0; i < steps; ++i) {
    auto x = data.narrow(0, (i * 32) % (data.size(0) - 32), 32).to(device);
    auto t = torch::randint(schedule.beta.numel(), {x.size(0)}, torch::device(device).dtype(torch::kLong));
    auto a = schedule.product.index_select(0, t).unsqueeze(1);
    auto noise = torch::randn_like(x);
    auto keep = torch::ones({x.size(0), 1}, x.options());
    keep.index_put_({Slice(None, None, 8)}, 0.5);
    auto said = net->forward(a.sqrt() * x + (1 - a).sqrt() * noise, t.to(torch::kFloat32));
    auto loss = (keep * (said - noise).square()).mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
    smooth = 0.95 * smooth + 0.05 * loss.item<double>();
  }
  return smooth;
}

// Many pictures, in portions that fit the memory of a small card.
torch::Tensor gallery(Denoiser& net, const Schedule& schedule, int64_t wanted, int64_t portion) {
  std::vector<torch::Tensor> pictures;
  for (int64_t done = 0; done < wanted; done += portion)
    pictures.push_back(sample(net, schedule, std::min(portion, wanted - done)).cpu());
  return torch::cat(pictures);
}

// How far the marginals are from those of the data, bin by bin.
double distance(const torch::Tensor& made, const torch::Tensor& real) {
  auto a = torch::histc(made, 64, -3, 3), b = torch::histc(real, 64, -3, 3);
  auto of_a = a.accessor<float, 1>();
  auto of_b = b.accessor<float, 1>();
  double sum = 0;
  for (int64_t i = 0; i < of_a.size(0); ++i)
    sum += std::abs(of_a[i] / made.numel() - of_b[i] / real.numel());
  return sum;
}

int main() {
  torch::manual_seed(1);
  torch::Device device(torch::kCPU);
  if (torch::cuda::is_available())
    device = torch::Device(torch::kCUDA);
  Denoiser net(12, 48);
  net->to(device);
  Schedule schedule(20, device);
  auto data = torch::randn({512, 12}) * torch::linspace(0.2, 1, 12);
  std::cout << "loss " << fit(net, schedule, data, 60) << std::endl;
  net->eval();
  auto pictures = gallery(net, schedule, 100, 16);
  std::cout << pictures.sizes() << " distance " << distance(pictures, data) << std::endl;
}
