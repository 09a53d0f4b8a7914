// RUN: %check_torch %s torch-element-access-in-loop %t
//
// A nest of loops that main is seen to run once, before or after the work: some ten thousand numbers take some
// hundredths of a second. The option Strict tells it. Often, or large: told. (Where nobody knows who calls it: once.cpp.)

#include <torch/torch.h>

using torch::Tensor;

static Tensor filled(int64_t rows, int64_t columns) {
  Tensor density = torch::zeros({rows, columns}, torch::kCUDA);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      density[r][c] = r < columns - c ? 1.0 : 0.5;
  return density;
}
static Tensor step(const Tensor &density) {
  Tensor next = torch::zeros_like(density);
  for (int64_t r = 1; r < density.size(0); ++r)
    for (int64_t c = 1; c < density.size(1); ++c)
      next[r][c] = double(r - c);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 'next' are written one at a time
  return next;
}
static Tensor large() {
  Tensor image = torch::zeros({512, 512});
  for (int64_t r = 0; r < 512; ++r)
    for (int64_t c = 0; c < 512; ++c)
      image[r][c] = r * c;
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 'image' are written one at a time
  return image;
}
int main(int argc, char **argv) {
  Tensor density = filled(argc, 2 * argc);
  for (int i = 0; i < 1000; ++i)
    density = step(density);
  std::cout << density.sum() << large().sum();
}
