// Images go from a network to an accelerator one after the other, and come back. Somebody saw
// the memory in use grow, and empties the cache after each. The accelerator is one that every
// machine has (support/pretend.h): it keeps the memory that is freed for the next tensor, as
// the allocator of CUDA does, and counts how often it had none.
// --size: that many times as many images.
#include "measure.h"
#include "pretend.h"

namespace {

double show(const torch::Tensor &picture, torch::Device device) {
  const auto pixels = picture.to(device);
  return pixels.to(torch::kCPU).sum().item<double>();
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  torch::nn::Linear net(64, 64);
  double sum = 0;
  {
    measure::Loop loop("images");
    for (int64_t image = 0; image < 60 * measure::size(); ++image) {
      sum += show(net->forward(torch::rand({3, 64, 64})), device);
      loop.iteration();
    }
  }
  measure::value("memory-requests", static_cast<double>(pretend::memory_requests()));
  measure::value("sum", sum);
  return measure::finish();
}
