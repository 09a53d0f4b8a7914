// Frames of a camera are brought into tensors that LibTorch has made. The runtime is one that
// every machine has (support/runtime.h), with the memory of the host, and counts what was not
// given back.
// --size: that many times as many frames.
#include "measure.h"
#include "runtime.h"

#include <cstring>
#include <vector>

namespace {

torch::Tensor upload(const std::vector<float> &frame) {
  const auto pixels = torch::empty({static_cast<int64_t>(frame.size())});
  std::memcpy(pixels.data_ptr<float>(), frame.data(), frame.size() * sizeof(float));
  return pixels;
}

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  torch::NoGradGuard no_grad;
  std::vector<float> frame(64 * 64);
  double sum = 0;
  {
    measure::Loop loop("frames");
    for (int64_t i = 0; i < 60 * measure::size(); ++i) {
      frame[0] = static_cast<float>(i);
      sum += upload(frame).sum().item<double>();
      loop.iteration();
    }
  }
  measure::value("untracked-bytes", static_cast<double>(runtime::bytes_in_use()));
  measure::value("sum", sum);
  return measure::finish();
}
