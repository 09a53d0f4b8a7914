// Adversarial super-resolution (x2) of satellite tiles: content loss, relativistic
// weighting of the adversarial term, moving average of the generator for release.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sr {

namespace F = torch::nn::functional;
using torch::Tensor;

constexpr int64_t kTile = 16;

struct Recipe {
  int iterations = 24;
  int64_t batch = 8;
  int64_t width = 12;
  int64_t blocks = 2;
  double generator_lr = 1e-3;
  double critic_lr = 1e-3;
  double ema = 0.99;
  double adversarial = 0.05;
  double gate_floor = 0.0;
  bool scaled_init = false;
};

// Quantization to 8 bit levels with a straight-through gradient inside the range.
class Quantize : public torch::autograd::Function<Quantize> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& image) {
    auto levels = image.mul(255.0).round_().clamp_(0.0, 255.0).div_(255.0);
    ctx->saved_data["levels"] = levels;  // EXPECT: torch-saved-data
    return levels;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list grads) {
    const auto levels = ctx->saved_data["levels"].toTensor();
    return {grads[0] * levels.gt(0.0).logical_and_(levels.lt(1.0))};
  }
};

// Charbonnier distance per pixel.
class Charbonnier : public torch::autograd::Function<Charbonnier> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& a, const Tensor& b, double eps) {
    auto difference = a - b;
    auto distance = difference.square().add_(eps * eps).sqrt_();
    ctx->save_for_backward({difference, distance});  // RIGHT: torch-saved-data
    return distance;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list grads) {
    const auto saved = ctx->get_saved_variables();
    auto slope = grads[0] * saved[0] / saved[1];
    return {slope, slope.neg(), Tensor()};
  }
};

class GatedBlockImpl : public torch::nn::Module {
 public:
  GatedBlockImpl(int64_t width, double floor) : floor_(floor) {
    auto options = torch::nn::Conv2dOptions(width, width, 3).padding(1);
    first_ = register_module("first", torch::nn::Conv2d(options));
    gate_ = register_module("gate", torch::nn::Conv2d(options));
    last_ = register_module("last", torch::nn::Conv2d(options));
  }

  Tensor forward(const Tensor& x) {
    auto h = first_->forward(x);
    h.relu_();  // RIGHT: torch-inplace-saved
    auto gate = torch::sigmoid(gate_->forward(h));
    if (floor_ > 0.0) gate.mul_(1.0 - floor_).add_(floor_);  // EXPECT: torch-inplace-saved
    return last_->forward(h * gate).add_(x);
  }

 private:
  double floor_;
  torch::nn::Conv2d first_{nullptr}, gate_{nullptr}, last_{nullptr};
};
TORCH_MODULE(GatedBlock);

class GeneratorImpl : public torch::nn::Module {
 public:
  explicit GeneratorImpl(const Recipe& recipe) {
    stem_ = register_module("stem", conv3(3, recipe.width));
    trunk_ = register_module("trunk", torch::nn::Sequential());
    for (int64_t i = 0; i < recipe.blocks; ++i) trunk_->push_back(GatedBlock(recipe.width, recipe.gate_floor));  // RIGHT: torch-fill-alias
    rise_ = register_module("rise", conv3(recipe.width, 12));
    if (recipe.scaled_init) shrink_last_layer();
    {
      torch::NoGradGuard no_grad;
      rise_->bias.zero_();  // RIGHT: torch-leaf-inplace
    }
  }

  Tensor forward(const Tensor& low) {
    auto detail = torch::pixel_shuffle(rise_->forward(trunk_->forward(stem_->forward(low))), 2);
    auto base = F::interpolate(low, F::InterpolateFuncOptions()
                                        .scale_factor(std::vector<double>{2.0, 2.0})
                                        .mode(torch::kBilinear)
                                        .align_corners(false));
    return base + detail;
  }

  Tensor last_weight() const { return rise_->weight; }

 private:
  static torch::nn::Conv2d conv3(int64_t in, int64_t out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
  }

  void shrink_last_layer() { rise_->weight.mul_(0.1); }  // EXPECT: torch-leaf-inplace

  torch::nn::Conv2d stem_{nullptr}, rise_{nullptr};
  torch::nn::Sequential trunk_{nullptr};
};
TORCH_MODULE(Generator);

// Convolution whose weight is divided by an estimate of its largest singular value.
class SpectralConvImpl : public torch::nn::Module {
 public:
  SpectralConvImpl(int64_t in, int64_t out, int64_t stride) : stride_(stride) {
    weight_ = register_parameter("weight", torch::empty({out, in, 3, 3}));
    torch::nn::init::kaiming_uniform_(weight_, std::sqrt(5.0));
    bias_ = register_parameter("bias", torch::zeros({out}));
    left_ = register_buffer("left", F::normalize(torch::randn({out}), F::NormalizeFuncOptions().dim(0)));
    sigma_ = register_buffer("sigma", torch::ones({}));
  }

  Tensor forward(const Tensor& x) {
    auto matrix = weight_.flatten(1);
    Tensor right;
    {
      torch::NoGradGuard no_grad;
      right = F::normalize(matrix.t().mv(left_), F::NormalizeFuncOptions().dim(0));
      left_ = F::normalize(matrix.mv(right), F::NormalizeFuncOptions().dim(0));  // EXPECT: torch-reassigned-member
    }
    auto sigma = left_.dot(matrix.mv(right));
    sigma_.copy_(sigma.detach());  // RIGHT: torch-reassigned-member
    return torch::conv2d(x, weight_ / sigma, bias_, stride_, 1);
  }

 private:
  int64_t stride_;
  Tensor weight_, bias_, left_, sigma_;
};
TORCH_MODULE(SpectralConv);

torch::nn::Sequential make_critic(int64_t width) {
  return torch::nn::Sequential(
      SpectralConv(3, width, 1), torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      SpectralConv(width, 2 * width, 2), torch::nn::LeakyReLU(torch::nn::LeakyReLUOptions().negative_slope(0.2)),
      SpectralConv(2 * width, 1, 2));
}

class TileSource {
 public:
  explicit TileSource(int64_t tiles) {
    auto grid = torch::linspace(-1.0, 1.0, kTile);
    auto y = grid.view({1, 1, kTile, 1}), x = grid.view({1, 1, 1, kTile});
    auto f = torch::rand({tiles, 3, 1, 1}).mul_(6.0), p = torch::rand({tiles, 3, 1, 1}).mul_(6.0);
    auto scene = torch::sin(f * x + p) * torch::cos(f * y - p);
    high_ = scene.add_(1.0).mul_(127.5).to(torch::kUInt8);
  }

  Tensor draw(int64_t n) const { return high_.index_select(0, torch::randint(high_.size(0), {n}, torch::kInt64)); }
  Tensor first(int64_t n) const { return high_.narrow(0, 0, n); }

 private:
  Tensor high_;  // uint8, as the tiles come from the archive
};

Tensor degrade(const Tensor& high) { return torch::avg_pool2d(high, 2); }

Tensor edge_strength(const Tensor& image) {
  return (image.slice(3, 1) - image.slice(3, 0, -1)).abs_().mean({1, 2, 3});
}

Tensor sharpness(const Tensor& image) {
  return edge_strength(image.cpu()).mean().to(image.device());  // EXPECT: torch-device-round-trip
}

class GradientLog {
 public:
  void record(const Tensor& norm) {
    norms_.push_back(norm.detach());  // RIGHT: torch-retained-graph
    if (norms_.size() > 64) norms_.pop_front();
  }
  double mean() const {
    if (norms_.empty()) return 0.0;
    return torch::stack(std::vector<Tensor>(norms_.begin(), norms_.end())).mean().item<double>();
  }

 private:
  std::deque<Tensor> norms_;
};

class Session {
 public:
  Session(const Recipe& recipe, torch::Device device)
      : recipe_(recipe),
        device_(device),
        generator_(recipe),
        release_(recipe),
        critic_(make_critic(recipe.width)),
        generator_opt_(generator_->parameters(), torch::optim::AdamOptions(recipe.generator_lr).betas({0.5, 0.99})),
        critic_opt_(critic_->parameters(), torch::optim::AdamOptions(recipe.critic_lr).betas({0.5, 0.99})) {
    generator_->to(device_);
    release_->to(device_);
    critic_->to(device_);
    follow(0.0);
    generator_->last_weight().register_hook([this](const Tensor& g) { last_layer_.record(g.norm()); });  // RIGHT: torch-hook-in-loop
    totals_ = torch::zeros({3}, device_);
  }

  void iterate(const Tensor& tiles) {
    const auto high = tiles.to(torch::kFloat32).div_(255.0).to(device_);  // EXPECT: torch-convert-before-transfer
    const auto low = degrade(high);
    watch_critic();
    auto critic_loss = critic_step(low, high);
    auto content = generator_step(low, high);
    follow(recipe_.ema);
    totals_.add_(torch::stack({critic_loss, content, sharpness(high)}));  // RIGHT: torch-retained-graph
    ++iterations_;
  }

  double psnr(const Tensor& tiles) {
    torch::NoGradGuard no_grad;
    release_->eval();
    const auto high = tiles.to(device_).to(torch::kFloat32).div_(255.0);  // RIGHT: torch-convert-before-transfer
    const auto restored = release_->forward(degrade(high)).clamp_(0.0, 1.0);
    return -10.0 * std::log10(torch::mse_loss(restored, high).item<double>());
  }

  // Finished tiles for the map server: 8 bit, channels last, on the host.
  Tensor render(const Tensor& tiles) {
    torch::NoGradGuard no_grad;
    release_->eval();
    const auto high = tiles.to(device_).to(torch::kFloat32).div_(255.0);
    auto image = release_->forward(degrade(high));
    return image.clamp_(0.0, 1.0).mul_(255.0).round_().to(torch::kUInt8).permute({0, 2, 3, 1}).contiguous().cpu();
  }

  void report() const {
    const auto mean = (totals_ / static_cast<double>(std::max(iterations_, 1))).cpu();
    const auto value = mean.accessor<float, 1>();
    std::cout << "critic " << value[0] << " content " << value[1] << " sharpness " << value[2] << " last layer "
              << last_layer_.mean() << " critic gradient " << critic_log_.mean() << '\n';
  }

 private:
  void watch_critic() {
    critic_->parameters().back().register_hook([this](const Tensor& g) { critic_log_.record(g.norm()); });  // EXPECT: torch-hook-in-loop
  }

  Tensor critic_step(const Tensor& low, const Tensor& high) {
    const auto fake = Quantize::apply(generator_->forward(low));
    auto loss = torch::softplus(critic_->forward(fake)).mean() +  // EXPECT: torch-undetached-generator-output
                torch::softplus(-critic_->forward(high)).mean();
    critic_opt_.zero_grad();
    loss.backward();
    critic_opt_.step();
    return loss.detach();
  }

  Tensor generator_step(const Tensor& low, const Tensor& high) {
    for (auto& p : critic_->parameters()) p.requires_grad_(false);  // RIGHT: torch-unused-gradients
    auto fake = generator_->forward(low);
    auto content = Charbonnier::apply(fake, high, 1e-3).mean();
    auto adversarial = torch::softplus(-critic_->forward(fake)).mean();  // RIGHT: torch-undetached-generator-output
    auto weight = balance(content, adversarial);
    generator_opt_.zero_grad();
    torch::addcmul(content, adversarial, weight).backward();
    generator_opt_.step();
    for (auto& p : critic_->parameters()) p.requires_grad_(true);
    return content.detach();
  }

  // Ratio of the two gradients at the last layer, scaled by the recipe.
  Tensor balance(const Tensor& content, const Tensor& adversarial) {
    const auto weight = generator_->last_weight();
    auto g_content = torch::autograd::grad({content}, {weight}, {}, /*retain_graph=*/true).front();  // RIGHT: torch-retain-graph-in-loop
    auto g_adversarial = torch::autograd::grad({adversarial}, {weight}, {}, /*retain_graph=*/true).front();
    return (g_content.norm() / (g_adversarial.norm() + 1e-6)).clamp_(0.0, 10.0).mul_(recipe_.adversarial);
  }

  void follow(double decay) {
    torch::NoGradGuard no_grad;
    auto from = generator_->parameters();
    auto to = release_->parameters();
    for (size_t i = 0; i < from.size(); ++i) to[i].lerp_(from[i], 1.0 - decay);
  }

  Recipe recipe_;
  torch::Device device_;
  Generator generator_, release_;
  torch::nn::Sequential critic_;
  torch::optim::Adam generator_opt_, critic_opt_;
  GradientLog last_layer_, critic_log_;
  Tensor totals_;
  int iterations_ = 0;
};

Recipe parse(int argc, char** argv) {
  Recipe recipe;
  int i = 1;
  while (i < argc) {
    const std::string flag = argv[i++];
    if (flag == "--scaled-init") recipe.scaled_init = true;
    else if (flag == "--gate-floor" && i < argc) recipe.gate_floor = std::stod(argv[i++]);
    else if (flag == "--iterations" && i < argc) recipe.iterations = std::stoi(argv[i++]);
  }
  return recipe;
}

}  // namespace sr

int main(int argc, char** argv) {
  torch::manual_seed(21);
  const auto recipe = sr::parse(argc, argv);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  sr::TileSource source(64);
  const auto held_out = source.first(8);
  sr::Session session(recipe, device);
  std::cout << "psnr before " << session.psnr(held_out) << '\n';
  for (int i = 0; i < recipe.iterations; ++i) session.iterate(source.draw(recipe.batch));
  session.report();
  std::cout << "psnr after " << session.psnr(held_out) << '\n';
  const auto tiles = session.render(held_out);
  std::cout << "rendered " << tiles.sizes() << " brightest " << tiles.max().item<int64_t>() << '\n';
  return 0;
}
