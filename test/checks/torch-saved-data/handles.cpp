// RUN: %check_torch %s torch-saved-data %t -still-warns
//
// A second handle to the output is the output.

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void change(Tensor &x);

struct Saves : torch::autograd::Function<Saves> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x) {
    auto y = x.exp();
    auto kept = y;
    ctx->saved_data["y"] = kept;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning:
    // CHECK-FIXES: ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["y"].toTensor()};
    // CHECK-FIXES: return {g[0] * ctx->get_saved_variables()[0]};
  }
};

struct Returns : torch::autograd::Function<Returns> {
  static Tensor forward(AutogradContext *ctx, const Tensor &a, const Tensor &b) {
    auto mean = a * b / (a + b);
    const Tensor &same = mean;
    auto result = same;
    ctx->save_for_backward({a, b});
    ctx->saved_data["mean"] = mean;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning:
    return result;
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    auto f = ctx->saved_data["mean"].toTensor();
    return {g[0] * f, g[0] * f};
  }
};

// A copy, a handle that becomes another or may do so, an output without a gradient.
struct Others : torch::autograd::Function<Others> {
  static variable_list forward(AutogradContext *ctx, const Tensor &x) {
    auto y = x.exp();
    auto copy = y.clone(), detached = y.detach();
    ctx->saved_data["copy"] = copy;
    ctx->saved_data["detached"] = detached;
    auto next = y;
    next = x.sin();
    ctx->saved_data["next"] = next;
    auto changed = y;
    change(changed);
    ctx->saved_data["changed"] = changed;
    auto other = x.cos();
    auto flat = other;
    ctx->mark_non_differentiable({flat});
    ctx->saved_data["other"] = other;
    return {y, other};
  }
  static variable_list backward(AutogradContext *ctx, variable_list g) {
    return {g[0] * ctx->saved_data["copy"].toTensor()};
  }
};

int main() {
  auto x = torch::rand({4}, torch::requires_grad());
  auto y = Saves::apply(x) + Returns::apply(x, x) + Others::apply(x)[0];
  y.sum().backward();
}
