// Heated plate with drifting dust: explicit solver, modal filter, learned closure.
#include <torch/torch.h>

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace plate {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

struct Setup {
  int64_t n = 48;
  int64_t dust = 64;
  int64_t modes = 12;
  int64_t measurements = 1024;
  int64_t batch = 128;
  int steps = 12;
  double dt = 0.1;
  uint64_t seed = 4;
  torch::Device dev{torch::kCPU};

  torch::TensorOptions real() const { return torch::dtype(torch::kFloat).device(dev); }
};

// ============================================================ custom operations

// cap * tanh(x / cap)
class SoftCap : public torch::autograd::Function<SoftCap> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double cap) {
    auto y = (x / cap).tanh_().mul_(cap);
    ctx->saved_data["cap"] = cap;  // RIGHT: torch-saved-data
    if (x.requires_grad()) {
      ctx->saved_data["y"] = y;  // EXPECT: torch-saved-data
    }
    return y;
  }

  static tensor_list backward(AutogradContext* ctx, const tensor_list& grads) {
    const double cap = ctx->saved_data["cap"].toDouble();
    auto ratio = ctx->saved_data["y"].toTensor() / cap;
    return {grads[0] * (1 - ratio.square()), Tensor()};
  }
};

// sqrt(x^2 + eps) with a cheap gradient
class SmoothAbs : public torch::autograd::Function<SmoothAbs> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x, double eps) {
    auto y = x.square().add_(eps).sqrt_();
    ctx->save_for_backward({x, y});  // RIGHT: torch-saved-data
    return y;
  }

  static tensor_list backward(AutogradContext* ctx, const tensor_list& grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[0] / saved[1], Tensor()};
  }
};

// ============================================================ plate

class Plate {
 public:
  explicit Plate(const Setup& s)
      : s_(s),
        field_(torch::full({1, 1, s.n, s.n}, 20.0, torch::kFloat).to(s.dev)),  // EXPECT: torch-allocate-on-device
        stencil_(torch::tensor({0.f, 1.f, 0.f, 1.f, -4.f, 1.f, 0.f, 1.f, 0.f}, s.real()).view({1, 1, 3, 3})) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(s.seed);
    conductivity_ = torch::rand({1, 1, s.n, s.n}, generator, torch::kFloat).mul_(0.9).add_(0.1);
    flux_ = torch::rand({s.steps, s.n}, generator, torch::kFloat) * 50;
    auto x = torch::arange(s.n, s.real()).add_(0.5).mul_(M_PI / s.n);
    auto k = torch::arange(s.modes, s.real());
    basis_ = torch::cos(torch::outer(x, k));
    basis_.div_(basis_.norm(2, 0, true));
  }

  void advance() {
    torch::NoGradGuard off;
    const auto n = s_.n;
    for (int i = 0; i < s_.steps; ++i) {
      auto inflow = flux_[i].to(s_.dev);  // RIGHT: torch-repeated-transfer
      auto ghost = torch::zeros({1, 1, n + 2, n + 2}, field_.options());  // EXPECT: torch-allocation-in-loop
      ghost.slice(2, 1, n + 1).slice(3, 1, n + 1).copy_(field_);
      ghost.select(2, 0).slice(2, 1, n + 1).copy_(inflow);

      auto lap = torch::conv2d(ghost, stencil_);
      const auto c = conductivity_.to(field_.device());  // EXPECT: torch-repeated-transfer
      field_.addcmul_(lap, c, s_.dt);  // RIGHT: torch-unfused-operation
      field_ = field_.clamp(0, 400);  // EXPECT: torch-inplace-opportunity
    }
  }

  // Removes what the low modes do not carry, a few rows at a time.
  Tensor filtered(int64_t rows) const {
    torch::NoGradGuard off;
    auto out = torch::empty({s_.n, s_.n}, s_.real());
    const auto flat = field_.view({s_.n, s_.n});
    for (int64_t at = 0; at < s_.n; at += rows) {
      const auto k = std::min(rows, s_.n - at);
      auto coefficients = torch::mm(flat.narrow(0, at, k), basis_);
      auto back = basis_.t().contiguous();  // EXPECT: torch-noncontiguous-operand
      auto part = out.narrow(0, at, k);
      torch::mm_out(part, coefficients, back);
    }
    return out;
  }

  // Column-major dump for the old plotting tool.
  std::vector<float> columns() const {
    auto turned = field_.view({s_.n, s_.n}).t().to(torch::kCPU).contiguous();  // RIGHT: torch-noncontiguous-operand
    const auto* p = turned.data_ptr<float>();
    return {p, p + turned.numel()};
  }

  Tensor snapshot() const {
    return field_.to(torch::kCPU, torch::kFloat, /*non_blocking=*/false, /*copy=*/true);  // RIGHT: torch-redundant-transfer
  }

  const Tensor& field() const { return field_; }

 private:
  Setup s_;
  Tensor field_, stencil_, conductivity_, flux_, basis_;
};

// ============================================================ dust

class Dust {
 public:
  explicit Dust(const Setup& s) : s_(s) {
    // The same swarm on every machine.
    auto generator = at::make_generator<at::CPUGeneratorImpl>(s.seed + 1);
    pos_ = torch::rand({s.dust, 3}, generator, torch::kFloat).to(s.dev);  // RIGHT: torch-allocate-on-device
    vel_ = torch::zeros({s.dust, 3}, s.real());
    inverse_mass_ = torch::rand({s.dust, 1}, s.real()).add_(0.5).reciprocal_().mul_(1e-3);
  }

  void drift(int steps) {
    torch::NoGradGuard off;
    for (int i = 0; i < steps; ++i) {
      auto d = pos_.unsqueeze(0) - pos_.unsqueeze(1).repeat({1, s_.dust, 1});  // EXPECT: torch-repeat-for-broadcast
      auto r = d.square().sum(-1, true).add_(1e-2).pow_(1.5);
      auto pull = d.div_(r).sum(1);
      vel_ += pull * inverse_mass_;  // EXPECT: torch-unfused-operation
      pos_.add_(vel_, s_.dt);  // RIGHT: torch-unfused-operation
    }
  }

  // Positions after each of some steps.
  std::vector<Tensor> trail(int steps) {
    std::vector<Tensor> out;
    for (int i = 0; i < steps; ++i) {
      drift(1);
      auto frame = torch::empty({s_.dust, 3}, s_.real());  // RIGHT: torch-allocation-in-loop
      frame.copy_(pos_);
      out.push_back(frame);
    }
    return out;
  }

  // Rows of (particle, probe) pairs for the closure.
  Tensor pairs(const Tensor& probes) const {
    const auto m = probes.size(0);
    auto left = pos_.repeat_interleave(m, 0);
    auto right = probes.repeat({s_.dust, 1});  // RIGHT: torch-repeat-for-broadcast
    return torch::cat({left, right}, 1);
  }

  Tensor probesTo(const Tensor& probes) const {
    auto wide = pos_.unsqueeze(1).expand({s_.dust, probes.size(0), 3});  // RIGHT: torch-repeat-for-broadcast
    return (wide - probes).square().sum(-1);
  }

 private:
  Setup s_;
  Tensor pos_, vel_, inverse_mass_;
};

// ============================================================ closure

struct ClosureImpl : torch::nn::Module {
  ClosureImpl(int64_t in, int64_t width)
      : first(register_module("first", torch::nn::Linear(in, width))),
        second(register_module("second", torch::nn::Linear(width, 1))) {}

  Tensor forward(const Tensor& x) {
    Tensor h = first(x);
    for (int i = 0; i < 2; ++i) {
      h = SoftCap::apply(h, 3.0);
      h = torch::add(h, SmoothAbs::apply(h, 1e-4), 0.1);
      h = h.clamp(-2.5, 2.5);  // RIGHT: torch-inplace-opportunity
    }
    return second(h);
  }

  torch::nn::Linear first, second;
};
TORCH_MODULE(Closure);

class Fitter {
 public:
  Fitter(Closure net, const Setup& s) : net_(std::move(net)), s_(s), opt_(net_->parameters(), torch::optim::AdamOptions(3e-3)) {}

  float fit(const Tensor& hostPairs, const Tensor& hostTarget, int64_t batch) {
    auto total = torch::zeros({}, s_.real());
    const auto count = hostPairs.size(0) / batch;
    const auto scale = hostTarget.abs().max().to(s_.dev);
    for (int64_t b = 0; b < count; ++b) {
      auto x = hostPairs.narrow(0, b * batch, batch).clone().to(s_.dev);  // EXPECT: torch-redundant-transfer
      auto y = hostTarget.narrow(0, b * batch, batch).to(s_.dev);
      auto loss = torch::mse_loss(net_->forward(x).squeeze(-1), y / scale);
      opt_.zero_grad();
      loss.backward();
      opt_.step();
      total += loss.detach();
    }
    return total.item<float>() / static_cast<float>(count);
  }

 private:
  Closure net_;
  Setup s_;
  torch::optim::Adam opt_;
};

Setup fromArgs(int argc, char** argv) {
  Setup s;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--full")) {
      s.n = 4096;
      s.dust = 8192;
      s.modes = 1024;
      s.measurements = 1 << 24;
      s.batch = 1 << 18;
      s.steps = 5000;
      s.dt = 0.05;
    } else if (!std::strcmp(argv[i], "--seed") && i + 1 < argc) {
      s.seed = std::stoull(argv[++i]);
    } else if (!std::strcmp(argv[i], "--steps") && i + 1 < argc) {
      s.steps = std::stoi(argv[++i]);
    } else {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
    }
  }
  if (torch::cuda::is_available()) s.dev = torch::Device(torch::kCUDA, 0);
  return s;
}

}  // namespace plate

int main(int argc, char** argv) {
  using namespace plate;
  const auto s = fromArgs(argc, argv);
  torch::manual_seed(s.seed);

  Plate sheet(s);
  auto before = sheet.snapshot();
  sheet.advance();
  auto after = sheet.snapshot();
  std::printf("heated by %.4f\n", (after - before).mean().item<float>());

  auto smooth = sheet.filtered(16);
  auto dump = sheet.columns();
  std::printf("smooth %.4f, first column %.4f\n", smooth.mean().item<float>(), dump.front());

  Dust dust(s);
  dust.drift(s.steps);
  auto trail = dust.trail(5);
  std::printf("moved %.6f\n", (trail.back() - trail.front()).norm().item<float>());

  // Measured separations, as the instrument writes them.
  auto measured = torch::rand({s.measurements, 6});
  auto separation = (measured.narrow(1, 0, 3) - measured.narrow(1, 3, 3)).square_().sum(-1);

  Closure net(6, 32);
  net->to(s.dev);
  Fitter fitter(net, s);
  for (int epoch = 0; epoch < 3; ++epoch) std::printf("closure %.5f\n", fitter.fit(measured, separation, s.batch));

  torch::NoGradGuard off;
  auto probes = torch::rand({16, 3}, s.real());
  auto guess = net->forward(dust.pairs(probes)).view({s.dust, -1}) * separation.abs().max().item<float>();
  std::printf("closure error %.5f\n", torch::mse_loss(guess, dust.probesTo(probes)).item<float>());
  return 0;
}
