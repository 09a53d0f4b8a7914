// A convolutional network learns to tell horizontal from vertical stripes, with
// its passes under autocast. Nothing empties the cache of autocast: from the
// second iteration on the convolutions compute with copies of the weights that
// they began with. step() changes weights that no pass has seen, by gradients
// of others, and the network that is there at the end is not the one that was
// trained.
// --size: that many times as many steps.
#include "measure.h"

#include <ATen/autocast_mode.h>

namespace {

struct NetImpl : torch::nn::Module {
  NetImpl()
      : conv(register_module(
            "conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3)))),
        out(register_module("out", torch::nn::Linear(8, 2))) {}

  torch::Tensor forward(const torch::Tensor &images) {
    features = torch::relu(conv(images));
    return out(features.mean({2, 3}));
  }

  torch::nn::Conv2d conv;
  torch::nn::Linear out;
  torch::Tensor features;
};
TORCH_MODULE(Net);

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  Net net;
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(), 0.2);
  const int64_t count = 32, edge = 12;
  const auto labels =
      torch::randint(2, {count}, torch::dtype(torch::kLong).device(device));
  const auto lines = torch::randint(2, {count, 1, edge, 1}, device)
                         .to(torch::kFloat)
                         .expand({count, 1, edge, edge});
  const auto images =
      torch::where(labels.view({count, 1, 1, 1}) == 1, lines,
                   lines.transpose(2, 3)) +
      0.1 * torch::randn({count, 1, edge, edge}, device);
  int64_t seen = 0;
  double last = 0;
  torch::Tensor before;
  for (int64_t step = 0; step < 60 * measure::size(); ++step) {
    optimizer.zero_grad();
    at::autocast::set_autocast_enabled(device.type(), true);
    const auto logits = net(images);
    at::autocast::set_autocast_enabled(device.type(), false);
    const auto loss =
        torch::cross_entropy_loss(logits.to(torch::kFloat), labels);
    loss.backward();
    optimizer.step();
    at::autocast::clear_cache();
    const auto features = net->features.detach();
    seen += !before.defined() || !features.equal(before);
    before = features;
    last = loss.item<double>();
  }
  measure::value("filters-seen", double(seen));
  measure::value("loss-in-training", last);
  torch::NoGradGuard no_grad;
  measure::value("loss-of-the-network",
                 torch::cross_entropy_loss(net(images), labels).item<double>());
  return measure::finish();
}
