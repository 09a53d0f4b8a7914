// RUN: %check_torch %s torch-saved-data %t -still-warns
//
// forward() of a custom function puts what it returns into saved_data.

#include <torch/torch.h>

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Exp : torch::autograd::Function<Exp> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x) {
    Tensor y = x.exp();
    ctx->saved_data["y"] = y;
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the output 'y' and the 'saved_data' that it is put into keep each other alive, so what each call has made is never freed, and memory grows; save it by 'save_for_backward({y})', and read it by 'get_saved_variables()' [torch-saved-data]
    // CHECK-NOTES: :[[@LINE-3]]:16: note: the output is made here
    // CHECK-NOTES: :[[@LINE+3]]:5: note: and returned here
    // CHECK-FIXES: {{^}}    ctx->save_for_backward({y});
    // A comment.
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto y = ctx->saved_data["y"].toTensor();
    // CHECK-FIXES: {{^}}    const auto y = ctx->get_saved_variables()[0];
    return {grads[0] * y};
  }
};

// One of several outputs; the other thing that is saved is a number.
struct Scale : torch::autograd::Function<Scale> {
  static variable_list forward(AutogradContext *context, Tensor x, double by) {
    auto scaled = x * by, other = x + by;
    context->saved_data["by"] = by;
    context->saved_data["scaled"] = scaled;
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the output 'scaled' and the 'saved_data' that it is put into keep each other alive
    // CHECK-NOTES: :[[@LINE-4]]:19: note: the output is made here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: and returned here
    // CHECK-FIXES: {{^}}    context->save_for_backward({scaled});
    return {scaled, other};
  }
  static variable_list backward(AutogradContext *context, variable_list grads) {
    const double by = context->saved_data["by"].toDouble();
    return {grads[0] * context->saved_data["scaled"].toTensor() * by, Tensor()};
    // CHECK-FIXES: {{^}}    return {grads[0] * context->get_saved_variables()[0] * by, Tensor()};
  }
};

// Memory that a kernel of its own fills.
void kernel(const Tensor &x, const Tensor &y);
struct Kernel : torch::autograd::Function<Kernel> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y;
    y = torch::empty_like(x);
    kernel(x, y);
    ctx->saved_data.insert({"y", y});
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the output 'y' and the 'saved_data' that it is put into keep each other alive
    // CHECK-NOTES: :[[@LINE-4]]:9: note: the output is made here
    // CHECK-NOTES: :[[@LINE+1]]:5: note: and returned here
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data.at("y").toTensor()};
  }
};

// A list of outputs, in a template.
template <class T> struct Both : torch::autograd::Function<Both<T>> {
  static variable_list forward(AutogradContext *ctx, Tensor x) {
    Tensor sine = x.sin();
    Tensor cosine = x.cos();
    ctx->saved_data["both"] = std::vector<Tensor>{sine, cosine};
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the output 'sine' and the 'saved_data' that it is put into keep each other alive
    // CHECK-NOTES: :[[@LINE-4]]:19: note: the output is made here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: and returned here
    variable_list outputs = {sine, cosine};
    return outputs;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto both = ctx->saved_data["both"].toTensorVector();
    return {grads[0] * both[1] - grads[1] * both[0]};
  }
};
Tensor use(const Tensor &x) { return Both<float>::apply(x)[0]; }

// Saved on one path, and returned on it.
struct Sometimes : torch::autograd::Function<Sometimes> {
  static Tensor forward(AutogradContext *ctx, Tensor x, bool keep) {
    Tensor y = torch::sigmoid(x);
    if (keep)
      ctx->saved_data["y"] = y;
    // CHECK-NOTES: :[[@LINE-1]]:7: warning: the output 'y' and the 'saved_data' that it is put into keep each other alive
    // CHECK-NOTES: :[[@LINE-4]]:16: note: the output is made here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: and returned here
    // CHECK-FIXES: {{^}}      ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    Tensor y = ctx->saved_data["y"].toTensor();
    // CHECK-FIXES: {{^}}    Tensor y = ctx->get_saved_variables()[0];
    return {grads[0] * y * (1 - y), Tensor()};
  }
};

// The read binds a reference, which a list that is returned does not allow.
struct Bound : torch::autograd::Function<Bound> {
  static Tensor forward(AutogradContext *ctx, Tensor x) {
    Tensor y = x.tanh();
    ctx->saved_data["y"] = y;
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the output 'y' and the 'saved_data' that it is put into keep each other alive
    // CHECK-NOTES: :[[@LINE-3]]:16: note: the output is made here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: and returned here
    // CHECK-FIXES: {{^}}    ctx->saved_data["y"] = y;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Tensor &y = ctx->saved_data["y"].toTensor();
    return {grads[0] * (1 - y * y)};
  }
};

// What ends with operations in place is what they have changed.
struct Steps : torch::autograd::Function<Steps> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x) {
    Tensor y = x.mul(4).round_().div_(4);
    ctx->saved_data["y"] = y;
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the output 'y' and the 'saved_data' that it is put into keep each other alive
    // CHECK-NOTES: :[[@LINE-3]]:16: note: the output is made here
    // CHECK-NOTES: :[[@LINE+2]]:5: note: and returned here
    // CHECK-FIXES: ctx->save_for_backward({y});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->saved_data["y"].toTensor()};
  }
};
