// Heat in a rod with an unknown source: a field that obeys the equation (a physics-informed
// loss), a closure that corrects a coarse solver step by step, and the conductivity itself.
#include <torch/torch.h>

#include <cstdio>
#include <vector>

using namespace torch::autograd;
using torch::indexing::Slice;

namespace {
constexpr int64_t kCells = 48, kPoints = 64;
constexpr double kDt = 0.05, kConductivity = 0.3;
// Limits the value; the gradient goes through as long as it leads back inside.
struct SoftBound : torch::autograd::Function<SoftBound> {
  static torch::Tensor forward(AutogradContext* ctx, torch::Tensor x, double bound) {
    ctx->save_for_backward({x});
    ctx->saved_data["bound"] = bound;
    return x.clamp(-bound, bound);
  }
  static tensor_list backward(AutogradContext* ctx, tensor_list grads) {
    auto x = ctx->get_saved_variables()[0];  // RIGHT: torch-dangling-data the element is copied
    auto open = x.abs().lt(ctx->saved_data["bound"].toDouble()) | (x * grads[0]).gt(0);
    return {grads[0] * open.to(grads[0].dtype()), torch::Tensor()};
  }
};

struct FieldImpl : torch::nn::Module {
  FieldImpl() {
    range = register_buffer("range", torch::ones({2}));
    calls = register_buffer("calls", torch::zeros({1}));
    net = register_module("net", torch::nn::Sequential(torch::nn::Linear(2, 24), torch::nn::Tanh(), torch::nn::Linear(24, 1)));
  }
  torch::Tensor forward(const torch::Tensor& xt) {
    if (is_training()) {
      range = 0.9 * range + 0.1 * xt.detach().abs().amax(0);  // EXPECT: torch-reassigned-member
      calls.add_(1);  // RIGHT: torch-reassigned-member the registered buffer, in place
    }
    return SoftBound::apply(net->forward(xt / range), 2.0);
  }
  torch::nn::Sequential net{nullptr};
  torch::Tensor range, calls;
};
TORCH_MODULE(Field);

torch::Tensor residual(Field& field, const torch::Tensor& xt) {
  auto du = grad({field->forward(xt).sum()}, {xt}, {}, true, true)[0];
  auto u_xx = grad({du.index({Slice(), 0}).sum()}, {xt}, {}, true, true)[0].index({Slice(), 0});
  return du.index({Slice(), 1}) - kConductivity * u_xx;
}
struct TracePoint { int64_t iteration; torch::Tensor physics; };

double train_field(Field& field, int64_t iterations) {
  torch::optim::Adam optimizer(field->parameters(), torch::optim::AdamOptions(1e-3));
  std::vector<TracePoint> trace;
  for (int64_t i = 0; i < iterations; ++i) {
    auto inside = torch::rand({kPoints, 2}).requires_grad_();
    auto edge = torch::cat({torch::rand({kPoints, 1}), torch::zeros({kPoints, 1})}, 1);
    auto physics = residual(field, inside).pow(2).mean();
    auto data = (field->forward(edge) - torch::sin(3.14159 * edge.slice(1, 0, 1))).pow(2).mean();
    optimizer.zero_grad();
    (physics + data).backward();
    optimizer.step();  // RIGHT: torch-missing-zero-grad cleared before backward()
    trace.push_back({i, physics});  // EXPECT: torch-retained-graph
  }
  return trace.back().physics.item<double>() / trace.front().physics.item<double>();
}

double mean_residual(Field& field) {
  field->eval();
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    auto xt = torch::rand({kPoints, 2}).requires_grad_();
    sum += residual(field, xt).abs().mean().item<double>();  // RIGHT: torch-missing-no-grad the residual is made of gradients of the input
  }
  return sum / 4;
}
torch::Tensor laplacian(const torch::Tensor& u) { return u.roll(1, -1) - 2 * u + u.roll(-1, -1); }

// One correction after each step of the coarse solver.
void fit_online(torch::nn::Sequential& closure, const torch::Tensor& reference) {
  torch::optim::SGD optimizer(closure->parameters(), torch::optim::SGDOptions(1e-2));
  auto u = reference[0];
  for (int64_t k = 1; k < reference.size(0); ++k) {
    auto next = u + kDt * (kConductivity * laplacian(u) + closure->forward(u));
    auto loss = torch::mse_loss(next, reference[k]);
    optimizer.zero_grad();
    loss.backward({}, /*retain_graph=*/true);
    optimizer.step();
    u = next;  // EXPECT: torch-undetached-hidden-state
  }
}

void fit_spans(torch::nn::Sequential& closure, const torch::Tensor& reference) {
  torch::optim::Adam optimizer(closure->parameters(), torch::optim::AdamOptions(1e-3));
  auto u = reference[0];
  for (int64_t k = 1; k + 3 < reference.size(0); k += 4) {
    auto loss = torch::zeros({});
    for (int64_t s = 0; s < 4; ++s) {
      u = u + kDt * (kConductivity * laplacian(u) + closure->forward(u));  // RIGHT: torch-undetached-hidden-state one span is backwarded as a whole
      loss = loss + torch::mse_loss(u, reference[k + s]);
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    u = u.detach();
  }
}

// Plain descent: one number has no use for an optimizer.
double fit_conductivity(const torch::Tensor& reference) {
  auto kappa = torch::full({1}, 0.1, torch::requires_grad());
  for (int64_t i = 0; i < 20; ++i) {
    auto next = reference[0] + kDt * kappa * laplacian(reference[0]);
    torch::mse_loss(next, reference[1]).backward();
    kappa -= 100 * kappa.grad();  // EXPECT: torch-leaf-inplace
    kappa.grad().zero_();
  }
  return kappa.item<double>();
}

torch::Tensor fit_source(const torch::Tensor& reference) {
  auto source = torch::zeros({kCells}, torch::requires_grad());
  for (int64_t i = 0; i < 20; ++i) {
    auto next = reference[0] + kDt * (kConductivity * laplacian(reference[0]) + source);
    torch::mse_loss(next, reference[1]).backward();
    torch::NoGradGuard no_grad;
    source -= 1000 * source.grad();  // RIGHT: torch-leaf-inplace under a guard, which the next pass is outside of
    source.grad().zero_();
  }
  return source.detach();
}
}  // namespace
int main(int argc, char** argv) {
  torch::manual_seed(6), torch::set_num_threads(1);
  Field field;
  auto ratio = train_field(field, 60);
  std::printf("physics %.3f of the first, residual %.4f\n", ratio, mean_residual(field));
  auto x = torch::linspace(0, 6.28, kCells);
  std::vector<torch::Tensor> states{torch::sin(x)};
  for (int k = 1; k < 17; ++k)
    states.push_back(states.back() + kDt * (kConductivity * laplacian(states.back()) + 0.2 * torch::cos(x)));
  auto reference = torch::stack(states);
  torch::nn::Sequential closure(torch::nn::Linear(kCells, 32), torch::nn::Tanh(), torch::nn::Linear(32, kCells));
  fit_online(closure, reference);
  fit_spans(closure, reference);
  std::printf("source %.3f\n", fit_source(reference).abs().mean().item<double>());
  if (argc > 1)
    std::printf("conductivity %.3f\n", fit_conductivity(reference));
}
