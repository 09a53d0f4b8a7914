// A camera: frames of bytes are averaged, the mean is sharpened, and a
// regression learns the temperature of the scene from raw features. Each time a
// conversion is written as if it changed the tensor that it is called on.
// --size: that many times as many frames, pixels and steps.
#include "measure.h"

#include <vector>

namespace {

// A bright scene, so that the sum of two frames is no byte.
std::vector<torch::Tensor> record(const torch::Tensor &scene) {
  std::vector<torch::Tensor> frames;
  for (int64_t i = 0; i < 16 * measure::size(); ++i)
    frames.push_back(
        at::normal(scene, 4.0).clamp(0, 255).to(torch::kUInt8));
  return frames;
}

torch::Tensor average(const std::vector<torch::Tensor> &frames) {
  auto sum = torch::zeros_like(frames.front());
  sum = sum.to(torch::kInt32);
  for (const auto &frame : frames)
    sum = sum + frame;
  return sum / static_cast<int64_t>(frames.size());
}

torch::Tensor sharpen(torch::Tensor image) {
  const auto blurred =
      torch::avg_pool2d(image.unsqueeze(0), 3, 1, 1).squeeze(0);
  image = image + (image - blurred) * 4;
  image = image.clamp(0, 255);
  return image;
}

torch::Tensor standardized(const torch::Tensor &features) {
  return (features - features.mean(0)) / features.std(0);
}

double train(torch::Tensor features, const torch::Tensor &temperature) {
  features = standardized(features);
  torch::nn::Linear net(features.size(1), 1);
  net->to(features.device());
  torch::optim::SGD optimizer(net->parameters(), 0.02);
  double last = 0;
  for (int64_t step = 0; step < 200 * measure::size(); ++step) {
    const auto loss =
        torch::mse_loss(net->forward(features), temperature.unsqueeze(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto scene =
      (torch::rand({1, 64 * measure::size(), 64}) * 75 + 180).to(device);
  const auto mean = average(record(scene));
  measure::value("average-error", (mean - scene).abs().mean().item<double>());

  const auto image = sharpen(scene);
  const auto outside = image.gt(255).logical_or(image.lt(0));
  measure::value("pixels-out-of-range",
                 static_cast<double>(outside.sum().item<int64_t>()));

  // Voltages in millivolts, about one half of a volt apart from each other.
  const auto weather = torch::randn({256, 3});
  const auto features =
      (weather * torch::tensor({0.1, 0.2, 0.1}) + 1).to(device);
  const auto temperature =
      (weather * torch::tensor({3.0, -2.0, 1.0})).sum(1).to(device);
  measure::value("loss", train(features, temperature));
  return measure::finish();
}
