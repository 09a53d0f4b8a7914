// Cross-hole tomography. Ported from my notebook: slowness grid <- first
// arrivals + amplitudes, Adam on the grid, rays sampled at random points.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;
namespace F = torch::nn::functional;

struct Cfg {
  int64_t n = 16, S = 5, R = 7, K = 12;
  int64_t nt = 30;
  int iters = 15;
  double lr = 0.05, lambda = 0.02;
  bool taper = false, water = false;
  torch::Device dev{torch::kCPU};
};

// ---- differentiable bits ---------------------------------------------------

struct Positive : torch::autograd::Function<Positive> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double beta) {
    auto y = torch::log1p(torch::exp(x * beta)) / beta;
    ctx->saved_data["beta"] = beta;  // RIGHT: torch-saved-data
    ctx->saved_data["y"] = y;  // EXPECT: torch-saved-data
    return y;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    const double beta = ctx->saved_data["beta"].toDouble();
    auto y = ctx->saved_data["y"].toTensor();
    return {g[0] * (1 - torch::exp(-beta * y)), Tensor()};
  }
};

// sqrt(1+x^2)-1 with its own backward, the composed one was slow
struct PseudoHuber : torch::autograd::Function<PseudoHuber> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    auto root = torch::sqrt(1 + x.square());
    ctx->saved_data["shape"] = x.sizes().vec();  // RIGHT: torch-saved-data
    ctx->save_for_backward({x, root});
    return root - 1;
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list g) {
    auto saved = ctx->get_saved_variables();
    TORCH_CHECK(g[0].sizes() == torch::IntArrayRef(ctx->saved_data["shape"].toIntVector()));
    return {g[0] * saved[0] / saved[1]};
  }
};

// ---- model -----------------------------------------------------------------

static Tensor start_model(int64_t n) {
  auto depth = torch::linspace(0.6, 0.3, n).unsqueeze(1).expand({n, n}).clone();
  return depth.requires_grad_(true);
}

struct EarthImpl : torch::nn::Module {
  EarthImpl(const Cfg& c) {
    raw = register_parameter("raw", start_model(c.n).to(c.dev));  // EXPECT: torch-non-leaf-parameter
    statics = register_parameter("statics", torch::randn({c.R}, c.dev) * 1e-3);  // RIGHT: torch-non-leaf-parameter
    q = register_parameter("q", torch::full({1}, 0.5, c.dev));
  }

  Tensor slowness() { return Positive::apply(raw, 4.0); }

  Tensor raw, statics, q;
};
TORCH_MODULE(Earth);

static Tensor roughness(Tensor s) {
  auto rough = s;
  for (int k = 0; k < 2; k++) {
    rough = (rough * rough.roll(1, 0)).sqrt();  // RIGHT: torch-inplace-opportunity
  }
  return (s - rough).square().mean();
}

// ---- acquisition -------------------------------------------------------------

struct Geometry {
  Tensor src, rec;  // [S,2], [R,2] in [-1,1]
  Tensor length;    // [S,R]
  Tensor weight;    // [S,R]
};

static Geometry make_geometry(const Cfg& c) {
  Geometry g;
  auto opt = torch::TensorOptions().device(c.dev);
  auto zs = torch::linspace(-0.9, 0.9, c.S, opt);
  auto zr = torch::linspace(-0.95, 0.95, c.R, opt);
  g.src = torch::stack({torch::full_like(zs, -0.9), zs}, 1);
  g.rec = torch::stack({torch::full_like(zr, 0.9), zr}, 1);
  g.length = torch::cdist(g.src, g.rec);
  auto dead = torch::rand({c.S, c.R}, opt) < 0.05;
  g.weight = (1 / (1 + zr.abs())).repeat({c.S, 1});  // RIGHT: torch-repeat-for-broadcast
  g.weight.masked_fill_(dead, 0);
  return g;
}

static Tensor ray_points(const Geometry& g, const Tensor& frac) {
  const auto S = g.src.size(0), R = g.rec.size(0), K = frac.size(0);
  auto a = g.src.view({S, 1, 1, 2});
  auto span = g.rec.view({1, R, 1, 2}) - a;
  auto start = a.repeat({1, R, K, 1});  // EXPECT: torch-repeat-for-broadcast
  return torch::addcmul(start, frac.view({1, 1, K, 1}), span).view({1, S * R, K, 2});
}

struct Arrivals {
  Tensor time, amp;
};

static Arrivals trace(Earth& earth, const Geometry& g, const Tensor& frac, const Tensor& taper) {
  auto s = earth->slowness();
  auto img = s.view({1, 1, s.size(0), s.size(1)});
  auto along = F::grid_sample(img, ray_points(g, frac), F::GridSampleFuncOptions().align_corners(true));
  auto time = torch::addcmul(earth->statics, along.mean(-1).view_as(g.length), g.length);
  auto amp = torch::exp(-earth->q * time);
  if (taper.defined()) {
    amp.mul_(taper);  // EXPECT: torch-inplace-saved
  }
  return {time, amp};
}

// Finite difference shot, only for a look at the wave field.
static Tensor shot(const Cfg& c, const Tensor& slowness) {
  torch::NoGradGuard ng;
  auto c2 = (0.2 / slowness.square()).clamp_max(0.4).view({1, 1, c.n, c.n});
  auto stencil = torch::tensor({0.f, 1.f, 0.f, 1.f, -4.f, 1.f, 0.f, 1.f, 0.f}, torch::dtype(torch::kFloat).device(c.dev))
                     .view({1, 1, 3, 3});
  auto bump = torch::zeros({1, 1, c.n, c.n}, c.dev);
  bump.narrow(2, c.n / 2, 2).narrow(3, 1, 2).fill_(1);
  auto u = torch::zeros_like(bump), before = torch::zeros_like(bump);
  auto seis = torch::zeros({c.nt, c.n}, c.dev);
  for (int64_t it = 0; it < c.nt; it++) {
    const double a = std::pow(M_PI * 0.1 * (it - 10), 2);
    u.add_(bump, (1 - 2 * a) * std::exp(-a));  // RIGHT: torch-unfused-operation
    auto lap = F::conv2d(u, stencil, F::Conv2dFuncOptions().padding(1));
    before.neg_().add_(u, 2);
    before.add_(c2 * lap);  // EXPECT: torch-unfused-operation
    std::swap(u, before);
    seis.select(0, it).copy_(u.select(3, c.n - 2).flatten());
  }
  return seis;
}

// ---- inversion -----------------------------------------------------------------

class Inversion {
 public:
  using Callback = std::function<void(int, double)>;

  Inversion(const Cfg& c, const Geometry& g, Arrivals observed)
      : c_(c), g_(g), obs_(std::move(observed)), earth_(c), opt_(earth_->parameters(), torch::optim::AdamOptions(c.lr)) {
    illumination_ = torch::linspace(0.5, 1.0, c.n, c.dev).unsqueeze(0);
    if (c.taper) taper_ = torch::linspace(1.0, 0.5, c.R, c.dev);
    sens_ = torch::zeros({}, c.dev);
  }

  void on_iteration(Callback cb) { cbs_.push_back(std::move(cb)); }
  void stop() { stopped_ = true; }
  Tensor image() {
    torch::NoGradGuard ng;
    return earth_->slowness();
  }
  double sensitivity() const { return sens_.item<double>(); }

  void run() {
    for (int it = 0; it < c_.iters && !stopped_; it++) {
      auto frac = torch::rand({c_.K}, c_.dev);
      auto loss = step(frac);
      pin_surface();
      bound();
      if (it % 5 == 4) {
        const double f = loss.item<double>();  // RIGHT: torch-sync-in-loop
        for (auto& cb : cbs_) cb(it, f);
        rebalance(frac);
      }
    }
  }

 private:
  Tensor misfit(const Tensor& frac) {
    auto got = trace(earth_, g_, frac, taper_);
    got.time.register_hook([this](Tensor g) { sens_ = g.abs().max(); });  // RIGHT: torch-hook-in-loop
    auto dt = got.time - obs_.time;
    dt.mul_(g_.weight);  // RIGHT: torch-inplace-saved
    auto da = (got.amp - obs_.amp) * g_.weight;
    return PseudoHuber::apply(dt).mean() + 0.3 * da.square().mean();
  }

  Tensor step(const Tensor& frac) {
    earth_->raw.register_hook([m = illumination_](Tensor g) { return g * m; });  // EXPECT: torch-hook-in-loop
    opt_.zero_grad();
    auto loss = misfit(frac) + c_.lambda * roughness(earth_->slowness());
    loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
    opt_.step();
    return loss.detach();
  }

  // keeps both terms about equally strong
  void rebalance(const Tensor& frac) {
    auto data = misfit(frac);
    auto rough = roughness(earth_->slowness());
    auto both = data + rough;
    opt_.zero_grad();
    both.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop
    auto all = earth_->raw.grad().norm();
    opt_.zero_grad();
    rough.backward();
    auto part = earth_->raw.grad().norm();
    const double ratio = (part / (all + 1e-12)).item<double>();
    c_.lambda *= ratio > 0.5 ? 0.8 : 1.1;
  }

  void pin_surface() {
    if (!c_.water) return;
    earth_->raw.select(0, 0).fill_(0.67);  // EXPECT: torch-leaf-inplace
  }

  void bound() {
    torch::NoGradGuard ng;
    earth_->raw.clamp_(-1.0, 3.0);  // RIGHT: torch-leaf-inplace
    earth_->q.clamp_(0.05, 2.0);
  }

  Cfg c_;
  Geometry g_;
  Arrivals obs_;
  Earth earth_;
  torch::optim::Adam opt_;
  Tensor illumination_, taper_, sens_;
  std::vector<Callback> cbs_;
  bool stopped_ = false;
};

static std::shared_ptr<Inversion> make_inversion(const Cfg& c, const Geometry& g, const Arrivals& obs) {
  auto inv = std::make_shared<Inversion>(c, g, obs);
  inv->on_iteration([inv](int it, double f) {  // EXPECT: torch-reference-cycle
    if (f < 1e-6) {
      std::printf("  converged at %d\n", it);
      inv->stop();
    }
  });
  std::weak_ptr<Inversion> seen = inv;
  inv->on_iteration([seen](int it, double f) {  // RIGHT: torch-reference-cycle
    if (auto self = seen.lock()) std::printf("  it %3d misfit %.5f sens %.4f\n", it, f, self->sensitivity());
  });
  return inv;
}

// The ground truth: a slow lens in the middle.
static Arrivals observe(const Cfg& c, const Geometry& g, double lens) {
  torch::NoGradGuard ng;
  Earth truth(c);
  const auto lo = c.n / 3, w = c.n / 3;
  truth->raw.narrow(0, lo, w).narrow(1, lo, w).add_(lens);
  auto frac = torch::linspace(0, 1, 4 * c.K, c.dev);
  auto a = trace(truth, g, frac, Tensor());
  a.time.add_(torch::randn_like(a.time), 1e-3);
  return a;
}

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(8);
  Cfg c;
  for (int i = 1; i < argc; i++) {
    std::string a = argv[i];
    if (a == "--taper") c.taper = true;
    if (a == "--water") c.water = true;
  }
  if (torch::cuda::is_available()) {
    c.dev = torch::Device(torch::kCUDA, 0);
    c.n = 512;
    c.S = c.R = 192;
    c.K = 128;
    c.nt = 2000;
    c.iters = 400;
  }
  auto geo = make_geometry(c);
  for (double lens : {0.2, -0.1, 0.3}) {
    std::printf("lens %.2f\n", lens);
    auto inv = make_inversion(c, geo, observe(c, geo, lens));
    inv->run();
    auto img = inv->image();
    auto seis = shot(c, img);
    std::printf("  slowness %.3f .. %.3f, shot rms %.4f\n", img.min().item<double>(), img.max().item<double>(),
                seis.square().mean().sqrt().item<double>());
  }
  return 0;
}
