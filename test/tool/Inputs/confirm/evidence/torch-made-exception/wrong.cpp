// An in-place operation on a parameter.
//
// MEASURE process exceptions at=BAD type=c10::Error message="a leaf Variable"
// MEASURE process exceptions more=2
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::nn::Linear net(4, 4);
  net->to(device);
  int64_t caught = 0;
  try {
    net->weight.mul_(0.5); // BAD
  } catch (const c10::Error &) {
    ++caught;
  }
  try {
    torch::optim::SGD optimizer(
        {torch::randn({2}, device).requires_grad_() * 2}, 0.1); // OTHER
  } catch (const c10::Error &) {
    ++caught;
  }
  measure::value("caught", static_cast<double>(caught));
  return measure::finish();
}
