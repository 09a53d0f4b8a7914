// A classifier is evaluated batch by batch, and all scores are kept for a curve
// over them.
// --size: that many times as many batches.
//
// MEASURE evaluation allocated-bytes factor=3 grows=linear unfixed
// MEASURE evaluation milliseconds report
// MEASURE process mean same
// MEASURE process scores same
#include "measure.h"

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  torch::nn::Linear net(64, 32);
  net->to(device);
  net->eval();
  const auto batch = torch::randn({64, 64}, device);
  auto scores = torch::empty({0, 32}, device);
  {
    measure::Loop loop("evaluation");
    for (int64_t step = 0; step < 60 * measure::size(); ++step) {
      const auto output = net->forward(batch * (1.0 / (1 + step)));
      scores = torch::cat({scores, output}); // BAD
      loop.iteration();
    }
  }
  measure::value("mean", scores.mean().item<double>());
  measure::value("scores", static_cast<double>(scores.size(0)));
  return measure::finish();
}
