// Two GANs learn to draw points of a ring. The discriminators are trained on
// what the generators have drawn, with its graph, which is retained for the
// generators. In the first the gradients of the generator are cleared before
// its own step, so backward() went through it for nothing. In the second those
// of both networks are cleared together, and the generator's step applies what
// the discriminator's loss has left there.
// --size: that many times as large a batch.
//
// MEASURE cleared allocated-bytes factor=1.2 grows=linear
// MEASURE cleared allocations more=10 grows=constant
// MEASURE cleared milliseconds report
// MEASURE process radius same
// MEASURE process spoiled-radius differs=0.01
#include "measure.h"

namespace {

constexpr int64_t noise_size = 8;

torch::nn::Sequential make_net(int64_t in, int64_t out, int64_t layers,
                               torch::Device device) {
  torch::nn::Sequential net(torch::nn::Linear(in, 64));
  for (int64_t layer = 0; layer < layers; ++layer) {
    net->push_back(torch::nn::LeakyReLU());
    net->push_back(torch::nn::Linear(64, 64));
  }
  net->push_back(torch::nn::LeakyReLU());
  net->push_back(torch::nn::Linear(64, out));
  net->to(device);
  return net;
}

// Batches of points.
torch::Tensor make_ring(int64_t count, torch::Device device) {
  const auto angle = torch::rand({count}, device) * (2 * M_PI);
  const auto radius = 1 + 0.05 * torch::randn({count}, device);
  const auto points = torch::stack({angle.cos(), angle.sin()}, 1);
  return (points * radius.view({-1, 1})).view({10, -1, 2});
}

torch::Tensor loss_of(const torch::Tensor &score, const torch::Tensor &labels) {
  return torch::binary_cross_entropy_with_logits(score, labels);
}

// The mean distance of the points that it draws in the end from the middle.
double train(const torch::Tensor &ring) {
  const auto device = ring.device();
  auto generator = make_net(noise_size, 2, 4, device);
  auto discriminator = make_net(2, 1, 1, device);
  torch::optim::Adam generating(generator->parameters(), 1e-3);
  torch::optim::Adam discriminating(discriminator->parameters(), 1e-3);
  const auto real = torch::ones({ring.size(1), 1}, device);
  const auto fake = torch::zeros({ring.size(1), 1}, device);

  torch::Tensor drawn;
  measure::Loop loop("cleared");
  for (int step = 0; step < 200; ++step) {
    const auto noise = torch::randn({ring.size(1), noise_size}, device);
    drawn = generator->forward(noise);
    const auto on_drawn = discriminator->forward(drawn); // BAD
    const auto on_ring = discriminator->forward(ring[step % ring.size(0)]);
    const auto mistakes = loss_of(on_ring, real) + loss_of(on_drawn, fake);
    discriminating.zero_grad();
    mistakes.backward({}, /*retain_graph=*/true);
    discriminating.step();

    const auto detected = loss_of(discriminator->forward(drawn), real);
    generating.zero_grad();
    detected.backward();
    generating.step();
    loop.iteration();
  }
  return drawn.detach().norm(2, 1).mean().item<double>();
}

double train_spoiled(const torch::Tensor &ring) {
  const auto device = ring.device();
  auto generator = make_net(noise_size, 2, 4, device);
  auto discriminator = make_net(2, 1, 1, device);
  torch::optim::Adam generating(generator->parameters(), 1e-3);
  torch::optim::Adam discriminating(discriminator->parameters(), 1e-3);
  const auto real = torch::ones({ring.size(1), 1}, device);
  const auto fake = torch::zeros({ring.size(1), 1}, device);

  torch::Tensor drawn;
  for (int step = 0; step < 200; ++step) {
    generating.zero_grad();
    discriminating.zero_grad();
    const auto noise = torch::randn({ring.size(1), noise_size}, device);
    drawn = generator->forward(noise);
    const auto on_drawn = discriminator->forward(drawn); // BAD
    const auto on_ring = discriminator->forward(ring[step % ring.size(0)]);
    const auto mistakes = loss_of(on_ring, real) + loss_of(on_drawn, fake);
    mistakes.backward({}, /*retain_graph=*/true);
    discriminating.step();

    const auto detected = loss_of(discriminator->forward(drawn), real);
    detected.backward();
    generating.step();
  }
  return drawn.detach().norm(2, 1).mean().item<double>();
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto ring = make_ring(10 * 256 * measure::size(), device);
  measure::value("radius", train(ring));
  measure::value("spoiled-radius", train_spoiled(ring));
  return measure::finish();
}
