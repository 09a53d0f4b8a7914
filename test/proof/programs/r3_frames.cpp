// Tensors over arrays on the stack, in functions that stay functions.
#include <torch/torch.h>

#include <iostream>
#include <vector>

#define CALLED __attribute__((noinline))

namespace {

constexpr int kSide = 8;

CALLED torch::Tensor kernel(float weight) {
  float values[kSide * kSide];
  for (float &each : values)
    each = weight;
  // PLANT true torch-blob-lifetime/owner-leaves-scope: the array goes with the call
  return torch::from_blob(values, {kSide, kSide});
}

CALLED torch::Tensor wrap(float *values) {
  // PLANT innocent torch-blob-lifetime/owner-leaves-scope: whoever calls has the array, and goes on
  return torch::from_blob(values, {kSide});
}

CALLED double energy(const torch::Tensor &of) { return of.square().sum().item<double>(); }

CALLED double row(float weight) {
  float values[kSide];
  for (float &each : values)
    each = weight;
  const auto line = wrap(values);
  return energy(line) + line.max().item<double>();
}

CALLED torch::Tensor copied(float weight) {
  float values[kSide];
  for (float &each : values)
    each = weight;
  // PLANT innocent torch-blob-lifetime/owner-leaves-scope: what is returned was computed before
  return torch::from_blob(values, {kSide}) * 2;
}

struct Holder {
  torch::Tensor last;
  CALLED void keep(float weight) {
    float values[kSide];
    for (float &each : values)
      each = weight;
    // PLANT innocent torch-blob-lifetime/owner-leaves-scope: it is kept, and never read again
    last = torch::from_blob(values, {kSide});
    total += last.sum().item<double>();
  }
  double total = 0;
};

struct Sampler {
  torch::Tensor recent;
  CALLED void sample(float weight) {
    float values[kSide];
    for (float &each : values)
      each = weight;
    // PLANT true torch-blob-lifetime/owner-leaves-scope: report() reads what sample() had
    recent = torch::from_blob(values, {kSide});
  }
  CALLED double report() const { return recent.mean().item<double>(); }
};

} // namespace

int main() {
  double sum = 0;
  Holder holder;
  Sampler sampler;
  for (int step = 0; step < 12; ++step) {
    sum += kernel(0.5F).sum().item<double>() > 1e30;
    sum += row(0.25F);
    sum += copied(1.5F).sum().item<double>();
    holder.keep(0.5F);
    sampler.sample(2.F);
    sum += sampler.report() > 1e30;
  }
  std::cout << sum + holder.total << '\n';
  return 0;
}
