// Inverse heat conduction: recover the conductivity of a plate from a few
// thermocouples, then a network surrogate for the same plate.
// (port of heat_inverse.py)
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <set>
#include <string>
#include <vector>

using namespace torch::indexing;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Cfg {
  int64_t n = 32;
  double dt = 0.1;
  int steps = 20;
  int iters = 6;
  double kmin = 0.05, kmax = 2.0;
  std::set<std::string> flags;
  bool on(const std::string& f) const { return flags.count(f) > 0; }
};

// smooth positive map R -> (floor, inf), with a cheap backward
class PositiveFn : public torch::autograd::Function<PositiveFn> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& raw, double floor) {
    auto expd = raw.clamp_max(20.0).exp();
    auto value = torch::log1p(expd) + floor;
    auto slope = expd / (expd + 1.0);
    ctx->saved_data["floor"] = floor;
    ctx->saved_data["slope"] = slope;  // RIGHT: torch-saved-data
    return value;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->saved_data["slope"].toTensor(), Tensor()};
  }
};

// harmonic mean of the conductivity between neighbours
class FaceFn : public torch::autograd::Function<FaceFn> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& a, const Tensor& b) {
    auto s = a + b;
    auto face = 2.0 * a * b / s;
    auto kept = face;
    ctx->save_for_backward({a, b});
    ctx->saved_data["face"] = kept;  // EXPECT: torch-saved-data
    return face;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    auto saved = ctx->get_saved_variables();
    auto f = ctx->saved_data["face"].toTensor();
    auto ra = f / saved[0];
    auto rb = f / saved[1];
    return {g[0] * ra.square() / 2.0, g[0] * rb.square() / 2.0};
  }
};

class TanhGateFn : public torch::autograd::Function<TanhGateFn> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    auto y = torch::tanh(x);
    ctx->save_for_backward({y});  // RIGHT: torch-saved-data
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    auto y = ctx->get_saved_variables()[0];
    return {g[0] * (1 - y * y)};
  }
};

// ------------------------------------------------------------- forward solver

Tensor divergence(const Tensor& u, const Tensor& kx, const Tensor& ky) {
  auto fx = kx * u.diff(1, 1);
  auto fy = ky * u.diff(1, 0);
  auto dx = torch::constant_pad_nd(fx, {1, 1, 0, 0}).diff(1, 1);
  auto dy = torch::constant_pad_nd(fy, {0, 0, 1, 1}).diff(1, 0);
  return dx.add_(dy);  // RIGHT: torch-inplace-saved
}

struct Faces {
  Tensor x, y;
};

Faces faces(const Tensor& k) {
  auto fx = FaceFn::apply(k.index({Slice(), Slice(None, -1)}), k.index({Slice(), Slice(1, None)}));
  auto fy = FaceFn::apply(k.index({Slice(None, -1), Slice()}), k.index({Slice(1, None), Slice()}));
  return {fx, fy};
}

Tensor simulate(const Cfg& c, const Tensor& k, Tensor u) {
  auto f = faces(k);
  for (int s = 0; s < c.steps; ++s) {
    u = u.add(divergence(u, f.x, f.y), c.dt);
    u = u.clamp_min(0.0);  // RIGHT: torch-inplace-opportunity
  }
  return u;
}

// reference run with Heun steps, never differentiated
Tensor reference(const Cfg& c, const Tensor& k, const Tensor& u0) {
  torch::NoGradGuard ng;
  auto f = faces(k);
  auto u = u0.clone();
  for (int s = 0; s < c.steps; ++s) {
    auto k1 = divergence(u, f.x, f.y);
    auto mid = u.add(k1, c.dt);  // RIGHT: torch-unfused-operation
    auto k2 = divergence(mid, f.x, f.y);
    auto slope = k1.add_(k2);
    u += slope * (0.5 * c.dt);  // EXPECT: torch-unfused-operation
  }
  return u;
}

// film for the paper: contrast-stretched, blurred frames
std::vector<Tensor> film(const Cfg& c, const Tensor& k, const Tensor& u0) {
  torch::NoGradGuard ng;
  auto f = faces(k);
  auto u = u0.clone();
  std::vector<Tensor> frames;
  frames.reserve(c.steps);
  for (int s = 0; s < c.steps; ++s) {
    u.add_(divergence(u, f.x, f.y), c.dt);
    auto img = torch::upsample_bilinear2d(u.unsqueeze(0).unsqueeze(0), {c.n * 8, c.n * 8}, false);
    img = torch::avg_pool2d(img, 3, 1, 1);
    img = img.clamp(0.0, 1.0);  // EXPECT: torch-inplace-opportunity
    frames.push_back(img);
  }
  return frames;
}

double overshoot(const std::vector<Tensor>& frames) {
  auto worst = torch::zeros({}, frames.at(0).options());
  for (const auto& fr : frames) worst = torch::maximum(worst, fr.sub(1.0).amax());
  return worst.item<double>();
}

// ------------------------------------------------------------------- sources

Tensor gaussian_source(const Cfg& c, torch::Device dev) {
  auto field = torch::zeros({c.n, c.n}, torch::TensorOptions(torch::kFloat64).device(dev));
  for (int64_t i = 0; i < c.n; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      const double y = (i - 0.4 * c.n) / c.n, x = (j - 0.5 * c.n) / c.n;
      field[i][j] = std::exp(-(x * x + y * y) * 30.0);  // EXPECT: torch-element-access-in-loop
    }
  }
  return field;
}

Tensor inclusion(const Cfg& c, torch::Device dev) {
  auto k = torch::full({c.n, c.n}, 0.3, torch::kFloat64);
  auto a = k.accessor<double, 2>();
  for (int64_t i = 0; i < c.n; ++i)
    for (int64_t j = 0; j < c.n; ++j)
      if (std::hypot(i - c.n * 0.5, j - c.n * 0.3) < c.n * 0.2) a[i][j] = 1.2;  // RIGHT: torch-element-access-in-loop
  return k.to(dev);
}

// -------------------------------------------------------------------- fitting

struct Sensors {
  Tensor rows, cols, reading;
  Tensor read(const Tensor& u) const { return u.index({rows, cols}); }
};

Tensor fit_conductivity(const Cfg& c, const Sensors& s, const Tensor& u0) {
  auto raw = torch::zeros({c.n, c.n}, u0.options()).sub_(0.5).set_requires_grad(true);  // RIGHT: torch-non-leaf-parameter
  torch::optim::Adam opt({raw}, torch::optim::AdamOptions(0.05));
  for (int it = 0; it < c.iters; ++it) {
    opt.zero_grad();
    auto k = PositiveFn::apply(raw, c.kmin);
    auto u = simulate(c, k, u0);
    auto misfit = torch::mse_loss(s.read(u), s.reading);
    auto rough = k.diff(1, 0).square().mean();
    auto loss = misfit.add(rough, 1e-3);
    torch::autograd::backward({loss}, {}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
    opt.step();
    if (c.on("walls")) {
      auto rim = raw.select(0, 0);
      rim.fill_(-3.0);  // EXPECT: torch-leaf-inplace
    }
    {
      torch::NoGradGuard ng;
      raw.select(0, c.n - 1).clamp_(-4.0, 4.0);  // RIGHT: torch-leaf-inplace
    }
  }
  torch::NoGradGuard ng;
  return PositiveFn::apply(raw, c.kmin);
}

// direct variant: bounds by projection instead of by a map
Tensor fit_projected(const Cfg& c, const Sensors& s, const Tensor& u0) {
  auto k = torch::full({c.n, c.n}, 0.5, u0.options().requires_grad(true));
  const double lr = 5.0;
  for (int it = 0; it < c.iters; ++it) {
    auto loss = torch::mse_loss(s.read(simulate(c, k, u0)), s.reading);
    auto g = torch::autograd::grad({loss}, {k})[0];
    auto free = k.detach();
    free.sub_(g, lr).clamp_(c.kmin, c.kmax);  // RIGHT: torch-leaf-inplace
  }
  return k.detach();
}

// ------------------------------------------------------------------- surrogate

struct SurrogateImpl : torch::nn::Module {
  SurrogateImpl(int64_t width, bool learn_scale) : a(3, width), b(width, width), out(width, 2) {
    register_module("a", a);
    register_module("b", b);
    register_module("out", out);
    if (learn_scale) {
      auto octaves = torch::linspace(0.0, 2.0, 3, torch::requires_grad());
      scale = register_parameter("scale", octaves.exp2());  // EXPECT: torch-non-leaf-parameter
    } else {
      scale = register_buffer("scale", torch::linspace(0.0, 2.0, 3).exp2());
    }
    offset = register_parameter("offset", torch::randn({3}) * 0.01);  // RIGHT: torch-non-leaf-parameter
    to(torch::kFloat64);
  }

  Tensor forward(const Tensor& x) {
    auto h = a((x + offset) * scale);
    h.relu_();  // RIGHT: torch-inplace-saved
    h = TanhGateFn::apply(b(h));
    return out(h);
  }

  // temperature with a soft floor; the gate is also reported
  std::pair<Tensor, Tensor> gated(const Tensor& x, const Tensor& inside) {
    auto y = forward(x);
    auto gate = torch::sigmoid(y.select(1, 1));
    auto temp = y.select(1, 0) * gate;
    gate.mul_(inside);  // EXPECT: torch-inplace-saved
    return {temp, gate};
  }

  torch::nn::Linear a, b, out;
  Tensor scale, offset;
};
TORCH_MODULE(Surrogate);

struct Samples {
  Tensor xyt, temp, inside;
};

Samples collect(const Cfg& c, const Tensor& u) {
  auto g = torch::linspace(0.0, 1.0, c.n, u.options());
  auto m = torch::meshgrid({g, g}, "ij");
  auto xyt = torch::stack({m[0].flatten(), m[1].flatten(), torch::ones({c.n * c.n}, u.options())}, 1);
  auto inside = (m[0] > 0.05).logical_and(m[0] < 0.95).flatten().to(torch::kFloat64);
  return {xyt, u.flatten(), inside};
}

void train_surrogate(const Cfg& c, Surrogate& net, const Samples& d, int epochs) {
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-3));
  for (int e = 0; e < epochs; ++e) {
    auto y = net(d.xyt);
    auto fit = torch::mse_loss(y.select(1, 0), d.temp);
    auto smooth = y.select(1, 0).view({c.n, c.n}).diff(1, 0).square().mean();
    opt.zero_grad();
    fit.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
    smooth.backward();  // RIGHT: torch-stale-graph
    opt.step();
  }
}

// alternates the data term and the smoothness term, one step of each
void alternate(const Cfg& c, Surrogate& net, const Samples& d, int rounds) {
  torch::optim::SGD by_data(net->parameters(), torch::optim::SGDOptions(1e-2));
  torch::optim::SGD by_shape(net->parameters(), torch::optim::SGDOptions(1e-3));
  for (int r = 0; r < rounds; ++r) {
    auto field = net(d.xyt).select(1, 0);
    auto fit = torch::mse_loss(field, d.temp);
    by_data.zero_grad();
    fit.backward({}, true);
    by_data.step();

    by_shape.zero_grad();
    auto shape = field.view({c.n, c.n}).diff(1, 1).square().mean();
    shape.backward();  // EXPECT: torch-stale-graph
    by_shape.step();
  }
}

void train_gate(Surrogate& net, const Samples& d, int epochs) {
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-3));
  for (int e = 0; e < epochs; ++e) {
    auto [temp, gate] = net->gated(d.xyt, d.inside);
    auto loss = torch::mse_loss(temp, d.temp).add(gate.mean(), 1e-3);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  Cfg cfg;
  for (int i = 1; i < argc; ++i) cfg.flags.insert(argv[i]);
  torch::Device dev(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  auto u0 = gaussian_source(cfg, dev);
  auto truth = inclusion(cfg, dev);
  auto u = reference(cfg, truth, u0);
  Sensors s;
  s.rows = torch::randint(0, cfg.n, {40}, torch::TensorOptions(torch::kLong).device(dev));
  s.cols = torch::randint(0, cfg.n, {40}, torch::TensorOptions(torch::kLong).device(dev));
  s.reading = s.read(u);

  auto k = fit_conductivity(cfg, s, u0);
  auto kp = fit_projected(cfg, s, u0);
  std::cout << "error " << (k - truth).abs().mean().item<double>() << " projected "
            << (kp - truth).abs().mean().item<double>() << "\n";
  std::cout << "overshoot " << overshoot(film(cfg, k, u0)) << "\n";

  Surrogate net(24, cfg.on("scale"));
  net->to(dev);
  auto d = collect(cfg, u);
  train_surrogate(cfg, net, d, 20);
  alternate(cfg, net, d, 5);
  if (cfg.on("gate")) train_gate(net, d, 5);
  torch::NoGradGuard ng;
  std::cout << "surrogate " << torch::mse_loss(net(d.xyt).select(1, 0), d.temp).item<double>() << "\n";
  return 0;
}
