// RUN: %check_torch %s torch-unused-gradients %t
//
// Features of fixed images: a backward() goes through the graph, but only to
// parameters that no optimizer of the program trains.

#include <torch/torch.h>

using torch::Tensor;

struct FeaturesImpl : torch::nn::Module {
  FeaturesImpl() { register_module("body", body); }
  Tensor forward(const Tensor &x) { return body->forward(x); }
  torch::nn::Linear body{8, 8};
};
TORCH_MODULE(Features);

Tensor readImage(const char *path);

// An image whose pixels are the parameter: what is registered is the argument.
struct CanvasImpl : torch::nn::Module {
  explicit CanvasImpl(const Tensor &start) {
    pixels = start.clone();
    register_parameter("pixels", pixels, true);
  }
  Tensor forward() { return pixels; }
  Tensor pixels;
};
TORCH_MODULE(Canvas);

static void paint(Features &features, const Tensor &style) {
  Canvas canvas(style);
  torch::optim::Adam opt(canvas->parameters());
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    torch::mse_loss(features->forward(canvas->forward()), style).backward();
    opt.step();
  }
}

int main() {
  Features features;
  auto content = readImage("content.png");
  auto target = content.clone().set_requires_grad(true);
  torch::optim::SGD opt(std::vector<Tensor>{target}, 0.1);
  for (int i = 0; i < 10; ++i) {
    auto wanted = features->forward(content);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'features' records a graph, and backward() goes through it for gradients that no optimizer uses (memory, time); put 'torch::NoGradGuard no_grad;' around it, or set 'requires_grad_(false)' on its parameters [torch-unused-gradients]
    // The gradient of the image goes through this one.
    auto reached = features->forward(target);
    opt.zero_grad();
    torch::mse_loss(reached, wanted).backward();
    opt.step();
  }
  paint(features, content);
}
