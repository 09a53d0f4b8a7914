// RUN: %check_torch %s torch-unfused-operation %t
//
// What looks like it and is right, or is left alone.

#include <torch/torch.h>

using torch::Tensor;
using Tensors = std::vector<Tensor>;

// One operation already; products that have a name; numbers; another factor;
// what is subtracted from a product; a quotient by a number.
void right(Tensor x, const Tensors &as, const Tensor &b, double rate) {
  for (const Tensor &a : as) {
    x = torch::addcmul(x, a, b);
    x = torch::add(x, a, rate);
    x.add_(a, rate);
    const Tensor product = a * b;
    x = x + product;
    std::cout << product;
    x = x + rate * 2;
    x = a * b + 1;
    x = torch::add(x, a * b, rate);
    x = a * b - x;
    x = x + a / 2;
    x = x * a + 1.0;
    x = x + torch::mm(a, b);
    x = x + 0.1 * torch::mse_loss(a, b);
    x = x + a.sum().detach() * rate;
    x += a.mean() / b.mean();
  }
}

// Not in a loop.
Tensor once(const Tensor &x, const Tensor &a, const Tensor &b) {
  return x + a * b;
}

// Numbers of the host.
double numbers(const std::vector<double> &values) {
  double sum = 0;
  for (double each : values)
    sum = sum + each * 2;
  return sum;
}
