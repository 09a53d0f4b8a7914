// RUN: %check_torch %s torch-repeated-transfer %t
//
// Members, globals and fields, in methods that loop or are called in loops.

#include <torch/torch.h>

#include <atomic>
#include <thread>

using torch::Tensor;
using torch::nn::Linear;

class Normalizer {
public:
  explicit Normalizer(torch::Device device) : device_(device) {}

  void run(const std::vector<Tensor> &images) {
    for (const auto &image : images) {
      auto scaled = (image - mean_.to(device_)) / this->std_.to(this->device_);
      // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'mean_' does not change in this loop, but '.to(device_)' copies it in every iteration; transfer it once before the loop
      // CHECK-MESSAGES: :[[@LINE-2]]:51: warning: '{{.*}}std_' does not change in this loop, but '.to(this->device_)' copies it in every iteration; transfer it once before the loop
      std::cout << scaled.mean().item<float>() << '\n';
    }
  }

private:
  torch::Device device_;
  Tensor mean_ = torch::full({3, 1, 1}, 0.5);
  Tensor std_ = torch::full({3, 1, 1}, 0.25);
};

// Made once in the constructor, as double.
class Scaler {
public:
  explicit Scaler(int64_t n) : scale_(torch::rand({n}, torch::kFloat64)) {}

  void run(const std::vector<Tensor> &xs) const {
    for (const auto &x : xs)
      std::cout << (x * scale_.to(torch::kFloat32)).sum().item<float>() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'scale_' does not change in this loop, but '.to(torch::kFloat32)' converts it in every iteration; convert it once before the loop
  }

private:
  Tensor scale_;
};

// A constant of a module, which is no buffer of it: net->to(device) leaves it
// where it is.
struct EncoderImpl : torch::nn::Module {
  EncoderImpl(int64_t length, int64_t width, torch::Device device)
      : device(device), positions(torch::randn({length, width})),
        proj(register_module("proj", Linear(width, width))) {}

  Tensor forward(const Tensor &x) {
    return proj->forward(x + positions.to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:30: warning: 'positions' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
  }

  torch::Device device;
  Tensor positions;
  Linear proj;
};
TORCH_MODULE(Encoder);

void train(const std::vector<Tensor> &xs, torch::Device device) {
  Encoder net(16, 64, device);
  net->to(device);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (const auto &x : xs) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}

// A thread that serves requests.
class Server {
public:
  void start() {
    thread_ = std::thread([this] { serve(); });
  }

private:
  void serve() {
    torch::NoGradGuard no_grad;
    while (running_) {
      auto input = torch::rand({1, 64}, torch::kCUDA);
      auto output = net_->forward(input * table_.to(torch::kCUDA));
      // CHECK-MESSAGES: :[[@LINE-1]]:43: warning: 'table_' does not change in this loop, but '.to(torch::kCUDA)' copies it in every iteration; transfer it once before the loop
      std::cout << output.argmax(1).item<int64_t>() << '\n';
    }
  }

  std::atomic<bool> running_{true};
  Tensor table_ = torch::rand({64});
  Linear net_{64, 10};
  std::thread thread_;
};

void serves() {
  Server server;
  server.start();
}

struct Config {
  Tensor anchors = torch::rand({9, 2});
  torch::Device device = torch::kCUDA;
};

void fields(const Config &config, const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    std::cout << (x * config.anchors.to(config.device)).sum() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: '{{.*}}anchors' does not change in this loop, but '.to(config.device)' copies it in every iteration; transfer it once before the loop
}

static const Tensor &palette() {
  static const Tensor colors = torch::rand({256, 3}, torch::kFloat64);
  return colors;
}

static const Tensor gammaCurve = torch::rand({256});

void globals(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto colors = palette().to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: {{.*}} does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    auto curve = gammaCurve.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'gammaCurve' does not change in this loop, but '.to(device)' copies it in every iteration; transfer it once before the loop
    std::cout << (x.matmul(colors).sum() * curve.sum()).item<float>() << '\n';
  }
}
