// RUN: %check_torch %s torch-repeated-transfer %t -- -config="{CheckOptions: {torch-repeated-transfer.Strict: true}}"
//
// A pointer into the tensor may be written through from where it is taken on,
// not before.

#include <torch/torch.h>

#include <vector>

using torch::Tensor;
using torch::nn::Linear;

double viaHost(Linear net, const std::vector<Tensor> &in, Tensor target) {
  double s = 0;
  for (const auto &x : in) {
    auto t = target.to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'target' does not change in this loop, but '.to(torch::kCUDA)' copies it in every iteration; transfer it once before the loop
    s += torch::mse_loss(net->forward(x), t).item<double>();
  }
  Tensor host = target.to(torch::kCPU).contiguous();
  const float *first = host.data_ptr<float>();
  return s + first[0];
}

double directly(const std::vector<Tensor> &in, Tensor mask, torch::Device device) {
  double s = 0;
  for (const auto &x : in)
    s += (x * mask.to(device)).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'mask' does not change in this loop, but '.to(device)' copies it
  return s + *mask.data_ptr<float>();
}

double byAccessor(const std::vector<Tensor> &in, Tensor scale) {
  double s = 0;
  for (const auto &x : in)
    s += (x * scale.to(torch::kFloat64)).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'scale' does not change in this loop, but '.to(torch::kFloat64)' converts it
  auto read = scale.accessor<float, 1>();
  return s + read[0];
}

static float last(Tensor x) { return x.data_ptr<float>()[x.numel() - 1]; }

struct Scorer {
  Tensor table;
  double run(const std::vector<Tensor> &in) {
    double s = 0;
    for (const auto &x : in)
      s += (x * table.to(torch::kCUDA)).sum().item<double>();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'table' does not change in this loop, but '.to(torch::kCUDA)' copies it
    return s + last(table);
  }
};

// ----- quiet -----

// Taken before the loop, and written through in it.
double before(const std::vector<Tensor> &in, Tensor mask, torch::Device device) {
  float *first = mask.data_ptr<float>();
  double s = 0;
  for (const auto &x : in) {
    first[0] += 1;
    s += (x * mask.to(device)).sum().item<double>();
  }
  return s;
}

double inside(const std::vector<Tensor> &in, Tensor mask, torch::Device device) {
  double s = 0;
  for (const auto &x : in) {
    s += (x * mask.to(device)).sum().item<double>();
    mask.data_ptr<float>()[0] = 0;
  }
  return s;
}

// Taken behind the inner loop, and written before it begins again.
double around(const std::vector<Tensor> &in, Tensor mask, torch::Device device) {
  double s = 0;
  float *first = nullptr;
  for (int epoch = 0; epoch < 10; ++epoch) {
    for (const auto &x : in) {
      if (first)
        first[0] += 1;
      s += (x * mask.to(device)).sum().item<double>();
    }
    first = mask.data_ptr<float>();
  }
  return s;
}

struct Painter {
  Tensor canvas;
  float *first;
  void begin() { first = canvas.data_ptr<float>(); }
  double run(const std::vector<Tensor> &in) {
    begin();
    double s = 0;
    for (const auto &x : in) {
      *first = static_cast<float>(s);
      s += (x * canvas.to(torch::kCUDA)).sum().item<double>();
    }
    return s;
  }
};
