// inverse problem for a reaction-diffusion column: fit rate constants and a source
// profile to measured concentrations, with a small closure network on top.
// ported from the notebook, keep the names of the paper (u, v, k, D)
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
namespace nn = torch::nn;

const auto f64 = torch::TensorOptions().dtype(torch::kFloat64);

struct Grid {
  int64_t n = 128;
  double dx = 1.0 / 127;
  double dt = 2e-5;
  torch::Device device{torch::kCPU};
  torch::TensorOptions opts() const { return f64.device(device); }
};

// ---- custom ops ------------------------------------------------------------

// Arrhenius-like factor with a cheap gradient, out = exp(-e / T)
struct Arrhenius : public torch::autograd::Function<Arrhenius> {
  static Tensor forward(AutogradContext* ctx, const Tensor& e, const Tensor& temp) {
    auto rate = torch::exp(-e / temp);
    ctx->save_for_backward({temp});
    ctx->saved_data["rate"] = rate;  // EXPECT: torch-saved-data
    return rate;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    auto temp = ctx->get_saved_variables()[0];
    auto rate = ctx->saved_data["rate"].toTensor();
    return {-(g[0] * rate / temp), Tensor()};
  }
};

// saturation u / (1 + |u|/s)
struct Saturate : public torch::autograd::Function<Saturate> {
  static Tensor forward(AutogradContext* ctx, const Tensor& u, double s) {
    auto d = 1.0 + u.abs() / s;
    ctx->saved_data["scale"] = s;
    ctx->saved_data["denominator"] = d;  // RIGHT: torch-saved-data
    return u / d;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    auto d = ctx->saved_data["denominator"].toTensor();
    return {g[0] / d.square(), Tensor()};
  }
};

// ---- physics ---------------------------------------------------------------

Tensor laplacian(const Tensor& u, const Grid& g) {
  auto left = torch::cat({u.slice(0, 0, 1), u.slice(0, 0, -1)});
  auto right = torch::cat({u.slice(0, 1), u.slice(0, -1)});
  return torch::sub(left + right, u, 2.0) / (g.dx * g.dx);
}

struct Physics {
  Tensor log_k;    // [2]
  Tensor source;   // [n]
  Tensor energy;   // [1]
};

Tensor rates(const Physics& p, const Tensor& u, const Tensor& temp) {
  auto arr = Arrhenius::apply(p.energy, temp);
  return torch::exp(p.log_k[0]) * arr * Saturate::apply(u, 2.0) - p.source;
}

// implicit-ish step, the stiff form damps the factor
Tensor stiff_step(const Tensor& u, const Physics& p, const Tensor& temp, const Grid& g) {
  auto decay = torch::exp(-torch::exp(p.log_k[1]) * g.dt * temp);
  auto pred = u * decay;
  decay.add_(1.0).mul_(0.5);  // EXPECT: torch-inplace-saved
  return torch::addcmul(pred, decay, p.source, g.dt);
}

Tensor soft_step(const Tensor& u, const Physics& p, const Tensor& temp, const Grid& g) {
  auto r = rates(p, u, temp);
  auto next = torch::add(u, laplacian(u, g), g.dt);
  next.sub_(r, g.dt);  // RIGHT: torch-inplace-saved
  return next;
}

Tensor trajectory(Tensor u, const Physics& p, const Tensor& temp, const Grid& g, int steps, bool stiff) {
  std::vector<Tensor> all;
  for (int i = 0; i < steps; i++) {
    u = stiff ? stiff_step(u, p, temp, g) : soft_step(u, p, temp, g);
    all.push_back(u);
  }
  return torch::stack(all);  // RIGHT: torch-cat-in-loop
}

// ---- closure network -------------------------------------------------------

struct ClosureImpl : nn::Module {
  ClosureImpl(int64_t width) {
    l1 = register_module("l1", nn::Linear(3, width));
    l2 = register_module("l2", nn::Linear(width, 1));
    gain = register_parameter("gain", torch::full({1}, 0.1, f64));  // RIGHT: torch-non-leaf-parameter
    to(torch::kFloat64);
  }
  Tensor forward(const Tensor& x) { return gain * l2(torch::tanh(l1(x))).squeeze(-1); }
  nn::Linear l1{nullptr}, l2{nullptr};
  Tensor gain;
};
TORCH_MODULE(Closure);

Tensor features(const Tensor& u, const Tensor& temp, const Grid& g) {
  return torch::stack({u, temp, laplacian(u, g) * 1e-3}, 1);
}

// exponential average of the weights for the reported solution
void average_into(Closure& avg, Closure& net, double beta) {
  torch::NoGradGuard ng;
  auto dst = avg->parameters();
  auto src = net->parameters();
  for (size_t i = 0; i < dst.size(); i++) {
    Tensor w = dst[i];
    w = torch::lerp(src[i], w, beta);  // EXPECT: torch-parameter-copy
  }
}

void copy_into(Closure& avg, Closure& net) {
  torch::NoGradGuard ng;
  auto src = net->named_parameters();
  for (auto& item : avg->named_parameters()) {
    Tensor w = item.value();
    w.copy_(src[item.key()]);  // RIGHT: torch-parameter-copy
  }
}

// ---- fits ------------------------------------------------------------------

struct Guess {
  Tensor log_k = torch::full({2}, -1.0, f64.requires_grad(true));
  Tensor source = torch::zeros({128}, f64.requires_grad(true));
  Tensor energy = torch::full({1}, 0.5, f64.requires_grad(true));
};

using Project = std::function<void(Physics&)>;

void keep_inside(Physics& p) {
  p.source.slice(0, 0, 4).zero_();  // EXPECT: torch-leaf-inplace
}

void keep_positive(Physics& p) {
  torch::NoGradGuard ng;
  p.source.clamp_(0.0);  // RIGHT: torch-leaf-inplace
}

void keep_ends(Physics& p) {
  p.source.detach().slice(0, 0, 4).zero_();  // RIGHT: torch-leaf-inplace
}

double fit(const Guess& guess, const Tensor& u0, const Tensor& obs, const Tensor& temp, const Grid& g,
           const Project& project, bool stiff) {
  Physics p{guess.log_k.to(g.device), guess.source.to(g.device), guess.energy.to(g.device)};
  torch::optim::Adam opt({p.log_k, p.source, p.energy}, torch::optim::AdamOptions(2e-2));  // EXPECT: torch-non-leaf-parameter
  double last = 0;
  const int epochs = 12;
  for (int e = 0; e < epochs; e++) {
    opt.zero_grad();
    auto u = trajectory(u0, p, temp, g, 15, stiff);
    auto loss = (u - obs).square().mean() * 1e3 + 1e-4 * p.source.square().mean();
    loss.backward();
    opt.step();
    if (project) project(p);
    if (e + 1 == epochs) last = loss.item<double>();
  }
  return last;
}

// closure on residuals of the fitted physics
void fit_closure(Closure& net, Closure& avg, const std::vector<Tensor>& states, const std::vector<Tensor>& residual,
                 const Tensor& temp, const Grid& g) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-2));
  for (size_t i = 0; i < states.size(); i++) {
    auto pred = net(features(states[i], temp, g));
    auto loss = torch::mse_loss(pred, residual[i]);
    loss.backward();
    opt.step();  // EXPECT: torch-missing-zero-grad
    average_into(avg, net, 0.9);
  }
}

// long runs, four columns at a time
void fit_closure_accumulated(Closure& net, const std::vector<Tensor>& states, const std::vector<Tensor>& residual,
                             const Tensor& temp, const Grid& g) {
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(1e-2));
  for (size_t i = 0; i < states.size(); i++) {
    if (i % 4 == 0) opt.zero_grad();
    auto pred = net(features(states[i], temp, g));
    (torch::mse_loss(pred, residual[i]) / 4).backward();
    if (i % 4 == 3) opt.step();  // RIGHT: torch-missing-zero-grad
  }
}

void polish(Closure& net, const Tensor& state, const Tensor& residual, const Tensor& temp, const Grid& g) {
  torch::optim::LBFGS opt(net->parameters(), torch::optim::LBFGSOptions(0.5).max_iter(5));
  auto x = features(state, temp, g);
  for (int i = 0; i < 3; i++) {
    opt.step([&] {  // RIGHT: torch-missing-zero-grad
      opt.zero_grad();
      auto loss = torch::mse_loss(net(x), residual);
      loss.backward();
      return loss;
    });
  }
}

// ---- forecasts --------------------------------------------------------------

struct Forecast {
  Tensor u, path, dose;
};

Forecast forecast(Closure& net, const Physics& p, Tensor u, const Tensor& temp, const Grid& g, int steps) {
  torch::NoGradGuard ng;
  Forecast f;
  f.path = u.unsqueeze(0);
  f.dose = torch::zeros_like(u);
  auto weight = torch::linspace(0, 1, g.n, g.opts());
  for (int i = 0; i < steps; i++) {
    auto c = net(features(u, temp, g));
    u = soft_step(u, p, temp, g).add_(c, g.dt);  // RIGHT: torch-unfused-operation
    f.dose += weight * u;  // EXPECT: torch-unfused-operation
    if (i % 5 == 0) f.path = torch::cat({f.path, u.unsqueeze(0)});  // EXPECT: torch-cat-in-loop
  }
  f.u = u;
  return f;
}

// Monte Carlo over the columns of the field campaign
Tensor ensemble(const Tensor& u0, const Tensor& temp, int64_t members, int steps) {
  torch::NoGradGuard ng;
  auto field = u0 + 0.01 * torch::randn({members, u0.size(0)}, u0.options());
  auto damp = torch::exp(-temp * 1e-3);
  for (int i = 0; i < steps; i++) {
    field = field * damp;  // EXPECT: torch-inplace-opportunity
    field.clamp_min_(0.0);
  }
  return field.std(0);
}

// sensitivity to the first rate
Tensor sensitivity(const Tensor& log_k, const Tensor& temp, int steps) {
  auto k = log_k.detach().clone().requires_grad_(true);
  auto a = torch::exp(k[0]) * temp;
  for (int i = 0; i < steps; i++) {
    a = a * torch::cos(a);  // RIGHT: torch-inplace-opportunity
  }
  return torch::autograd::grad({a.sum()}, {k})[0];
}

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(23);
  std::map<std::string, bool> flag;
  for (int i = 1; i < argc; i++) flag[argv[i]] = true;

  Grid g;
  if (torch::cuda::is_available() && !flag["--cpu"]) g.device = torch::Device(torch::kCUDA, 0);

  auto x = torch::linspace(0, 1, g.n, g.opts());
  auto temp = 1.0 + 0.2 * torch::sin(6.28 * x);
  auto u0 = torch::exp(-40 * (x - 0.5).square());
  Tensor obs;
  {
    torch::NoGradGuard ng;
    Physics truth{torch::tensor({0.3, -0.2}, g.opts()), 0.5 * x, torch::full({1}, 0.7, g.opts())};
    obs = trajectory(u0, truth, temp, g, 15, false);
  }

  Guess guess;
  Project project = flag["--inside"] ? Project(keep_inside) : Project(keep_positive);
  const double l1 = fit(guess, u0, obs, temp, g, project, flag["--stiff"]);
  const double l2 = fit(Guess(), u0, obs, temp, g, keep_ends, false);
  std::printf("fit %.6f %.6f\n", l1, l2);

  Closure net(16), avg(16);
  net->to(g.device);
  avg->to(g.device);
  copy_into(avg, net);
  std::vector<Tensor> states, residual;
  for (int64_t i = 0; i + 1 < obs.size(0); i++) {
    states.push_back(obs[i]);
    residual.push_back((obs[i + 1] - obs[i]) / g.dt * 1e-3);
  }
  fit_closure(net, avg, states, residual, temp, g);
  fit_closure_accumulated(net, states, residual, temp, g);
  polish(net, states[3], residual[3], temp, g);

  Physics best{guess.log_k.detach().to(g.device), guess.source.detach().to(g.device),
               guess.energy.detach().to(g.device)};
  auto f = forecast(avg, best, u0, temp, g, 60);
  auto spread = ensemble(u0, temp, 500, 20);
  auto s = sensitivity(guess.log_k, temp, 8);
  std::cout << "path " << f.path.sizes() << " dose " << f.dose.mean().item<double>() << " spread "
            << spread.mean().item<double>() << " dk " << s[0].item<double>() << "\n";
  return 0;
}
