// Low precision training "by hand": bfloat16 working copies, float32 masters, dynamic
// loss scale, gradients accumulated over micro batches.
#include <torch/torch.h>
#include <iostream>
#include <vector>

static const int64_t N = 4096, D = 128, C = 10;

struct Masters {
  std::vector<torch::Tensor> full;    // float32, what the optimizer steps
  std::vector<torch::Tensor> halves;  // bfloat16, what the network computes with

  void add(torch::Tensor init) {
    full.push_back(init.to(torch::kFloat32).clone().requires_grad_());
    halves.push_back(init.to(torch::kBFloat16).detach().requires_grad_());
  }
  void pull() {
    torch::NoGradGuard ng;
    for (size_t i = 0; i < full.size(); i++)
      halves[i].copy_(full[i]);  // RIGHT: torch-leaf-inplace (under the guard)
  }
  void moveGradients(double scale) {
    for (size_t i = 0; i < full.size(); i++) {
      full[i].mutable_grad() = halves[i].grad().to(torch::kFloat32) / scale;
      halves[i].mutable_grad() = torch::Tensor();
    }
  }
  bool finite() const {
    for (auto& f : full)
      if (!torch::isfinite(f.grad()).all().item<bool>()) return false;
    return true;
  }
};

static torch::Tensor net(const std::vector<torch::Tensor>& p, const torch::Tensor& x, const torch::Tensor& temperature) {
  auto h = torch::relu(torch::matmul(x, p[0]) + p[1]);
  return (torch::matmul(h, p[2]) + p[3]).to(torch::kFloat32) * temperature;
}

int main() {
  torch::manual_seed(21);
  auto device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

  // As the camera delivered it: doubles, one row per sample.
  auto recorded = torch::rand({N, D}, torch::dtype(torch::kFloat64));
  auto truth = torch::matmul(recorded, torch::randn({D, C}, torch::kFloat64)).argmax(1);
  recorded = recorded.to(device);
  truth = truth.to(device);

  Masters m;
  m.add((torch::randn({D, 256}) / std::sqrt((double)D)).to(device));
  m.add(torch::zeros({256}).to(device));
  m.add((torch::randn({256, C}) / 16).to(device));
  m.add(torch::zeros({C}).to(device));

  // Logit temperature, learnt along with the rest; kept in double in the config file.
  auto temperature = torch::ones({1}, torch::dtype(torch::kFloat64).requires_grad(true)).to(device, torch::kFloat32);
  torch::optim::AdamW opt(m.full, torch::optim::AdamWOptions(2e-3).weight_decay(1e-4));  // RIGHT: torch-non-leaf-parameter (clone().requires_grad_() makes leaves)
  opt.add_parameters({temperature});  // EXPECT: torch-non-leaf-parameter

  double scale = 1024;
  const int micro = 4;
  double shown = 0;
  int skipped = 0;
  for (int step = 0; step < 60; ++step) {
    for (int k = 0; k < micro; ++k) {
      auto rows = torch::randint(N, {64}, torch::TensorOptions().dtype(torch::kLong).device(device));
      auto x = recorded.to(torch::kBFloat16).index_select(0, rows);  // EXPECT: torch-repeated-transfer
      auto y = truth.index_select(0, rows);
      auto loss = torch::cross_entropy_loss(net(m.halves, x, temperature), y) / micro;
      (loss * scale).backward();  // RIGHT: torch-missing-zero-grad (micro batches are summed on purpose)
      shown += loss.item<double>();
    }
    m.moveGradients(scale);
    if (!m.finite()) {
      scale /= 2;
      ++skipped;
      continue;
    }
    opt.step();  // RIGHT: torch-missing-zero-grad (the gradients of the masters are assigned anew by moveGradients)
    m.pull();
    if (step % 20 == 19) {
      std::cout << "step " << step + 1 << " loss " << shown / 20 << " scale " << scale << "\n";
      shown = 0;
      scale *= 2;
    }
  }
  std::cout << "skipped " << skipped << std::endl;
  return 0;
}
