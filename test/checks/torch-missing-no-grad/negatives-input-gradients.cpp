// RUN: %check_torch %s torch-missing-no-grad %t
//
// Evaluation that wants the gradients of its inputs: a guard would break it.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// Fast gradient sign.
Tensor adversarial(Linear net, Tensor image, Tensor label) {
  net->eval();
  image.requires_grad_(true);
  auto loss = torch::nll_loss(net->forward(image), label);
  loss.backward();
  return image + 0.03 * image.grad().sign();
}

// The same by grad(), which leaves no .grad behind.
Tensor saliency(Linear net, Tensor image) {
  net->eval();
  auto input = image.clone().set_requires_grad(true);
  auto score = std::get<0>(net->forward(input).max(1)).sum();
  return torch::autograd::grad({score}, {input})[0].abs();
}

// The penalty on the critic's gradient; the caller backwards it.
static Tensor gradientPenalty(Linear critic, Tensor real, Tensor fake) {
  auto mixed = (0.5 * real + 0.5 * fake).requires_grad_(true);
  auto scores = critic->forward(mixed);
  auto gradients =
      torch::autograd::grad({scores}, {mixed}, {torch::ones_like(scores)},
                            /*retain_graph=*/true, /*create_graph=*/true)[0];
  return (gradients.norm(2, 1) - 1).pow(2).mean();
}

void criticStep(Linear critic, torch::optim::Adam &opt, Tensor real,
                Tensor fake) {
  opt.zero_grad();
  auto loss = 10 * gradientPenalty(critic, real, fake);
  loss.backward();
  opt.step();
}

// Physics-informed: the derivative of the net is what is evaluated.
static Tensor residual(Linear net, Tensor t) {
  net->eval();
  t.set_requires_grad(true);
  auto u = net->forward(t);
  auto du = torch::autograd::grad({u}, {t}, {torch::ones_like(u)}, true, true);
  return (du[0] + u).detach();
}

// Dreams: the image is optimised, the net only evaluated.
static void dream(Linear net, Tensor image) {
  net->eval();
  image.set_requires_grad(true);
  torch::optim::Adam opt({image}, torch::optim::AdamOptions(0.01));
  for (int i = 0; i < 100; ++i) {
    opt.zero_grad();
    auto loss = -net->forward(image).norm();
    loss.backward();
    opt.step();
  }
}

// Forces of a scripted potential.
static Tensor forces(torch::jit::Module &potential, Tensor positions) {
  potential.eval();
  positions.requires_grad_(true);
  auto energy = potential.forward({positions}).toTensor();
  energy.backward();
  return -positions.grad();
}

// The score goes through a helper before it is differentiated.
static Tensor scoreOf(const Tensor &output) { return output.pow(2).sum(); }

static Tensor throughHelper(Linear net, Tensor x) {
  net->eval();
  x.requires_grad_(true);
  auto score = scoreOf(net->forward(x));
  torch::autograd::backward({score}, {});
  return x.grad();
}

// Forces are the slope of an energy: the network differentiates itself in its forward
// pass, which without a graph throws.
struct PotentialImpl : torch::nn::Module {
  PotentialImpl() { layer = register_module("layer", torch::nn::Linear(3, 1)); }
  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor positions) {
    positions.set_requires_grad(true);
    auto energy = layer->forward(positions).sum();
    auto slope = torch::autograd::grad({energy}, {positions}, {}, true, true)[0];
    return {energy, -slope};
  }
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Potential);
float forceError(Potential net, const std::vector<torch::Tensor> &atoms, torch::Tensor wanted) {
  float total = 0;
  net->eval();
  for (size_t i = 0; i < atoms.size(); ++i) {
    auto [energy, forces] = net->forward(atoms[i]);
    total += torch::mse_loss(forces, wanted).item<float>();
  }
  return total;
}

// Of what nobody names nothing would be said.
const auto named = std::make_tuple(&adversarial, &saliency, &criticStep, &forceError);

int main(int argc, char **argv) {
  Linear net(8, 2);
  auto x = torch::rand({4, 8});
  torch::jit::Module potential = torch::jit::load(argv[1]);
  std::cout << residual(net, x) << forces(potential, x) << '\n';
  std::cout << throughHelper(net, x) << '\n';
  dream(net, x);
}
