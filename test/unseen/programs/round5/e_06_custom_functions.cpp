// Custom autograd functions, gradient hooks and calibration by hand for a strain sensor.
#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <memory>
#include <vector>

namespace {
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
struct Soft : torch::autograd::Function<Soft> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& in) {
    auto squashed = in / (1 + in.abs());
    ctx->saved_data["out"] = squashed;  // EXPECT: torch-saved-data
    return squashed;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    auto out = ctx->saved_data["out"].toTensor();
    return {g[0] * (1 - out.abs()).square()};
  }
};
struct Shrink : torch::autograd::Function<Shrink> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& in, double width) {
    ctx->saved_data["in"] = in;  // RIGHT: torch-saved-data (an input)
    ctx->saved_data["width"] = width;
    return torch::softshrink(in, width);
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    auto in = ctx->saved_data["in"].toTensor();
    return {g[0] * in.abs().gt(ctx->saved_data["width"].toDouble()), torch::Tensor()};
  }
};
struct Doubling : torch::autograd::Function<Doubling> {
  static torch::Tensor forward(AutogradContext* ctx, const torch::Tensor& in) {
    auto up = torch::exp2(in);
    ctx->saved_data["up"] = up.detach();  // RIGHT: torch-saved-data (a detached copy)
    return up;
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    return {g[0] * ctx->saved_data["up"].toTensor() * 0.6931};
  }
};
struct GaugeImpl : torch::nn::Module {
  GaugeImpl() {
    pre = register_module("pre", torch::nn::Linear(8, 16));
    post = register_module("post", torch::nn::Linear(16, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return post(Soft::apply(Shrink::apply(pre(x), 0.05)));
  }
  torch::nn::Linear pre{nullptr}, post{nullptr};
};
TORCH_MODULE(Gauge);
struct Session {
  torch::Tensor weights = torch::ones({32, 32});
  double last = 0;
  std::function<void(double)> onLoss, onDone;
};
void damp(Gauge& net) {
  net->pre->weight.register_hook([](torch::Tensor g) { return g * 0.7; });  // EXPECT: torch-hook-in-loop
}

void fit(Gauge& net, int steps) {
  torch::optim::SGD opt(net->parameters(), 0.05);
  for (auto& p : net->parameters()) p.register_hook([](torch::Tensor g) { return g.clamp(-5, 5); });  // RIGHT: torch-hook-in-loop (each parameter once)
  for (int s = 0; s < steps; ++s) {
    damp(net);
    auto x = torch::randn({16, 8});
    auto y = net->forward(x);
    y.register_hook([](torch::Tensor g) { return g / 2; });  // RIGHT: torch-hook-in-loop (another tensor in each iteration)
    opt.zero_grad();
    torch::mse_loss(y, x.sum(1, true)).backward();
    opt.step();
  }
}

double saliency(Gauge& net, const torch::Tensor& x) {
  auto inner = net->pre->forward(x);
  inner.register_hook([inner](torch::Tensor g) { return g * inner.detach().sign(); });  // EXPECT: torch-reference-cycle
  auto outer = torch::tanh(inner);
  outer.register_hook([kept = outer.detach()](torch::Tensor g) { return g * kept; });  // RIGHT: torch-reference-cycle (detached)
  outer.sum().backward();
  return net->pre->bias.grad().norm().item<double>();
}

double runSession(int reports) {
  auto strong = std::make_shared<Session>();
  strong->onLoss = [strong](double l) { strong->last = l; };  // EXPECT: torch-reference-cycle
  auto careful = std::make_shared<Session>();
  careful->onDone = [w = std::weak_ptr<Session>(careful)](double l) {  // RIGHT: torch-reference-cycle (a weak pointer)
    if (auto s = w.lock()) s->last = l;
  };
  for (int r = 0; r < reports; ++r) {
    strong->onLoss(r);
    careful->onDone(r * 2);
  }
  return strong->last + careful->last;
}

void calibrate(const torch::Tensor& x, const torch::Tensor& y, int steps) {
  auto slope = torch::ones({1}, torch::requires_grad());
  for (int s = 0; s < steps; ++s) {
    (x * slope - y).square().mean().backward();
    slope -= 0.01 * slope.grad();  // EXPECT: torch-leaf-inplace
    slope.mutable_grad().zero_();
  }
}
double calibrateGuarded(const torch::Tensor& x, const torch::Tensor& y, int steps) {
  auto slope = torch::ones({1}, torch::requires_grad());
  for (int s = 0; s < steps; ++s) {
    (x * slope - y).square().mean().backward();
    torch::NoGradGuard off;
    slope.sub_(slope.grad(), 0.01);  // RIGHT: torch-leaf-inplace, torch-missing-zero-grad (guarded, cleared)
    slope.mutable_grad().zero_();
  }
  return slope.item<double>();
}
double residual(Gauge& net, const torch::Tensor& x) {
  auto gate = torch::sigmoid(net->pre->forward(x));
  gate += x.sum(1, true);  // EXPECT: torch-inplace-saved
  auto loss = gate.mean();
  loss.backward();
  return net->pre->weight.grad().norm().item<double>();
}
double residualSum(Gauge& net, const torch::Tensor& x) {
  auto mixed = net->pre->forward(x);
  mixed += x.sum(1, true);  // RIGHT: torch-inplace-saved (no gradient needs a Linear's result)
  auto loss = mixed.mean();
  loss.backward();
  return net->pre->weight.grad().norm().item<double>();
}
}  // namespace

int main() {
  torch::manual_seed(6);
  Gauge net;
  fit(net, 20);
  const auto x = torch::randn({32, 8}), y = torch::randn({32, 8});
  std::cout << saliency(net, x) << ' ' << runSession(5) << ' ' << calibrateGuarded(x, y, 10) << ' ' << residualSum(net, x)
            << Doubling::apply(x).mean().item<double>() << '\n';
  using Attempt = std::function<void()>;
  for (const Attempt& attempt : {Attempt([&] { calibrate(x, y, 5); }), Attempt([&] { residual(net, x); })}) {
    try {
      attempt();
    } catch (const c10::Error& e) {
      std::cout << "failed: " << e.what_without_backtrace() << '\n';
    }
  }
}
