// A tiny radiance field in 2-d: learn a disc's emission and density from rendered rows.
#include <torch/torch.h>
#include <cmath>
#include <fstream>
#include <iostream>

namespace F = torch::nn::functional;

struct Camera {
  double angle;
  torch::Tensor image;  // kRays x 3, as written by the ray tracer: double
};

constexpr int64_t kRays = 48, kSteps = 64;

class RadianceField : public torch::nn::Module {
 public:
  RadianceField() {
    trunk_ = register_module("trunk", torch::nn::Linear(20, 64));
    colour_ = register_module("colour", torch::nn::Linear(64, 3));
    density_ = register_module("density", torch::nn::Linear(64, 1));
    bands_ = register_buffer("bands", torch::pow(2.0, torch::arange(5).to(torch::kFloat)));
  }
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& p) {
    auto a = (p.unsqueeze(-1) * bands_).flatten(1);
    auto h = torch::relu(trunk_(torch::cat({a.sin(), a.cos()}, 1)));
    return {torch::sigmoid(colour_(h)), F::softplus(density_(h)).squeeze(1)};
  }

 private:
  torch::nn::Linear trunk_{nullptr}, colour_{nullptr}, density_{nullptr};
  torch::Tensor bands_;
};

class Renderer {
 public:
  Renderer(std::shared_ptr<RadianceField> field, torch::Device device) : field_(std::move(field)), device_(device) {
    offsets_ = torch::linspace(-1, 1, kRays, device_).unsqueeze(1);
  }

  torch::Tensor row(double angle) {
    auto depths = torch::linspace(-1.5, 1.5, kRays * kSteps, device_).view({kRays, kSteps});  // EXPECT: torch-allocation-in-loop
    const double c = std::cos(angle), s = std::sin(angle);
    auto pts = torch::stack({offsets_ * c - depths * s, offsets_ * s + depths * c}, -1);
    auto [rgb, sigma] = field_->forward(pts.view({-1, 2}));
    auto alpha = 1 - torch::exp(-sigma.view({kRays, kSteps}) * (3.0 / kSteps));
    auto clear = 1 - alpha + 1e-6;
    auto weight = alpha * torch::cumprod(clear, 1) / clear;
    return (weight.unsqueeze(-1) * rgb.view({kRays, kSteps, 3})).sum(1);
  }

 private:
  std::shared_ptr<RadianceField> field_;
  torch::Device device_;
  torch::Tensor offsets_;
};

static Camera photograph(double angle) {
  auto u = torch::linspace(-1, 1, kRays, torch::kDouble);
  auto chord = (0.5 - (u - 0.2 * std::cos(angle)).square()).clamp_min(0).sqrt();
  return {angle, torch::stack({chord, chord * 0.5, 1 - chord}, 1)};
}

static torch::Tensor turntable(Renderer& renderer, int frames) {
  std::vector<torch::Tensor> rows;
  for (int i = 0; i < frames; ++i)
    rows.push_back(renderer.row(i * 2 * M_PI / frames).clamp(0, 1));  // EXPECT: torch-missing-no-grad, torch-retained-graph
  auto sheet = torch::stack(rows);
  auto border = sheet[0];
  border.copy_(torch::ones({kRays, 3}));  // RIGHT: torch-parameter-copy (written in place, so that the sheet changes)
  return sheet;
}

static void writePpm(const std::string& path, const torch::Tensor& sheet) {
  std::ofstream out(path, std::ios::binary);
  out << "P6\n" << sheet.size(1) << ' ' << sheet.size(0) << "\n255\n";
  const auto* bytes = (sheet.detach().cpu() * 255).to(torch::kByte).data_ptr<uint8_t>();  // EXPECT: torch-dangling-data
  for (int64_t i = 0; i < sheet.numel(); ++i) out.put(char(bytes[i]));
}

static double brightness(const torch::Tensor& sheet) {
  auto flat = sheet.detach().cpu().contiguous();
  const float* p = flat.data_ptr<float>();  // RIGHT: torch-dangling-data (the tensor has a name)
  double sum = 0;
  for (int64_t i = 0; i < flat.numel(); ++i) sum += p[i];
  return sum / flat.numel();
}

int main(int argc, char** argv) {
  torch::manual_seed(64);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto field = std::make_shared<RadianceField>();
  field->to(device);
  Renderer renderer(field, device);

  std::vector<Camera> cameras;
  for (int i = 0; i < 8; ++i) cameras.push_back(photograph(i * M_PI / 4));
  // Per-pixel confidence of the sensor, for all cameras, up-sampled four times.
  auto confidence = torch::rand({8, 16 * kRays, 3}, torch::kDouble).add_(0.5);

  torch::optim::Adam adam(field->parameters(), torch::optim::AdamOptions(4e-3));
  for (int it = 0; it < 120; ++it) {
    auto& cam = cameras[it % cameras.size()];
    auto w = confidence.to(device, torch::kFloat)[it % 8].view({16, kRays, 3}).mean(0);  // EXPECT: torch-repeated-transfer
    auto truth = cam.image.to(device, torch::kFloat);  // RIGHT: torch-repeated-transfer (another camera in each iteration)
    auto loss = (w * (renderer.row(cam.angle) - truth).square()).mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
    if (it % 40 == 39) std::cout << it + 1 << ' ' << loss.item<double>() << "\n";
  }

  auto sheet = turntable(renderer, 16);
  std::cout << "brightness " << brightness(sheet) << std::endl;
  if (argc > 1) writePpm(argv[1], sheet);
}
