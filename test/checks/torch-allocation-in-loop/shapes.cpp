// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// Where a shape that does not change comes from, and the forms of a factory.

#include <torch/torch.h>

using torch::Tensor;

static const int64_t height = 128;
#define WIDTH 96
enum { channels = 3 };

struct Config {
  int64_t batch = 32;
  int64_t features = 256;
  torch::Dtype dtype = torch::kFloat64;
};

void constants(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto mask = torch::ones({channels, height, WIDTH});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'mask' once before the loop
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

void configuration(const Config &config, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto bias = torch::full({config.batch, config.features}, 0.1, config.dtype);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor in every iteration; create 'bias' once before the loop
    std::cout << (x + bias).sum().item<double>() << '\n';
  }
}

void computed(const std::vector<Tensor> &xs, int64_t heads, int64_t width) {
  const int64_t inner = heads * width;
  for (const auto &x : xs) {
    auto table = torch::zeros({2 * inner, inner + 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'table' once before the loop and refill it with 'zero_()'
    table.narrow(0, 0, 1).copy_(x);
    std::cout << table.sum().item<float>() << '\n';
  }
}

// The tensor whose sizes are asked for does not change.
void sizesOfInvariant(Tensor weight, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto ones = torch::ones({weight.size(0), weight.size(1)});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'ones' once before the loop
    auto sum = torch::zeros(weight.sizes());
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum.add_(x).add_(ones);
    std::cout << sum.max().item<float>() << '\n';
  }
}

void shapeVariable(const std::vector<Tensor> &xs, int64_t n) {
  const std::vector<int64_t> shape{n, n, 3};
  for (const auto &x : xs) {
    auto canvas = torch::zeros(shape);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'canvas' once before the loop and refill it with 'zero_()'
    canvas.add_(x);
    std::cout << canvas.max().item<float>() << '\n';
  }
}

// A local of the loop that always has the same value.
void localConstant(const std::vector<Tensor> &xs, int64_t rows) {
  for (const auto &x : xs) {
    const int64_t n = rows * 2;
    auto ones = torch::ones({n, n});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'ones' once before the loop
    std::cout << torch::matmul(x, ones).sum().item<float>() << '\n';
  }
}

void optionsOutside(const std::vector<Tensor> &xs, torch::Device device) {
  auto options = torch::TensorOptions().dtype(torch::kFloat32).device(device);
  for (const auto &x : xs) {
    auto sum = torch::zeros({128, 64}, options);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}

void optionsInside(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto options = torch::dtype(torch::kFloat32).device(device);
    auto ones = torch::ones({128, 64}, options);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'ones' once before the loop
    auto more = torch::full({128, 64}, 2, torch::device(device).dtype(torch::kInt));
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor in every iteration; create 'more' once before the loop
    std::cout << (x * ones + more).sum().item<float>() << '\n';
  }
}

// ----- by the shape of another tensor -----

void likeInvariant(Tensor weight, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros_like(weight);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros_like' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum += x;
    auto ones = torch::ones_like(weight);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones_like' makes the same tensor in every iteration; create 'ones' once before the loop
    std::cout << (sum + ones).max().item<float>() << '\n';
  }
}

void likeOthers(Tensor weight, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto noise = torch::randn_like(weight);
    auto half = torch::full_like(weight, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full_like' makes the same tensor in every iteration; create 'half' once before the loop
    auto sum = torch::empty_like(weight);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::empty_like' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop [torch-allocation-in-loop]
    torch::add_out(sum, x, noise);
    std::cout << (sum * half).max().item<float>() << '\n';
  }
}

void newOfInvariant(Tensor weight, const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs) {
    auto sum = weight.new_zeros({n, n});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: '{{.*}}new_zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum += x;
    auto half = weight.new_full({n, n}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: '{{.*}}new_full' makes the same tensor in every iteration; create 'half' once before the loop
    std::cout << (sum * half).max().item<float>() << '\n';
  }
}

// ----- moved or converted at once: one finding, this check's -----

void movedAtOnce(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    auto real = torch::ones({10000, 1}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'real' once before the loop
    auto sum = torch::zeros({100, 100}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum += x;
    std::cout << (sum * real).max().item<float>() << '\n';
  }
}

void movedToCuda(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto fake = torch::zeros({10000, 1}).cuda();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' makes the same tensor in every iteration; create 'fake' once before the loop
    std::cout << torch::mse_loss(x, fake).item<float>() << '\n';
  }
}

// ----- the names of the namespaces -----

void otherNamespaces(const std::vector<Tensor> &xs) {
  using torch::ones;
  for (const auto &x : xs) {
    auto plain = ones({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: '{{(torch::)?}}ones' makes the same tensor in every iteration; create 'plain' once before the loop
    auto aten = at::ones({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: '{{at|torch}}::ones' makes the same tensor in every iteration; create 'aten' once before the loop
    std::cout << (x * plain + aten).sum().item<float>() << '\n';
  }
}
