// Physics informed network for the viscous Burgers equation
//     u_t + u u_x = nu u_xx,   u(0, x) = -sin(pi x),   u(t, +-1) = 0.
#include <torch/torch.h>
#include <cmath>
#include <cstdio>

using namespace torch;

namespace {

const double nu = 0.01 / M_PI * 10;

class FieldImpl : public nn::Module {
 public:
  FieldImpl(int width, int depth) {
    int64_t in = 2;
    for (int i = 0; i < depth; ++i) {
      layers->push_back(nn::Linear(in, width));
      layers->push_back(nn::Tanh());
      in = width;
    }
    layers->push_back(nn::Linear(in, 1));
    register_module("layers", layers);
  }
  Tensor forward(const Tensor& t, const Tensor& x) { return layers->forward(torch::cat({t, x}, 1)); }

 private:
  nn::Sequential layers;  // RIGHT: torch-unregistered-module (registered at the end of the constructor)
};
TORCH_MODULE(Field);

Tensor derivative(const Tensor& of, const Tensor& by, const Tensor& seed) {
  return autograd::grad({of}, {by}, {seed}, /*retain_graph=*/true, /*create_graph=*/true)[0];
}

Tensor residual(Field& field, Tensor t, Tensor x, const Tensor& seed) {
  auto u = field->forward(t, x);
  auto u_t = derivative(u, t, seed);
  auto u_x = derivative(u, x, seed);
  auto u_xx = derivative(u_x, x, seed);
  return u_t + u * u_x - nu * u_xx;
}

double meanResidual(Field& field, int64_t n) {
  field->eval();
  auto t = torch::rand({n, 1}).requires_grad_();
  auto x = (torch::rand({n, 1}) * 2 - 1).requires_grad_();
  auto r = residual(field, t, x, torch::ones({n, 1}));  // RIGHT: torch-missing-no-grad (the residual is made of derivatives of the network by its inputs)
  field->train();
  return r.detach().abs().mean().item<double>();
}

}  // namespace

int main() {
  torch::manual_seed(1234);
  Field field(20, 3);
  optim::Adam adam(field->parameters(), optim::AdamOptions(2e-3));

  const int64_t n = 256;
  const auto seed = torch::ones({n, 1});
  auto x0 = torch::linspace(-1, 1, 64).unsqueeze(1);
  auto u0 = -torch::sin(M_PI * x0);
  auto t0 = torch::zeros_like(x0);
  auto edge = torch::ones({64, 1});

  double best = INFINITY;
  for (int epoch = 0; epoch < 200; ++epoch) {
    auto t = torch::rand({n, 1}, torch::requires_grad());  // RIGHT: torch-allocation-in-loop (collocation points are leaves of their own in each iteration)
    auto x = torch::empty({n, 1}).uniform_(-1, 1).requires_grad_();  // RIGHT: torch-allocation-in-loop (likewise)
    auto tb = torch::rand({64, 1});

    auto physics = residual(field, t, x, seed).square().mean();
    auto initial = torch::mse_loss(field->forward(t0, x0), u0);
    auto boundary = field->forward(tb, edge).square().mean() + field->forward(tb, -edge).square().mean();
    auto loss = physics + initial + boundary;

    adam.zero_grad();
    loss.backward();
    adam.step();
    best = std::min(best, loss.item<double>());  // RIGHT: torch-retained-graph (a number)
  }

  // A last refinement with LBFGS on fixed points.
  auto t = torch::rand({n, 1}).requires_grad_();
  auto x = (torch::rand({n, 1}) * 2 - 1).requires_grad_();
  optim::LBFGS lbfgs(field->parameters(), optim::LBFGSOptions(0.5).max_iter(10));
  for (int i = 0; i < 3; ++i) {
    auto value = lbfgs.step([&]() -> Tensor {  // RIGHT: torch-missing-zero-grad (the closure clears the gradients)
      lbfgs.zero_grad();
      auto loss = residual(field, t, x, seed).square().mean() + torch::mse_loss(field->forward(t0, x0), u0);
      loss.backward();
      return loss;
    });
    std::printf("lbfgs %d: %.5f\n", i, value.item<double>());
  }
  std::printf("adam best %.5f, residual %.5f\n", best, meanResidual(field, 512));
  return 0;
}
