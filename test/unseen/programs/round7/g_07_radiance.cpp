// Trains a compact radiance field on an analytic scene and exports orbit previews.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rf {

using torch::Tensor;

struct Config {
  int image_size = 16;
  int views = 6;
  int64_t samples = 24;
  int64_t rays_per_step = 128;
  int64_t steps = 60;
  int64_t log_every = 20;
  int64_t preview_every = 0;
  int64_t chunk = 96;
  int64_t frequencies = 4;
  int64_t width = 48;
  double near_plane = 1.0;
  double far_plane = 4.0;
  std::string out_dir;
};

// exp() whose gradient is bounded, for densities.
class TruncatedExp : public torch::autograd::Function<TruncatedExp> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x) {
    auto y = x.exp();
    ctx->saved_data["y"] = y;  // EXPECT: torch-saved-data
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    auto y = ctx->saved_data["y"].toTensor();
    return {grads[0] * y.clamp_max(1e4)};
  }
};

// Clamp to [0, 1] that still pulls saturated values back.
class SoftGateClamp : public torch::autograd::Function<SoftGateClamp> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* ctx, const Tensor& x, double leak) {
    ctx->save_for_backward({x});
    ctx->saved_data["leak"] = leak;  // RIGHT: torch-saved-data
    return x.clamp(0.0, 1.0);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    const double leak = ctx->saved_data["leak"].toDouble();
    const auto inside = x.ge(0.0).logical_and(x.le(1.0));
    return {torch::where(inside, grads[0], grads[0] * leak), Tensor()};
  }
};

class FieldImpl : public torch::nn::Module {
 public:
  explicit FieldImpl(const Config& cfg) {
    bands_ = register_buffer("bands", torch::pow(2.0, torch::arange(cfg.frequencies)) * M_PI);
    const int64_t in = 3 + 6 * cfg.frequencies;
    trunk_ = register_module("trunk", torch::nn::Sequential(torch::nn::Linear(in, cfg.width),
                                                            torch::nn::ReLU(),
                                                            torch::nn::Linear(cfg.width, cfg.width),
                                                            torch::nn::ReLU()));
    density_ = register_module("density", torch::nn::Linear(cfg.width, 1));
    colour_ = register_module("colour", torch::nn::Linear(cfg.width + 3, 3));
  }

  std::pair<Tensor, Tensor> forward(const Tensor& points, const Tensor& dirs) {
    const auto angles = (points.unsqueeze(-1) * bands_).flatten(-2);
    const auto h = trunk_->forward(torch::cat({points, angles.sin(), angles.cos()}, -1));
    const auto sigma = TruncatedExp::apply(density_->forward(h).squeeze(-1));
    const auto raw = colour_->forward(torch::cat({h, dirs}, -1));
    return {sigma, SoftGateClamp::apply(raw + 0.5, 0.1)};
  }

  Tensor balance_weight() const { return trunk_->parameters().at(2); }

 private:
  Tensor bands_;
  torch::nn::Sequential trunk_{nullptr};
  torch::nn::Linear density_{nullptr}, colour_{nullptr};
};
TORCH_MODULE(Field);

struct Rays {
  Tensor origins, directions, colours;
  int64_t count() const { return origins.size(0); }
  Rays to(torch::Device device) const {
    return {origins.to(device), directions.to(device), colours.to(device)};
  }
  Rays slice(int64_t from, int64_t to) const {
    return {origins.slice(0, from, to), directions.slice(0, from, to), colours.slice(0, from, to)};
  }
};

std::array<float, 3> shade(const std::array<float, 3>& o, const std::array<float, 3>& d) {
  float b = 0.f, c = -0.49f;
  for (int k = 0; k < 3; ++k) {
    b += o[k] * d[k];
    c += o[k] * o[k];
  }
  const float disc = b * b - c;
  if (disc < 0.f) return {0.f, 0.f, 0.f};
  const float t = -b - std::sqrt(disc);
  return {0.5f + 0.7f * (o[0] + t * d[0]), 0.5f + 0.7f * (o[1] + t * d[1]), 0.6f};
}

Rays camera_rays(const Config& cfg, double azimuth) {
  const int n = cfg.image_size;
  std::vector<float> o, d, c;
  o.reserve(static_cast<size_t>(n) * n * 3);
  d.reserve(o.capacity());
  c.reserve(o.capacity());
  const float ca = std::cos(azimuth), sa = std::sin(azimuth);
  const std::array<float, 3> eye{2.5f * ca, 2.5f * sa, 0.f};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const float u = (j + 0.5f) / n - 0.5f, v = (i + 0.5f) / n - 0.5f;
      std::array<float, 3> dir{-ca - sa * u, -sa + ca * u, -v};
      const float len = std::hypot(dir[0], dir[1], dir[2]);
      for (auto& x : dir) x /= len;
      const auto rgb = shade(eye, dir);
      o.insert(o.end(), eye.begin(), eye.end());
      d.insert(d.end(), dir.begin(), dir.end());
      c.insert(c.end(), rgb.begin(), rgb.end());
    }
  }
  const auto own = [](std::vector<float>& v) {
    const auto rows = static_cast<int64_t>(v.size() / 3);
    return torch::from_blob(v.data(), {rows, 3}, torch::kFloat32).clone();  // RIGHT: torch-blob-lifetime
  };
  return {own(o), own(d), own(c)};
}

Rays scene_rays(const Config& cfg) {
  std::vector<Tensor> o, d, c;
  for (int v = 0; v < cfg.views; ++v) {
    auto r = camera_rays(cfg, 2.0 * M_PI * v / cfg.views);
    o.push_back(r.origins);
    d.push_back(r.directions);
    c.push_back(r.colours);
  }
  return {torch::cat(o), torch::cat(d), torch::cat(c)};
}

struct Rendered {
  Tensor colour, depth, weights;
};

class Renderer {
 public:
  Renderer(Field field, const Config& cfg, torch::Device device)
      : field_(std::move(field)), device_(device), step_((cfg.far_plane - cfg.near_plane) / cfg.samples) {
    depths_ = torch::linspace(cfg.near_plane, cfg.far_plane - step_, cfg.samples,
                              torch::dtype(torch::kFloat32).device(device));
  }

  Rendered render(const Rays& rays, bool stratified) {
    const auto n = rays.count();
    const auto s = depths_.size(0);
    auto t = depths_.expand({n, s});  // RIGHT: torch-repeat-for-broadcast
    if (stratified) {
      t = t + torch::rand({n, s}).to(device_) * step_;  // EXPECT: torch-allocate-on-device
    }
    const auto along = rays.directions.unsqueeze(1).repeat({1, s, 1});  // EXPECT: torch-repeat-for-broadcast
    const auto points = rays.origins.unsqueeze(1) + along * t.unsqueeze(-1);
    const auto view = rays.directions.unsqueeze(1).expand({n, s, 3});
    const auto [sigma, rgb] = field_->forward(points, view);
    const auto optical = sigma * step_;
    const auto weights = torch::exp(optical - optical.cumsum(1)) * torch::expm1(-optical).neg();
    return {(weights.unsqueeze(-1) * rgb).sum(1), (weights * t).sum(1), weights};
  }

 private:
  Field field_;
  torch::Device device_;
  double step_;
  Tensor depths_;
};

void write_ppm(const std::string& path, const Tensor& image) {
  const auto h = image.size(0), w = image.size(1);
  const float* px = image.to(torch::kCPU).contiguous().data_ptr<float>();  // EXPECT: torch-dangling-data
  std::ofstream out(path, std::ios::binary);
  out << "P6\n" << w << ' ' << h << "\n255\n";
  for (int64_t i = 0; i < h * w * 3; ++i) {
    const float v = std::min(1.f, std::max(0.f, px[i]));
    out.put(static_cast<char>(static_cast<int>(v * 255.f)));
  }
}

double mean_luma(const Tensor& image) {
  const auto host = image.to(torch::kCPU).contiguous();
  const float* px = host.data_ptr<float>();  // RIGHT: torch-dangling-data
  double sum = 0.0;
  for (int64_t i = 0; i < host.numel(); i += 3) sum += 0.3 * px[i] + 0.6 * px[i + 1] + 0.1 * px[i + 2];
  return sum / static_cast<double>(host.numel() / 3);
}

class Trainer {
 public:
  Trainer(Config cfg, torch::Device device)
      : cfg_(std::move(cfg)), device_(device), field_(cfg_) {
    field_->to(device_);
    renderer_ = std::make_unique<Renderer>(field_, cfg_, device_);
    optimizer_ = std::make_unique<torch::optim::Adam>(field_->parameters(), torch::optim::AdamOptions(5e-3));
  }

  void fit() {
    const auto rays = scene_rays(cfg_).to(device_);  // RIGHT: torch-repeated-transfer
    const auto index_options = torch::dtype(torch::kLong).device(device_);
    double smoothed = 0.0;
    for (int64_t step = 1; step <= cfg_.steps; ++step) {
      const auto pick = torch::randint(rays.count(), {cfg_.rays_per_step}, index_options);  // RIGHT: torch-allocation-in-loop
      const Rays batch{rays.origins.index_select(0, pick), rays.directions.index_select(0, pick),
                       rays.colours.index_select(0, pick)};
      optimizer_->zero_grad();
      const auto out = renderer_->render(batch, /*stratified=*/true);
      const auto photo = torch::mse_loss(out.colour, batch.colours);
      const auto entropy = -(out.weights * (out.weights + 1e-5).log()).sum(1).mean();
      const auto loss = photo + balance(photo, entropy) * entropy;
      loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
      optimizer_->step();

      const double mse = photo.item<double>();  // EXPECT: torch-sync-in-loop
      smoothed = step == 1 ? mse : 0.9 * smoothed + 0.1 * mse;
      if (step % cfg_.log_every == 0) {
        std::printf("step %4ld psnr %.2f entropy %.4f\n", static_cast<long>(step), -10.0 * std::log10(smoothed),
                    entropy.item<double>());  // RIGHT: torch-sync-in-loop
      }
      if (cfg_.preview_every > 0 && step % cfg_.preview_every == 0) {
        export_view(0.3, "preview_" + std::to_string(step) + ".ppm");
      }
    }
  }

  double evaluate(double azimuth) {
    torch::NoGradGuard no_grad;
    const auto rays = camera_rays(cfg_, azimuth).to(device_);
    auto sum = torch::zeros({}, torch::dtype(torch::kFloat64).device(device_));
    int64_t from = 0;
    while (from < rays.count()) {
      const auto part = rays.slice(from, std::min(from + cfg_.chunk, rays.count()));
      const auto out = renderer_->render(part, false);  // RIGHT: torch-missing-no-grad
      sum += torch::mse_loss(out.colour, part.colours, torch::Reduction::Sum);
      from += part.count();
    }
    return -10.0 * std::log10(sum.item<double>() / static_cast<double>(rays.count() * 3));
  }

  Tensor export_view(double azimuth, const std::string& name) {
    torch::GradMode::set_enabled(false);  // EXPECT: torch-grad-mode-not-restored
    const auto rays = camera_rays(cfg_, azimuth).to(device_);
    std::vector<Tensor> parts;
    int64_t done = 0;
    do {
      const auto out = renderer_->render(rays.slice(done, std::min(done + cfg_.chunk, rays.count())), false);
      parts.push_back(out.colour);  // RIGHT: torch-retained-graph
      done += out.colour.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
    } while (done < rays.count());
    auto image = torch::cat(parts).view({cfg_.image_size, cfg_.image_size, 3});
    if (!cfg_.out_dir.empty()) write_ppm(cfg_.out_dir + "/" + name, image);
    return image;
  }

  // Peak density over a coarse lattice, for a sanity line in the log.
  double peak_density(int64_t resolution) {
    torch::AutoGradMode inference(false);  // RIGHT: torch-grad-mode-not-restored
    const auto axis = torch::linspace(-1.0, 1.0, resolution, torch::device(device_));
    const auto grid = torch::stack(torch::meshgrid({axis, axis, axis}, "ij"), -1).view({-1, 3});
    return field_->forward(grid, torch::zeros_like(grid)).first.max().item<double>();
  }

 private:
  // Keeps the regularizer's pull on the last hidden layer a tenth of the photometric one.
  Tensor balance(const Tensor& photo, const Tensor& reg) {
    const auto w = field_->balance_weight();
    const auto gp = torch::autograd::grad({photo}, {w}, {}, /*retain_graph=*/true)[0];  // RIGHT: torch-retain-graph-in-loop
    const auto gr = torch::autograd::grad({reg}, {w}, {}, /*retain_graph=*/true)[0];  // RIGHT: torch-retain-graph-in-loop
    return (0.1 * gp.norm() / (gr.norm() + 1e-8)).clamp_max(1.0);
  }

  Config cfg_;
  torch::Device device_;
  Field field_;
  std::unique_ptr<Renderer> renderer_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
};

}  // namespace rf

int main(int argc, char** argv) {
  torch::manual_seed(7);
  rf::Config cfg;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--steps") == 0) cfg.steps = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--preview") == 0) cfg.preview_every = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--out") == 0) cfg.out_dir = argv[i + 1];
  }
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  rf::Trainer trainer(cfg, device);
  trainer.fit();
  std::printf("held-out psnr %.2f, peak density %.3f\n", trainer.evaluate(0.55), trainer.peak_density(8));
  const auto image = trainer.export_view(0.55, "orbit.ppm");
  std::printf("mean luma %.3f\n", rf::mean_luma(image));
  return 0;
}
