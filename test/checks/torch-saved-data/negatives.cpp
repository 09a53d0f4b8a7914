// RUN: %check_torch %s torch-saved-data %t
//
// What saved_data has is freed with the node, or is taken out again.

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Inputs, numbers, detached copies.
struct Inputs : torch::autograd::Function<Inputs> {
  static Tensor forward(AutogradContext *ctx, Tensor x, double slope) {
    Tensor y = x * slope;
    ctx->saved_data["x"] = x;
    ctx->saved_data["slope"] = slope;
    ctx->saved_data["y"] = y.detach();
    ctx->saved_data["mean"] = y.mean();
    ctx->saved_data["sizes"] = y.sizes().vec();
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["slope"].toDouble(), Tensor()};
  }
};
struct Returned : torch::autograd::Function<Returned> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x;
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return grads;
  }
};

// As it is meant.
struct Proper : torch::autograd::Function<Proper> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0]};
  }
};

// A part that is not returned, or a view of which the tensor is not.
struct Intermediate : torch::autograd::Function<Intermediate> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor gate = x.sigmoid();
    ctx->saved_data["gate"] = gate;
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return x * gate + y.view({-1}).view_as(x);
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["gate"].toTensor()};
  }
};
struct OtherPath : torch::autograd::Function<OtherPath> {
  static Tensor forward(AutogradContext *ctx, Tensor x, bool keep) {
    Tensor y = x.exp();
    if (keep) {
      ctx->saved_data["y"] = y;
      return x + y;
    }
    return y;
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return {grads[0], Tensor()};
  }
};
struct Overwritten : torch::autograd::Function<Overwritten> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    ctx->saved_data["y"] = x;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensor().exp()};
  }
};

// Outputs without a gradient have no node.
struct Indices : torch::autograd::Function<Indices> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    Tensor mask = x > 0, best = x.argmax(1);
    Tensor chosen = torch::empty_like(x, torch::kLong);
    Tensor values = std::get<0>(x.max(1)), where = std::get<1>(x.max(1));
    ctx->saved_data["mask"] = mask;
    ctx->saved_data["best"] = best;
    ctx->saved_data["chosen"] = chosen;
    ctx->saved_data["where"] = where;
    return {values, mask, best, chosen, where};
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return {grads[0]};
  }
};
struct Marked : torch::autograd::Function<Marked> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp(), scale = x.abs();
    ctx->mark_non_differentiable({scale});
    ctx->saved_data["scale"] = scale;
    return {y, scale};
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["scale"].toTensor()};
  }
};

// Taken out again, or perhaps.
struct Cleared : torch::autograd::Function<Cleared> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    Tensor y = ctx->saved_data["y"].toTensor();
    ctx->saved_data.clear();
    return {grads[0] * y};
  }
};
struct Moved : torch::autograd::Function<Moved> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * std::move(ctx->saved_data["y"]).toTensor()};
  }
};
void release(AutogradContext *ctx);
struct Helped : torch::autograd::Function<Helped> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    Tensor y = ctx->saved_data["y"].toTensor();
    release(ctx);
    return {grads[0] * y};
  }
};
struct Elsewhere : torch::autograd::Function<Elsewhere> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads);
};

// What makes it is not known, or it may become another tensor.
Tensor forwardOf(Tensor x);
void replace(Tensor &x);
struct Unknown : torch::autograd::Function<Unknown> {
  static variable_list forward(AutogradContext *ctx, Tensor x, bool again) {
    Tensor y = forwardOf(x), z = x.exp(), w = x.sin();
    ctx->saved_data["y"] = y;
    ctx->saved_data["z"] = z;
    ctx->saved_data["w"] = w;
    if (again)
      z = x.cos();
    replace(w);
    return {y, z, w};
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return {grads[0], Tensor()};
  }
};

// An input that is changed in place is returned, and so is a view of it.
struct Changed : torch::autograd::Function<Changed> {
  static variable_list forward(AutogradContext *ctx, Tensor x, Tensor z) {
    Tensor y = x.mul_(2).round_(), w = z.view({-1}).add_(1);
    ctx->mark_dirty({x, z});
    ctx->saved_data["y"] = y;
    ctx->saved_data["w"] = w;
    return {y, w};
  }
  static variable_list backward(AutogradContext *, variable_list grads) {
    return {grads[0], grads[1]};
  }
};

// No custom function.
struct Plain {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    return y;
  }
};
