// A denoising autoencoder for line sketches. The first layer has a Hebbian
// gate: a weight learns from a batch only where its pixel and its unit were
// active together, which keeps the filters local.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr int64_t kSide = 28;
constexpr int64_t kPixels = kSide * kSide;
constexpr int64_t kUnits = 256;
constexpr int64_t kCode = 24;
constexpr int64_t kBatch = 96;

// Sketches with two or three strokes each, values between 0 and 1.
torch::Tensor drawSketches(int64_t count) {
  const torch::Tensor axis = torch::linspace(-1.0, 1.0, kSide);
  const torch::Tensor x = axis.view({1, 1, kSide});
  const torch::Tensor y = axis.view({1, kSide, 1});
  torch::Tensor canvas = torch::zeros({count, kSide, kSide});
  for (int stroke = 0; stroke < 3; ++stroke) {
    const torch::Tensor angle = torch::rand({count, 1, 1}) * 3.14159;
    const torch::Tensor offset = torch::rand({count, 1, 1}) - 0.5;
    const torch::Tensor bend = (torch::rand({count, 1, 1}) - 0.5) * 0.6;
    const torch::Tensor across = x * angle.cos() + y * angle.sin() - offset;
    const torch::Tensor along = y * angle.cos() - x * angle.sin();
    const torch::Tensor distance = (across + bend * along * along).abs();
    const torch::Tensor ink = torch::exp(distance.square() * -90.0);
    const torch::Tensor present =
        (torch::rand({count, 1, 1}) < (stroke < 2 ? 1.0 : 0.5))
            .to(torch::kFloat);
    canvas = torch::maximum(canvas, ink * present);
  }
  return canvas.reshape({count, kPixels});
}

class HebbianLinearImpl : public torch::nn::Module {
public:
  HebbianLinearImpl(int64_t in, int64_t out, double threshold)
      : linear_(in, out), threshold_(threshold) {
    register_module("linear", linear_);
#ifdef MENDED
    linear_->weight.register_hook([latest = latest_](const torch::Tensor &g) {
      return latest->defined() ? g * *latest : g;
    });
#endif
  }

  torch::Tensor forward(const torch::Tensor &x) {
    const torch::Tensor y = torch::relu(linear_->forward(x));
    if (is_training())
      gateGradient(x.detach(), y.detach());
    return y;
  }

  double openShare() const { return open_share_; }

private:
  void gateGradient(const torch::Tensor &pixels, const torch::Tensor &units) {
    const torch::Tensor together = units.t().mm(pixels) / pixels.size(0);
    const torch::Tensor gate = together.gt(threshold_).to(torch::kFloat);
    open_share_ = gate.mean().item<double>();
#ifdef MENDED
    *latest_ = gate;
#else
    linear_->weight.register_hook(
        [gate](const torch::Tensor &grad) { return grad * gate; });
#endif
  }

  torch::nn::Linear linear_;
  double threshold_;
  double open_share_ = 1.0;
#ifdef MENDED
  std::shared_ptr<torch::Tensor> latest_ = std::make_shared<torch::Tensor>();
#endif
};
TORCH_MODULE(HebbianLinear);

struct AutoencoderImpl : torch::nn::Module {
  AutoencoderImpl()
      : first(kPixels, kUnits, 1e-4),
        encoder(torch::nn::Linear(kUnits, 96), torch::nn::Tanh(),
                torch::nn::Linear(96, kCode)),
        decoder(torch::nn::Linear(kCode, 160), torch::nn::ReLU(),
                torch::nn::Linear(160, 320), torch::nn::ReLU(),
                torch::nn::Linear(320, kPixels)) {
    register_module("first", first);
    register_module("encoder", encoder);
    register_module("decoder", decoder);
  }

  torch::Tensor encode(const torch::Tensor &x) {
    return encoder->forward(first->forward(x));
  }

  torch::Tensor forward(const torch::Tensor &x) {
    return decoder->forward(encode(x));
  }

  HebbianLinear first;
  torch::nn::Sequential encoder;
  torch::nn::Sequential decoder;
};
TORCH_MODULE(Autoencoder);

// Blanks random patches and adds a little noise.
torch::Tensor corrupt(const torch::Tensor &clean) {
  torch::Tensor image = clean.clone().view({-1, kSide, kSide});
  const int64_t top = torch::randint(kSide - 8, {1}).item<int64_t>();
  const int64_t left = torch::randint(kSide - 8, {1}).item<int64_t>();
  image.narrow(1, top, 8).narrow(2, left, 8).zero_();
  image.add_(torch::randn_like(image), 0.08).clamp_(0.0, 1.0);
  return image.view({-1, kPixels});
}

struct Report {
  double error = 0.0;
  double code_spread = 0.0;
};

Report evaluate(Autoencoder &model, const torch::Tensor &held_out) {
  torch::NoGradGuard guard;
  model->eval();
  Report report;
  const std::vector<torch::Tensor> parts = held_out.split(kBatch);
  for (const torch::Tensor &part : parts) {
    const torch::Tensor code = model->encode(part);
    const torch::Tensor guess = torch::sigmoid(model->decoder->forward(code));
    report.error += torch::mse_loss(guess, part).item<double>();
    report.code_spread += code.std(0).mean().item<double>();
  }
  report.error /= static_cast<double>(parts.size());
  report.code_spread /= static_cast<double>(parts.size());
  model->train();
  return report;
}

} // namespace

int main(int argc, char **argv) {
  int64_t iterations = 300;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--iterations") == 0)
      iterations = std::atoll(argv[i + 1]);

  torch::manual_seed(5);
  const torch::Tensor sketches = drawSketches(1920);
  const torch::Tensor held_out = drawSketches(288);

  Autoencoder model;
  torch::optim::Adam optimizer(model->parameters(),
                               torch::optim::AdamOptions(1e-3));
  torch::optim::StepLR schedule(optimizer, 100, 0.6);

  double loss_average = 0.0;
  for (int64_t step = 1; step <= iterations; ++step) {
    const torch::Tensor pick =
        torch::randint(sketches.size(0), {kBatch}, torch::kLong);
    const torch::Tensor clean = sketches.index_select(0, pick);
    optimizer.zero_grad();
    const torch::Tensor logits = model->forward(corrupt(clean));
    const torch::Tensor loss =
        torch::binary_cross_entropy_with_logits(logits, clean);
    loss.backward();
    optimizer.step();
    schedule.step();

    const double value = loss.item<double>();
    loss_average = step == 1 ? value : 0.95 * loss_average + 0.05 * value;
    if (step % 50 == 0) {
      const Report report = evaluate(model, held_out);
      std::printf("step %4lld  loss %.4f  error %.5f  spread %.3f  open %.2f\n",
                  static_cast<long long>(step), loss_average, report.error,
                  report.code_spread, model->first->openShare());
    }
  }
  return 0;
}
