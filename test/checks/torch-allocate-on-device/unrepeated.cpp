// RUN: %check_torch %s torch-allocate-on-device %t
//
// Nothing in the file repeats it: it may be made once. The option Strict tells it too; see strict.cpp.

#include <torch/torch.h>

using torch::Tensor;
void use(Tensor);

// Whoever calls it, and how often, is in another file.
Tensor grid(int64_t n, torch::Device device) {
  auto result = torch::zeros({n, n}).to(device);
  return result + torch::arange(n).to(device);
}

struct Cloud {
  void initialize(int64_t n) {
    points = torch::zeros({n, 3}).to(torch::kCUDA);
    opacity = torch::full({n, 1}, 0.1).to(torch::kCUDA);
  }
  Tensor points, opacity;
};

// Through a helper that is called once.
void setUp(Cloud &cloud, torch::Device device) {
  cloud.initialize(100000);
  use(grid(1024, device));
}

// Made to be called again and again: by a module's operator(), by a data loader, by who has stored it.
struct Net : torch::nn::Module {
  Tensor forward(Tensor x) { return x + mask(x.size(0)); }
  Tensor mask(int64_t n) {
    return torch::ones({n, n}).to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::ones' makes this tensor on the CPU
    // CHECK-FIXES: return torch::ones({n, n}, torch::kCUDA);
  }
};

struct Noise : torch::data::datasets::Dataset<Noise> {
  torch::data::Example<> get(size_t index) override {
    auto noise = torch::zeros({side, side}).to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: auto noise = torch::zeros({side, side}, torch::kCUDA);
    return {noise + static_cast<int64_t>(index), noise};
  }
  torch::optional<size_t> size() const override { return 1000; }
  int64_t side = 64;
};

void onRequest(std::function<Tensor(int64_t)>);
void serve() {
  onRequest([](int64_t n) {
    return torch::zeros({n, n}).to(torch::kCUDA);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'torch::zeros' makes this tensor on the CPU
    // CHECK-FIXES: return torch::zeros({n, n}, torch::kCUDA);
  });
}

// A caller in a loop is enough.
Tensor noiseFor(int64_t n) {
  return torch::full({n, n}, 0.1).to(torch::kCUDA);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'torch::full' makes this tensor on the CPU
  // CHECK-FIXES: return torch::full({n, n}, 0.1, torch::kCUDA);
}
void perturb(std::vector<Tensor> &xs) {
  for (Tensor &x : xs)
    x = x + noiseFor(x.size(0));
}
