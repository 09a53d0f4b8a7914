// Heat in a plate with walls: explicit solver, inversion for the conductivity,
// reaction kinetics, and a small PINN for the one-dimensional case.
#include <torch/torch.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
using torch::indexing::Slice;

namespace heat {

inline Tensor laplacian(const Tensor& u) {
  return (torch::roll(u, 1, 0) + torch::roll(u, -1, 0) + torch::roll(u, 1, 1) + torch::roll(u, -1, 1)).sub(u, 4);
}

// ---- differentiable pieces -------------------------------------------------

// softplus with a sharpness
struct Soften : public torch::autograd::Function<Soften> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double beta) {
    auto gate = torch::sigmoid(x * beta);
    auto y = torch::where(x * beta > 20, x, torch::log1p(torch::exp(x * beta)) / beta);
    ctx->saved_data["gate"] = gate;  // RIGHT: torch-saved-data
    return y;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    return {grads[0] * ctx->saved_data["gate"].toTensor(), Tensor()};
  }
};

// k(T) = exp(-E / T), with a gradient for E and for T
struct Arrhenius : public torch::autograd::Function<Arrhenius> {
  static Tensor forward(AutogradContext* ctx, const Tensor& temperature, const Tensor& energy) {
    auto inverse = temperature.reciprocal();
    auto rate = torch::exp(-energy * inverse);
    ctx->save_for_backward({energy, inverse});
    ctx->saved_data["rate"] = rate;  // EXPECT: torch-saved-data
    return rate;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto rate = ctx->saved_data["rate"].toTensor();
    const auto g = grads[0] * rate;
    return {g * saved[0] * saved[1] * saved[1], -(g * saved[1]).sum().reshape(saved[0].sizes())};
  }
};

struct Logistic : public torch::autograd::Function<Logistic> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    auto y = torch::sigmoid(x);
    ctx->save_for_backward({y});  // RIGHT: torch-saved-data
    return y;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    const auto y = ctx->get_saved_variables()[0];
    return {grads[0] * y * (1 - y)};
  }
};

// ---- the explicit solver ---------------------------------------------------

class Plate {
 public:
  using Listener = std::function<void(int, const Tensor&)>;

  Plate(int64_t n, double conductivity, torch::Device device)
      : u_(torch::rand({n, n}, torch::device(device))),
        speed_(torch::zeros_like(u_)),
        walls_(torch::rand({n, n}, torch::device(device)) < 0.05),
        hot_(torch::rand({n, n}, torch::device(device)) > 0.99),
        conductivity_(conductivity) {}

  void listen(Listener l) { listeners_.push_back(std::move(l)); }

  void cool() { u_.mul_(0.5); }

  Tensor run(int steps) {
    torch::NoGradGuard no_grad;
    for (int s = 0; s < steps; ++s) {
      const auto flow = laplacian(u_);
      speed_.mul_(0.9);
      speed_ += flow * conductivity_;  // EXPECT: torch-unfused-operation
      u_.add_(speed_, dt_);  // RIGHT: torch-unfused-operation
      u_ = u_.clamp(-4.0, 4.0);  // EXPECT: torch-inplace-opportunity
      boundaries(u_);
      if (s % 20 == 0) {
        for (const auto& l : listeners_) l(s, u_);
      }
    }
    return u_.clone();
  }

  // every state on the way to a half-cooled plate
  std::vector<Tensor> cooling(int steps) const {
    torch::NoGradGuard no_grad;
    std::vector<Tensor> states;
    auto state = u_;
    for (int s = 0; s < steps; ++s) {
      state = state * 0.9;  // RIGHT: torch-inplace-opportunity
      states.push_back(state);
    }
    return states;
  }

 private:
  void boundaries(Tensor& u) const {
    u.index({0, Slice()}) = 0.0;  // RIGHT: torch-discarded-result
    u.index({-1, Slice()}) = 0.0;
    u.masked_fill(walls_, 0.0);  // EXPECT: torch-discarded-result
    u.index_put_({hot_}, 1.0);  // RIGHT: torch-discarded-result
  }

  Tensor u_, speed_, walls_, hot_;
  double conductivity_;
  double dt_ = 0.1;
  std::vector<Listener> listeners_;
};

// ---- inversion ---------------------------------------------------------------

struct InversionConfig {
  int64_t n = 48;
  int steps = 6;
  int iterations = 25;
  double ceiling = 0;  // 0: none
  int pin_every = 0;   // 0: never
};

class Inversion {
 public:
  Inversion(const InversionConfig& cfg, torch::Device device) : cfg_(cfg) {
    auto seed = torch::zeros({cfg.n, cfg.n}, torch::device(device));
    seed.slice(0, 0, 2).fill_(0.1);  // RIGHT: torch-leaf-inplace
    log_k_ = seed.requires_grad_();
    start_ = torch::rand({cfg.n, cfg.n}, torch::device(device));
  }

  Tensor simulate(const Tensor& log_k) const {
    auto k = log_k.exp();
    if (cfg_.ceiling > 0) {
      k.clamp_max_(cfg_.ceiling);  // EXPECT: torch-inplace-saved
    }
    auto u = start_;
    for (int s = 0; s < cfg_.steps; ++s) {
      auto next = torch::addcmul(u, k, laplacian(u), 0.1);
      next.mul_(0.999);  // RIGHT: torch-inplace-saved
      u = next;
    }
    return Soften::apply(u, 4.0);
  }

  double fit(const Tensor& measured) {
    torch::optim::Adam opt({log_k_}, torch::optim::AdamOptions(0.05));
    auto last = torch::zeros({}, measured.options());
    for (int i = 0; i < cfg_.iterations; ++i) {
      opt.zero_grad();
      const auto misfit = (simulate(log_k_) - measured).square().mean();
      const auto rough = (log_k_ - torch::roll(log_k_, 1, 0)).square().mean();
      auto loss = misfit + 1e-4 * rough;
      loss.backward();
      opt.step();
      limit();
      if (cfg_.pin_every > 0 && i % cfg_.pin_every == 0) pin();
      last = misfit.detach();
    }
    return last.item<double>();
  }

  Tensor conductivity() const { return log_k_.detach().exp(); }

 private:
  void limit() {
    torch::NoGradGuard no_grad;
    log_k_.clamp_(-2.0, 2.0);  // RIGHT: torch-leaf-inplace
  }

  void pin() {
    auto edge = log_k_.slice(/*dim=*/0, 0, 2);
    edge.zero_();  // EXPECT: torch-leaf-inplace
  }

  InversionConfig cfg_;
  Tensor log_k_, start_;
};

// ---- kinetics ------------------------------------------------------------------

std::pair<double, double> fit_kinetics(const Tensor& temperature, const Tensor& observed, int iterations) {
  auto energy = torch::full({1}, 1.0, temperature.options()).requires_grad_();
  auto yield = torch::zeros({1}, temperature.options()).requires_grad_();
  torch::optim::Adam opt({energy, yield}, torch::optim::AdamOptions(0.05));
  auto loss = torch::zeros({}, temperature.options());
  for (int i = 0; i < iterations; ++i) {
    opt.zero_grad();
    const auto predicted = Arrhenius::apply(temperature, energy) * Logistic::apply(yield);
    loss = torch::mse_loss(predicted, observed);
    loss.backward();
    opt.step();
  }
  return {energy.item<double>(), loss.item<double>()};
}

// ---- physics-informed network -----------------------------------------------------

struct PinnImpl : torch::nn::Module {
  explicit PinnImpl(int64_t width) {
    a = register_module("a", torch::nn::Linear(2, width));
    b = register_module("b", torch::nn::Linear(width, width));
    c = register_module("c", torch::nn::Linear(width, 1));
  }
  Tensor forward(const Tensor& xt) { return c(torch::tanh(b(torch::tanh(a(xt))))); }
  torch::nn::Linear a{nullptr}, b{nullptr}, c{nullptr};
};
TORCH_MODULE(Pinn);

enum class Schedule { kJoint, kAlternate, kGuarded };

class PinnTrainer {
 public:
  PinnTrainer(Pinn net, torch::Device device, Schedule schedule)
      : net_(std::move(net)), device_(device), schedule_(schedule), opt_(net_->parameters(), torch::optim::AdamOptions(2e-3)) {}

  Tensor residual(int64_t n) {
    auto xt = torch::rand({n, 2}, torch::TensorOptions().device(device_).requires_grad(true));
    auto u = net_(xt);
    auto first = torch::autograd::grad({u.sum()}, {xt}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];  // RIGHT: torch-retain-graph-in-loop
    auto second = torch::autograd::grad({first.select(1, 0).sum()}, {xt}, {}, true, true)[0];
    return first.select(1, 1).sub(second.select(1, 0), 0.1).square().mean();
  }

  Tensor initial(int64_t n) {
    auto x = torch::rand({n, 1}, torch::device(device_));
    auto xt = torch::constant_pad_nd(x, {0, 1});
    return (net_(xt) - torch::sin(3.14159265 * x)).square().mean();
  }

  double train(int iterations) {
    auto total = torch::zeros({}, torch::device(device_));
    for (int i = 0; i < iterations; ++i) {
      auto physics = residual(512);
      auto data = initial(256);
      switch (schedule_) {
        case Schedule::kAlternate:
          apply(data);
          opt_.zero_grad();
          physics.backward();  // EXPECT: torch-stale-graph
          opt_.step();
          break;
        case Schedule::kGuarded:
          opt_.zero_grad();
          data.backward();
          physics.backward();  // RIGHT: torch-stale-graph
          opt_.step();
          break;
        case Schedule::kJoint: {
          opt_.zero_grad();
          auto loss = physics + data;
          loss.backward({}, keep_graph_);  // EXPECT: torch-retain-graph-in-loop
          opt_.step();
          break;
        }
      }
      total += physics.detach() + data.detach();
    }
    return total.item<double>() / iterations;
  }

 private:
  void apply(const Tensor& loss) {
    opt_.zero_grad();
    loss.backward();
    opt_.step();
  }

  Pinn net_;
  torch::Device device_;
  Schedule schedule_;
  torch::optim::Adam opt_;
  bool keep_graph_ = true;
};

}  // namespace heat

int main(int argc, char** argv) {
  using namespace heat;
  InversionConfig cfg;
  Schedule schedule = Schedule::kJoint;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--ceiling")) cfg.ceiling = 5;
    if (!std::strcmp(argv[i], "--pin")) cfg.pin_every = 5;
    if (!std::strcmp(argv[i], "--alternate")) schedule = Schedule::kAlternate;
    if (!std::strcmp(argv[i], "--guarded")) schedule = Schedule::kGuarded;
  }
  torch::manual_seed(31);
  const torch::Device device(torch::cuda::is_available() ? "cuda:0" : "cpu");

  for (const double conductivity : {0.05, 0.1, 0.2}) {
    auto plate = std::make_shared<Plate>(192, conductivity, device);
    plate->listen([plate](int step, const Tensor& u) {  // EXPECT: torch-reference-cycle
      if (step > 0 && u.max().item<double>() > 3.5) plate->cool();
    });
    std::weak_ptr<Plate> watched = plate;
    plate->listen([watched](int step, const Tensor& u) {  // RIGHT: torch-reference-cycle
      if (auto p = watched.lock(); p && step == 40) std::cout << "  mean " << u.mean().item<double>() << '\n';
    });
    const auto end = plate->run(60);
    const auto states = plate->cooling(4);
    std::cout << "plate " << conductivity << ": " << end.std().item<double>() << " -> " << states.back().std().item<double>() << '\n';
  }

  Inversion inversion(cfg, device);
  const auto truth = torch::linspace(-0.5, 0.5, cfg.n, torch::device(device)).expand({cfg.n, cfg.n});
  Tensor measured;
  {
    torch::NoGradGuard no_grad;
    measured = inversion.simulate(truth);
  }
  const auto misfit = inversion.fit(measured);
  std::cout << "inversion misfit " << misfit << ", conductivity " << inversion.conductivity().mean().item<double>() << '\n';

  const auto temperature = torch::linspace(0.5, 2.0, 8192, torch::device(device));
  const auto observed = torch::exp(-1.7 / temperature) * 0.7;
  const auto [energy, error] = fit_kinetics(temperature, observed, 80);
  std::cout << "kinetics energy " << energy << " error " << error << '\n';

  Pinn net(32);
  net->to(device);
  PinnTrainer trainer(net, device, schedule);
  std::cout << "pinn " << trainer.train(60) << '\n';
  return 0;
}
