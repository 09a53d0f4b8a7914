// An encoder and a decoder are trained together, saved, and loaded again to
// compress and restore data. Both are set to eval().
// --size: that many times as many batches to restore.
#include "measure.h"
#include <sstream>

namespace {

constexpr int64_t features = 16, code = 4, batch_size = 64;

torch::nn::Sequential make_part(int64_t in, int64_t out) {
  return torch::nn::Sequential(torch::nn::Linear(in, 64), torch::nn::ReLU(),
                               torch::nn::Dropout(0.5),
                               torch::nn::Linear(64, out));
}

// Points near a plane of few dimensions.
torch::Tensor draw(const torch::Tensor &plane, int64_t count) {
  return torch::randn({count, code}, plane.device()).matmul(plane);
}

std::string saved(const torch::nn::Sequential &net) {
  std::ostringstream out;
  torch::save(net, out);
  return out.str();
}

void load(torch::nn::Sequential &net, const std::string &bytes) {
  std::istringstream in(bytes);
  torch::load(net, in);
}

struct Saved {
  std::string encoder, decoder;
};

Saved train(const torch::Tensor &plane) {
  auto encoder = make_part(features, code), decoder = make_part(code, features);
  encoder->to(plane.device());
  decoder->to(plane.device());
  std::vector<torch::Tensor> weights = encoder->parameters();
  for (const torch::Tensor &weight : decoder->parameters())
    weights.push_back(weight);
  torch::optim::Adam optimizer(weights, 1e-2);
  for (int step = 0; step < 300; ++step) {
    const auto batch = draw(plane, batch_size);
    optimizer.zero_grad();
    torch::mse_loss(decoder->forward(encoder->forward(batch)), batch)
        .backward();
    optimizer.step();
  }
  return {saved(encoder), saved(decoder)};
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  const auto plane = torch::randn({code, features}, device);
  const Saved parts = train(plane);

  auto encoder = make_part(features, code), decoder = make_part(code, features);
  load(encoder, parts.encoder);
  encoder->to(device);
  encoder->eval();
  load(decoder, parts.decoder);
  decoder->to(device);
  decoder->eval();

  torch::NoGradGuard no_grad;
  double error = 0;
  const int64_t batches = 20 * measure::size();
  {
    measure::Loop loop("restoring");
    for (int64_t i = 0; i < batches; ++i) {
      const auto batch = draw(plane, batch_size);
      const auto restored = decoder->forward(encoder->forward(batch));
      error += torch::mse_loss(restored, batch).item<double>();
      loop.iteration();
    }
  }
  measure::value("error", error / double(batches));
  measure::value("decoder-in-training", decoder->is_training() ? 1 : 0);
  return measure::finish();
}
