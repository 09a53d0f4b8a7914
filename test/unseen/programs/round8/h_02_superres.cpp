// port of my superres notebook (srgan + degradation classifier), cifar-sized patches
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace F = torch::nn::functional;
namespace nn = torch::nn;

struct Config {
  int64_t patches = 96;
  int64_t batch = 8;
  int64_t width = 16;
  int64_t depth = 3;
  int epochs = 2;
  double lr_g = 2e-4, lr_d = 1e-4, lr_c = 1e-3;
  double adv_weight = 1e-2;
};

// ---------------------------------------------------------------- networks

struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t ch) {
    c1 = register_module("c1", nn::Conv2d(nn::Conv2dOptions(ch, ch, 3).padding(1).bias(false)));
    n1 = register_module("n1", nn::BatchNorm2d(ch));
    c2 = register_module("c2", nn::Conv2d(nn::Conv2dOptions(ch, ch, 3).padding(1).bias(false)));
    n2 = register_module("n2", nn::BatchNorm2d(ch));
  }
  torch::Tensor forward(const torch::Tensor& x) { return x + n2(c2(F::leaky_relu(n1(c1(x))))); }
  nn::Conv2d c1{nullptr}, c2{nullptr};
  nn::BatchNorm2d n1{nullptr}, n2{nullptr};
};
TORCH_MODULE(Block);

nn::Sequential upsampler(int64_t ch) {
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(ch, 4 * ch, 3).padding(1)), nn::PixelShuffle(2),
                        nn::Conv2d(nn::Conv2dOptions(ch, 3, 3).padding(1)));
}

struct GeneratorImpl : nn::Module {
  GeneratorImpl(int64_t ch, int64_t depth) : stem(register_module("stem", nn::Conv2d(nn::Conv2dOptions(3, ch, 3).padding(1)))) {
    for (int64_t i = 0; i < depth; ++i) {
      blocks.push_back(Block(ch));  // RIGHT: torch-unregistered-module
      register_module("block" + std::to_string(i), blocks.back());
    }
    tail = upsampler(ch);  // EXPECT: torch-unregistered-module
    mean = register_buffer("mean", torch::tensor({0.48f, 0.45f, 0.41f}));
    scale = register_buffer("scale", torch::tensor({0.25f, 0.24f, 0.26f}));
  }

  torch::Tensor normalized(const torch::Tensor& x) const {
    auto m = mean.view({1, 3, 1, 1}).repeat({x.size(0), 1, x.size(2), x.size(3)});  // EXPECT: torch-repeat-for-broadcast
    return (x - m) / scale.view({1, 3, 1, 1});
  }

  torch::Tensor forward(const torch::Tensor& lr) {
    auto x = F::relu(stem(normalized(lr)));
    auto h = x;
    for (auto& b : blocks) h = b(h);
    return torch::sigmoid(tail->forward(x + h));
  }

  nn::Conv2d stem{nullptr};
  std::vector<Block> blocks;
  nn::Sequential tail{nullptr};
  torch::Tensor mean, scale;
};
TORCH_MODULE(Generator);

struct DiscriminatorImpl : nn::Module {
  explicit DiscriminatorImpl(int64_t ch) {
    body = register_module(
        "body", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(3, ch, 3).stride(2).padding(1)),
                               nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), nn::Dropout2d(0.3),
                               nn::Conv2d(nn::Conv2dOptions(ch, 2 * ch, 3).stride(2).padding(1)),
                               nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), nn::AdaptiveAvgPool2d(4)));
    fc = register_module("fc", nn::Linear(2 * ch * 16, 1));
  }
  torch::Tensor forward(const torch::Tensor& x) { return fc(body->forward(x).flatten(1)); }
  nn::Sequential body{nullptr};
  nn::Linear fc{nullptr};
};
TORCH_MODULE(Discriminator);

// Says which of the degradations a low-res patch went through.
struct GraderImpl : nn::Module {
  GraderImpl(int64_t ch, int64_t kinds) {
    conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(3, ch, 3).padding(1)));
    norm = register_module("norm", nn::BatchNorm2d(ch));
    drop = register_module("drop", nn::Dropout(0.4));
    fc = register_module("fc", nn::Linear(ch, kinds));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto h = F::relu(norm(conv(x))).flatten(2).mean(2);
    return fc(drop(h)).softmax(/*dim=*/1);
  }
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Dropout drop{nullptr};
  nn::Linear fc{nullptr};
};
TORCH_MODULE(Grader);

// ---------------------------------------------------------------- data

struct Batch {
  torch::Tensor lr, hr, kind;
};

class Patches {
 public:
  Patches(const Config& cfg, torch::Device device) : cfg_(cfg) {
    auto opts = torch::TensorOptions().device(device);
    auto tile = torch::rand({cfg.patches, 3, 8, 8}, opts);
    hr_ = tile.repeat({1, 1, 4, 4});  // RIGHT: torch-repeat-for-broadcast
    hr_ = (hr_ + F::interpolate(torch::rand({cfg.patches, 3, 4, 4}, opts),
                                F::InterpolateFuncOptions().size(std::vector<int64_t>{32, 32}).mode(torch::kNearest))) / 2;
    std::vector<int64_t> kinds;
    for (int64_t i = 0; i < cfg.patches; ++i) kinds.push_back(i % 4);
    kind_ = torch::tensor(kinds).to(device);  // RIGHT: torch-allocate-on-device
  }

  int64_t batches() const { return cfg_.patches / cfg_.batch; }

  Batch get(int64_t i) const {
    Batch b;
    b.hr = hr_.narrow(0, i * cfg_.batch, cfg_.batch);
    b.kind = kind_.narrow(0, i * cfg_.batch, cfg_.batch);
    auto low = F::avg_pool2d(b.hr, F::AvgPool2dFuncOptions(2));
    auto sigma = b.kind.to(torch::kFloat).view({-1, 1, 1, 1}) * 0.05;
    b.lr = low + sigma * torch::randn_like(low);
    return b;
  }

 private:
  Config cfg_;
  torch::Tensor hr_, kind_;
};

// ---------------------------------------------------------------- training

struct Models {
  Models(const Config& c, torch::Device device)
      : gen(c.width, c.depth),
        disc(c.width),
        grader(c.width, 4),
        ema(c.width, c.depth),
        opt_g(gen->parameters(), torch::optim::AdamOptions(c.lr_g).betas({0.5, 0.999})),
        opt_d(disc->parameters(), torch::optim::AdamOptions(c.lr_d).betas({0.5, 0.999})),
        opt_c(grader->parameters(), torch::optim::SGDOptions(c.lr_c).momentum(0.9)) {
    gen->to(device);
    disc->to(device);
    grader->to(device);
    ema->to(device);
    ema->eval();
    for (auto& p : ema->parameters()) p.requires_grad_(false);
  }

  Generator gen;
  Discriminator disc;
  Grader grader;
  Generator ema;
  torch::optim::Adam opt_g, opt_d;
  torch::optim::SGD opt_c;
};

torch::Tensor targets_like(const torch::Tensor& logits, double value) {
  return torch::full({logits.size(0), logits.size(1)}, value).to(logits.device());  // EXPECT: torch-allocate-on-device
}

torch::Tensor adversarial(const torch::Tensor& logits, double value) {
  return F::binary_cross_entropy_with_logits(logits, torch::full_like(logits, value));  // RIGHT: torch-loss-input
}

torch::Tensor disc_step(Models& m, const Batch& b) {
  m.opt_d.zero_grad();
  const auto fake = m.gen->forward(b.lr);
  const auto on_real = m.disc->forward(b.hr);
  const auto on_fake = m.disc->forward(fake);  // EXPECT: torch-undetached-generator-output
  auto loss = F::binary_cross_entropy_with_logits(on_real, targets_like(on_real, 0.9)) + adversarial(on_fake, 0.0);
  loss.backward();
  m.opt_d.step();
  return loss.detach();
}

torch::Tensor gen_step(Models& m, const Config& cfg, const Batch& b) {
  m.opt_g.zero_grad();
  auto sr = m.gen->forward(b.lr);
  auto verdict = m.disc->forward(sr);  // RIGHT: torch-unused-gradients
  auto loss = F::l1_loss(sr, b.hr) + cfg.adv_weight * adversarial(verdict, 1.0);
  loss.backward();
  m.opt_g.step();
  return loss.detach();
}

torch::Tensor grader_step(Models& m, const Batch& b) {
  auto guess = m.grader->forward(b.lr);
  auto loss = F::cross_entropy(guess, b.kind, F::CrossEntropyFuncOptions().label_smoothing(0.05));  // EXPECT: torch-loss-input
  loss.backward();
  m.opt_c.step();  // EXPECT: torch-missing-zero-grad
  return loss.detach();
}

void update_ema(Models& m, double decay) {
  torch::NoGradGuard no_grad;
  auto theirs = m.gen->parameters();
  auto mine = m.ema->parameters();
  for (size_t i = 0; i < mine.size(); ++i) mine[i].mul_(decay).add_(theirs[i], 1 - decay);  // RIGHT: torch-leaf-inplace
  for (auto& kv : m.gen->named_buffers()) {
    m.ema->named_buffers()[kv.key()].copy_(kv.value());
  }
}

struct Report {
  double psnr = 0, graded = 0;
};

Report validate(Models& m, const Patches& data) {
  torch::NoGradGuard no_grad;
  m.gen->eval();  // EXPECT: torch-partial-eval-mode
  Report r;
  auto mse = torch::zeros({}, m.gen->mean.options());
  auto hits = torch::zeros({}, m.gen->mean.options());
  for (int64_t i = 0; i < data.batches(); ++i) {
    auto b = data.get(i);
    auto sr = m.gen->forward(b.lr);
    mse += F::mse_loss(sr, b.hr);
    hits += (m.grader->forward(b.lr).argmax(1) == b.kind).to(torch::kFloat).mean();
  }
  m.gen->train();
  r.psnr = -10 * std::log10(mse.item<double>() / data.batches());
  r.graded = hits.item<double>() / data.batches();
  return r;
}

// how far apart the critic keeps real and generated patches
double margin(Models& m, const Patches& data) {
  torch::NoGradGuard no_grad;
  m.disc->eval();  // EXPECT: torch-eval-mode-not-restored
  auto b = data.get(0);
  auto gap = (m.disc->forward(b.hr) - m.disc->forward(m.ema->forward(b.lr))).mean().item<double>();
  if (gap < 0) {
    std::cout << "  critic is upside down\n";
  }
  return gap;
}

double grader_confidence(Models& m, const Patches& data) {
  torch::NoGradGuard no_grad;
  m.grader->eval();  // RIGHT: torch-eval-mode-not-restored
  auto c = std::get<0>(m.grader->forward(data.get(1).lr).max(1)).mean().item<double>();
  m.grader->train();
  return c;
}

int main(int argc, char** argv) {
  torch::manual_seed(11);
  Config cfg;
  if (argc > 1) cfg.epochs = std::stoi(argv[1]);
  torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

  Models m(cfg, device);
  Patches data(cfg, device);
  m.gen->train();
  m.disc->train();
  m.grader->train();

  for (int epoch = 0; epoch < cfg.epochs; ++epoch) {
    double loss_d = 0;
    auto loss_g = torch::zeros({}, torch::device(device));
    auto loss_c = torch::zeros({}, torch::device(device));
    for (int64_t i = 0; i < data.batches(); ++i) {
      const auto b = data.get(i);
      loss_d += disc_step(m, b).item<double>();  // EXPECT: torch-sync-in-loop
      loss_g += gen_step(m, cfg, b);  // RIGHT: torch-retained-graph
      loss_c += grader_step(m, b);
      update_ema(m, 0.99);
      if (i % 50 == 49) {
        std::cout << "  step " << i << " g " << loss_g.item<double>() / (i + 1) << '\n';  // RIGHT: torch-sync-in-loop
      }
    }
    const auto n = static_cast<double>(data.batches());
    std::cout << "epoch " << epoch << " d " << loss_d / n << " g " << loss_g.item<double>() / n << " c "
              << loss_c.item<double>() / n << '\n';

    const auto r = validate(m, data);
    std::cout << "  psnr " << r.psnr << " graded " << r.graded << " confidence " << grader_confidence(m, data) << " margin "
              << margin(m, data) << '\n';
  }
  return 0;
}
