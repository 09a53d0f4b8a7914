// RUN: %check_torch %s torch-device-mismatch %t
//
// A layer whose weight gets a tensor of another device computes there, though nobody has moved it.
// All is quiet.

#include <torch/torch.h>

using torch::Tensor;

struct Slope {
  explicit Slope(const Tensor &kernel) { along = fixed(kernel); }
  static torch::nn::Conv1d fixed(const Tensor &kernel) {
    torch::nn::Conv1d made(torch::nn::Conv1dOptions(1, 1, 3).bias(false));
    made->weight = kernel.reshape({1, 1, 3}).clone();
    return made;
  }
  Tensor of(const Tensor &field) { return along(field.unsqueeze(0)).squeeze(0); }
  torch::nn::Conv1d along = nullptr;
};

Slope before(torch::ones({3}, torch::kCUDA));

Tensor byContent(const Tensor &kernel) {
  torch::nn::Linear sum(torch::nn::LinearOptions(3, 1).bias(false));
  sum->weight.set_data(kernel);
  return sum(torch::rand({4, 3}, torch::kCUDA));
}

int main() {
  const Tensor field = torch::rand({1, 64}, torch::kCUDA);
  std::cout << before.of(field);
  Slope here(torch::ones({3}, torch::kCUDA));
  std::cout << here.of(field) << byContent(torch::ones({1, 3}, torch::kCUDA));
}
