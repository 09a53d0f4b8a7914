// A service scales the images that it is sent by the mean of each colour, which
// the camera tells. The means go to the device of the service as the images do.
// --size: that many times as many requests.
#include "measure.h"

namespace {

torch::Device otherThanCpu(torch::Device given) {
  return given.is_cpu() ? torch::Device(torch::kMeta) : given;
}

torch::Tensor request() { return torch::rand({4, 3, 32, 32}); }

// How many requests get an answer.
int64_t serve(torch::Device device, int64_t requests) {
  int64_t answered = 0;
  for (int64_t i = 0; i < requests; ++i) {
    try {
      const auto images = request().to(device);
      const float light = 0.4F + 0.001F * float(i % 100);
      const auto mean = torch::tensor({light, 0.456F, 0.406F}).view({3, 1, 1});
      const auto centred = images - mean.to(device);
      answered += centred.size(0) == 4 ? 1 : 0;
    } catch (const c10::Error &) {
    }
  }
  return answered;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = otherThanCpu(measure::start(argc, argv));
  torch::manual_seed(1);
  const int64_t answered = serve(device, 20 * measure::size());
  measure::value("answered", static_cast<double>(answered));
  return measure::finish();
}
