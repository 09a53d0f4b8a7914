// Style transfer: an image is optimised by L-BFGS, whose closure clears, computes and
// propagates; then the content network is fitted with plain gradient steps.
#include <torch/torch.h>

#include <iostream>
#include <vector>

using torch::Tensor;

struct Features : torch::nn::Module {
  Features() {
    conv1 = register_module("conv1",
                            torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)));
    conv2 = register_module("conv2",
                            torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).padding(1)));
  }

  std::vector<Tensor> forward(Tensor x) {
    auto a = torch::relu(conv1(x));
    auto b = torch::relu(conv2(torch::avg_pool2d(a, 2)));
    return {a, b};
  }

  torch::nn::Conv2d conv1{nullptr}, conv2{nullptr};
};

Tensor gram(const Tensor& x) {
  auto flat = x.flatten(2).squeeze(0);
  return flat.mm(flat.t()) / flat.numel();
}

int main() {
  torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  Features network;
  network.to(device);
  network.eval();
  for (auto& parameter : network.parameters())
    parameter.set_requires_grad(false);

  auto content = torch::rand({1, 3, 64, 64}).to(device);
  auto style = torch::rand({1, 3, 64, 64}).to(device);
  std::vector<Tensor> style_targets;
  Tensor content_target;
  {
    torch::NoGradGuard no_grad;
    for (const auto& feature : network.forward(style))
      style_targets.push_back(gram(feature));
    content_target = network.forward(content)[1];
  }

  auto image = content.clone().set_requires_grad(true);
  torch::optim::LBFGS lbfgs({image}, torch::optim::LBFGSOptions(1).max_iter(20));
  std::vector<float> curve;
  Tensor last_gradient;
  for (int step = 0; step < 30; ++step) {
    auto closure = [&]() -> Tensor {
      lbfgs.zero_grad();
      auto features = network.forward(image);
      auto loss = torch::mse_loss(features[1], content_target);
      for (size_t i = 0; i < features.size(); ++i)
        loss = loss + 1e3 * torch::mse_loss(gram(features[i]), style_targets[i]);
      loss.backward();
      curve.push_back(loss.item<float>());
      return loss;
    };
    lbfgs.step(closure);
    last_gradient = image.grad().detach().clone();
    torch::NoGradGuard no_grad;
    image.clamp_(0, 1);
  }
  std::cout << "style " << curve.front() << " -> " << curve.back() << " gradient "
            << last_gradient.norm().item<float>() << "\n";

  // Plain gradient descent by hand for a linear probe on the features.
  auto probe = torch::zeros({32, 1}, device).set_requires_grad(true);
  auto wanted = torch::ones({1024, 1}, device);
  Tensor inputs;
  {
    torch::NoGradGuard no_grad;
    inputs = network.forward(image)[1].flatten(2).squeeze(0).t().contiguous();
  }
  double error = 0;
  for (int i = 0; i < 200; ++i) {
    auto loss = (inputs.mm(probe) - wanted).square().mean();
    loss.backward();
    {
      torch::NoGradGuard no_grad;
      probe -= 0.1 * probe.grad();
    }
    probe.mutable_grad().zero_();
    error = loss.item<double>();
  }
  std::cout << "probe " << error << "\n";

  // The same by an optimizer, two passes over the data in one function object.
  auto fit = [&](double rate) {
    auto w = torch::zeros({32, 1}, device).requires_grad_();
    torch::optim::Adagrad adagrad({w}, torch::optim::AdagradOptions(rate));
    auto target = torch::ones({1024, 1}, device);
    float last = 0;
    for (int i = 0; i < 100; ++i) {
      auto loss = torch::mse_loss(inputs.mm(w), target);
      adagrad.zero_grad();
      loss.backward();
      adagrad.step();
      last = loss.item<float>();
    }
    return last;
  };
  for (double rate : {0.1, 0.01})
    std::cout << rate << " " << fit(rate) << "\n";
}
