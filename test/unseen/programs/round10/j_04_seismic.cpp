// Toy full-waveform inversion: recover the slowness of a small section of ground from the
// traces of a few shots. Finite differences in time, reverse mode through the whole propagation.
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace seis {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Grid {
  int64_t n = 36;
  int64_t shots = 3;
  int64_t receivers_row = 3;
  int64_t water_rows = 4;
  int steps = 40;
  double dt2 = 0.08;
};

// tanh limiter whose derivative is cheap once the value is known
struct SoftClip : Function<SoftClip> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double limit) {
    Tensor y = torch::tanh(x / limit) * limit;
    ctx->saved_data["limit"] = limit;  // RIGHT: torch-saved-data
    ctx->saved_data["clipped"] = y;  // EXPECT: torch-saved-data
    return y;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const double limit = ctx->saved_data["limit"].toDouble();
    const Tensor t = ctx->saved_data["clipped"].toTensor() / limit;
    return {grads[0] * (1.0 - t * t), Tensor()};
  }
};

// square root with a floor under the derivative
struct SafeRoot : Function<SafeRoot> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {
    Tensor root = x.clamp_min(0).sqrt();
    ctx->save_for_backward({root});  // RIGHT: torch-saved-data
    return root;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] / (2.0 * saved[0].clamp_min(1e-3))};
  }
};

std::vector<double> ricker(int steps) {
  std::vector<double> w(steps);
  for (int i = 0; i < steps; ++i) {
    const double a = M_PI * 0.08 * (i - 12);
    w[i] = (1.0 - 2.0 * a * a) * std::exp(-a * a);
  }
  return w;
}

// Everything about the survey that does not change during the inversion.
class Acquisition {
 public:
  Acquisition(const Grid& grid, torch::Device device)
      : grid_(grid), wavelet_(ricker(grid.steps)), options_(torch::device(device)) {
    kernel_ = torch::tensor({0.f, 1.f, 0.f, 1.f, -4.f, 1.f, 0.f, 1.f, 0.f}, options_).view({1, 1, 3, 3});
    mask_ = torch::zeros({grid.shots, grid.n, grid.n}, options_);
    for (int64_t s = 0; s < grid.shots; ++s) {
      mask_.select(0, s).select(0, 2).narrow(0, (s + 1) * grid.n / (grid.shots + 1), 1).fill_(1.0);
    }
    const Tensor x = torch::linspace(-1, 1, grid.n, options_);
    profile_ = torch::relu(x.abs() - 0.7);
  }

  Tensor laplacian(const Tensor& u) const {
    return torch::conv2d(u.unsqueeze(1), kernel_, {}, 1, 1).squeeze(1);
  }
  Tensor silence() const { return torch::zeros({grid_.shots, grid_.n, grid_.n}, options_); }
  const Grid& grid() const { return grid_; }
  const Tensor& mask() const { return mask_; }
  const Tensor& profile() const { return profile_; }
  double source(int t) const { return wavelet_[static_cast<size_t>(t)]; }
  const torch::TensorOptions& options() const { return options_; }

 private:
  Grid grid_;
  std::vector<double> wavelet_;
  torch::TensorOptions options_;
  Tensor kernel_, mask_, profile_;
};

// Absorbing border; how hard it absorbs may be learned.
class SpongeImpl : public torch::nn::Module {
 public:
  explicit SpongeImpl(const Acquisition& acq) : profile_(acq.profile()) {
    const auto trainable = torch::TensorOptions().requires_grad(true);
    strength_ = register_parameter("strength", torch::full({1}, 0.4, trainable).to(profile_.device()));  // EXPECT: torch-non-leaf-parameter
    offset_ = register_parameter("offset", torch::full({1}, 0.01, acq.options()));  // RIGHT: torch-non-leaf-parameter
  }

  // exponential falloff, none in the middle of the section
  Tensor exponential() {
    const int64_t n = profile_.size(0);
    Tensor damp = torch::exp(-torch::addcmul(offset_, profile_, strength_));
    damp.narrow(0, n / 4, n / 2).fill_(1.0);  // EXPECT: torch-inplace-saved
    return damp;
  }

  Tensor linear() {
    const int64_t n = profile_.size(0);
    Tensor damp = 1.0 - torch::addcmul(offset_, profile_, strength_);
    damp.narrow(0, n / 4, n / 2).fill_(1.0);  // RIGHT: torch-inplace-saved
    return damp;
  }

 private:
  Tensor profile_, strength_, offset_;
};
TORCH_MODULE(Sponge);

// The differentiable propagation: (shots, steps, n) at the receivers.
Tensor propagate(const Acquisition& acq, const Tensor& speed, const Tensor& damp) {
  const Grid& grid = acq.grid();
  const Tensor c2 = (speed * speed * grid.dt2).unsqueeze(0).repeat({grid.shots, 1, 1});  // EXPECT: torch-repeat-for-broadcast
  Tensor before = acq.silence();
  Tensor u = acq.silence();
  std::vector<Tensor> traces;
  for (int t = 0; t < grid.steps; ++t) {
    Tensor next = torch::addcmul(torch::sub(u, before).add(u), c2, acq.laplacian(u));
    next = next.add(acq.mask(), acq.source(t));
    next = next * damp;  // RIGHT: torch-inplace-opportunity
    traces.push_back(next.select(1, grid.receivers_row).clone());
    before = u;
    u = next;
  }
  return torch::stack(traces, 1);
}

struct Wavefield {
  Tensor traces;
  std::vector<Tensor> snapshots;
};

// The same without a graph, for the observed data and for imaging.
Wavefield model_only(const Acquisition& acq, const Tensor& speed, const Tensor& damp, int keep_every) {
  torch::NoGradGuard no_grad;
  const Grid& grid = acq.grid();
  const Tensor c2 = speed.square().mul_(grid.dt2);
  Tensor before = acq.silence();
  Tensor u = acq.silence();
  Wavefield out;
  std::vector<Tensor> traces;
  for (int t = 0; t < grid.steps; ++t) {
    Tensor next = torch::sub(u, before).add_(u).addcmul_(c2, acq.laplacian(u)).add_(acq.mask(), acq.source(t));
    next = next * damp;  // EXPECT: torch-inplace-opportunity
    traces.push_back(next.select(1, grid.receivers_row).clone());  // RIGHT: torch-view-pins-storage
    if (t % keep_every == 0) out.snapshots.push_back(next);
    before = u;
    u = next;
  }
  out.traces = torch::stack(traces, 1);
  return out;
}

// Zero-lag correlation of the wave with itself played backwards.
Tensor image(const Acquisition& acq, const std::vector<Tensor>& down) {
  torch::NoGradGuard no_grad;
  Tensor picture = acq.silence();
  for (size_t i = 0; i < down.size(); ++i) {
    const Tensor& up = down[down.size() - 1 - i];
    picture.add_(down[i] * up);  // EXPECT: torch-unfused-operation
  }
  return picture.sum(0);
}

Tensor illumination(const Acquisition& acq, const std::vector<Tensor>& down) {
  torch::NoGradGuard no_grad;
  Tensor per_shot = torch::zeros({acq.grid().shots}, acq.options());
  for (const Tensor& u : down) {
    per_shot.add_(u.square().sum({1, 2}));  // RIGHT: torch-unfused-operation
  }
  return per_shot;
}

// Every shot sees ground that was disturbed a little differently.
Tensor perturbed(const Acquisition& acq, const Tensor& speed, double amount) {
  torch::NoGradGuard no_grad;
  const Grid& grid = acq.grid();
  Tensor each = speed.unsqueeze(0).repeat({grid.shots, 1, 1});  // RIGHT: torch-repeat-for-broadcast
  for (int64_t s = 0; s < grid.shots; ++s) {
    each.select(0, s).narrow(0, grid.water_rows, 2).mul_(1.0 + amount * static_cast<double>(s));
  }
  return each;
}

class Inversion : public std::enable_shared_from_this<Inversion> {
 public:
  using Callback = std::function<void(int)>;

  Inversion(const Acquisition& acq, Tensor observed)
      : acq_(acq),
        observed_(std::move(observed)),
        sponge_(acq),
        slowness_(torch::full({acq.grid().n, acq.grid().n}, 1.2, acq.options().requires_grad(true))),
        weights_(torch::ones_like(slowness_, torch::requires_grad(false))) {
    weights_.narrow(0, 0, acq.grid().water_rows).fill_(0.1);
  }

  void on_iteration(Callback cb) { callbacks_.push_back(std::move(cb)); }

  void run(int iterations, bool exponential, bool bounds) {
    auto variables = sponge_->parameters();
    variables.push_back(slowness_);
    torch::optim::Adam optimizer(variables, torch::optim::AdamOptions(5e-3));
    for (int it = 0; it < iterations; ++it) {
      optimizer.zero_grad();
      precondition();
      const Tensor speed = SafeRoot::apply(1.0 / slowness_.square());
      const Tensor traces = propagate(acq_, speed, exponential ? sponge_->exponential() : sponge_->linear());
      Tensor residual = SoftClip::apply(traces - observed_, 0.5);
      residual.register_hook([](const Tensor& g) { return g.clamp(-1.0, 1.0); });  // RIGHT: torch-hook-in-loop
      const Tensor misfit = residual.square().mean();
      misfit.backward();
      optimizer.step();

      misfits_.push_back(misfit.detach());
      if (bounds) reset_water();
      keep_in_range();
      for (auto& cb : callbacks_) cb(it);
    }
  }

  Tensor speed() const {
    torch::NoGradGuard no_grad;
    return slowness_.reciprocal();
  }
  double last_misfit() const { return misfits_.empty() ? 0.0 : misfits_.back().item<double>(); }
  size_t iterations() const { return misfits_.size(); }

 private:
  // the water moves less than the ground
  void precondition() {
    slowness_.register_hook([w = weights_](const Tensor& g) { return g * w; });  // EXPECT: torch-hook-in-loop
  }

  void reset_water() {
    slowness_.narrow(0, 0, acq_.grid().water_rows).fill_(1.0);  // EXPECT: torch-leaf-inplace
  }

  void keep_in_range() {
    torch::NoGradGuard no_grad;
    slowness_.clamp_(0.5, 2.0);  // RIGHT: torch-leaf-inplace
  }

  const Acquisition& acq_;
  Tensor observed_;
  Sponge sponge_;
  Tensor slowness_, weights_;
  std::vector<Callback> callbacks_;
  std::vector<Tensor> misfits_;
};

struct Progress {
  int last = -1;
  std::vector<std::pair<int, Tensor>> sections;
};

void attach(const std::shared_ptr<Inversion>& inversion, const std::shared_ptr<Progress>& progress) {
  inversion->on_iteration([inversion, progress](int it) {  // EXPECT: torch-reference-cycle
    if (it % 2 == 0) progress->sections.emplace_back(it, inversion->speed());
  });
  std::weak_ptr<Inversion> weak = inversion;
  inversion->on_iteration([weak, progress](int it) {  // RIGHT: torch-reference-cycle
    if (auto alive = weak.lock()) progress->last = it + static_cast<int>(alive->iterations()) - (it + 1);
  });
}

}  // namespace seis

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  torch::manual_seed(5);
  bool exponential = false, bounds = false;
  int starts = 2;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--exponential") exponential = true;
    if (arg == "--bounds") bounds = true;
    if (arg.rfind("--starts=", 0) == 0) starts = std::atoi(arg.c_str() + 9);
  }
  const torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);

  const seis::Acquisition acq(seis::Grid{}, device);
  torch::Tensor truth = torch::ones({acq.grid().n, acq.grid().n}, acq.options());
  truth.narrow(0, 12, 8).narrow(1, 10, 12).fill_(1.4);
  const torch::Tensor damp = 1.0 - acq.profile() * 0.4;
  const auto observed = seis::model_only(acq, truth, damp, 5);

  for (int s = 0; s < starts; ++s) {
    auto inversion = std::make_shared<seis::Inversion>(acq, observed.traces);
    auto progress = std::make_shared<seis::Progress>();
    seis::attach(inversion, progress);
    inversion->run(4, exponential, bounds);
    std::cout << "start " << s << ": misfit " << inversion->last_misfit() << ", " << progress->sections.size()
              << " sections, last " << progress->last << "\n";
  }
  std::cout << "image energy " << seis::image(acq, observed.snapshots).norm().item<float>() << ", illumination "
            << seis::illumination(acq, observed.snapshots).sum().item<float>() << ", perturbed "
            << seis::perturbed(acq, truth, 0.01).mean().item<float>() << "\n";
  return 0;
}
