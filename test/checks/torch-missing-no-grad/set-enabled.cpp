// RUN: %check_torch %s torch-missing-no-grad %t
//
// Grad mode that a function switches, and that another one, or nobody, brings
// back: what is in force afterwards is known.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;
using torch::nn::Linear;
using Tensors = std::vector<Tensor>;

static void off() { torch::GradMode::set_enabled(false); }
static void on() { torch::GradMode::set_enabled(true); }
static void setMode(bool enabled) { at::GradMode::set_enabled(enabled); }

struct Saved {
  Saved() : before(torch::GradMode::is_enabled()) { setMode(false); }
  ~Saved() { setMode(before); }
  bool before;
};

// ----- it is on again -----

double switchedBack(Linear net, const Tensors &in) {
  off();
  auto scale = in[0].abs().max();
  on();
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x / scale).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return s;
}

double byParameter(Linear net, const Tensors &in) {
  setMode(false);
  auto scale = in[0].abs().max();
  setMode(true);
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x / scale).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return s;
}

double fromBool(Linear net, const Tensors &in) {
  const bool before = torch::GradMode::is_enabled();
  torch::GradMode::set_enabled(false);
  auto scale = in[0].abs().max();
  torch::GradMode::set_enabled(before);
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x / scale).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return s;
}

double fromObject(Linear net, const Tensors &in) {
  Tensor scale;
  {
    Saved saved;
    scale = in[0].abs().max();
  }
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x / scale).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return s;
}

// ----- it is off, or may be -----

double nobodyRestores(Linear net, const Tensors &in) {
  off();
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x).sum().item<double>();
  return s;
}

double inScope(Linear net, const Tensors &in) {
  Saved saved;
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x).sum().item<double>();
  return s;
}

double asItWas(Linear net, const Tensors &in) {
  off();
  const bool before = torch::GradMode::is_enabled();
  on();
  setMode(before);
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x).sum().item<double>();
  return s;
}

double onOnePath(Linear net, const Tensors &in, bool inference) {
  if (inference)
    off();
  net->eval();
  double s = 0;
  for (const auto &x : in)
    s += net->forward(x).sum().item<double>();
  return s;
}
