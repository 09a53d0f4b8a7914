// RUN: %check_torch %s torch-varying-shapes %t
//
// Tensors on a device that are larger in every iteration.

#include <torch/torch.h>

using torch::Tensor;
using torch::indexing::None;
using torch::indexing::Slice;

void counter(int64_t n, int64_t width, torch::Device device) {
  for (int64_t i = 1; i < n; ++i) {
    auto mask = torch::zeros({i, width}, device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' makes a larger tensor in every iteration: no memory that the device's allocator has kept is large enough, so each one is asked of the driver, and the pieces stay; make the largest once before the loop and take 'narrow()' of it, or round the size up to a few steps [torch-varying-shapes]
    // CHECK-MESSAGES: :[[@LINE-3]]:3: note: in every iteration of this loop
    std::cout << mask.sum();
  }
}

// By what each iteration adds to a tensor.
void generate(torch::nn::Linear net, Tensor tokens) {
  torch::NoGradGuard guard;
  for (int step = 0; step < 5000; ++step) {
    const auto length = tokens.size(1);
    auto mask = torch::ones({length, length}, tokens.options()).tril();
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes a larger tensor in every iteration
    auto next = net->forward(tokens * mask.size(0)).argmax(-1, true);
    tokens = torch::cat({tokens, next}, 1);
  }
}

// The first elements of a tensor that stays are copied.
void prefixes(Tensor x, torch::Device device) {
  for (int64_t i = 1; i <= x.size(0); ++i)
    std::cout << x.slice(0, 0, i).clone().sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'clone' makes a larger tensor in every iteration: no memory that the device's allocator has kept is large enough, so each one is asked of the driver, and the pieces stay; use the view itself, or copy into a part of one tensor that is made once
  const auto host = torch::rand({x.size(0), 512});
  for (int64_t i = 0; i < x.size(0); ++i) {
    const auto part = host.index({Slice(None, i + 1)});
    std::cout << part.to(device).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'to' makes a larger tensor in every iteration
    std::cout << host.narrow(0, 0, i + 1).to(device).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'to' makes a larger tensor in every iteration
  }
}

static Tensor history(int64_t frames, torch::Device device) {
  return torch::full({frames, 3, 224, 224}, 0.5, torch::TensorOptions().device(device));
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'torch::full' makes a larger tensor in every iteration
}

// A member that counts in a while, and a helper.
class Recorder {
public:
  void run(int64_t count) {
    int64_t frames = 0;
    while (frames < count) {
      frames += 2;
      std::cout << history(frames, device).sum();
    }
  }

private:
  torch::Device device{torch::kCUDA};
};

template <class Options> void byTemplate(int64_t n, int64_t m, Options options) {
  for (int64_t i = 0; i < n; ++i)
    std::cout << torch::randn({2 * i + 1, m}, options).sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::randn' makes a larger tensor in every iteration
}
void instantiate(int64_t n) {
  byTemplate(n, n, torch::TensorOptions(torch::kCUDA));
}

void byLambda(const std::vector<Tensor> &xs, int64_t width) {
  int64_t seen = 0;
  for (const auto &x : xs) {
    ++seen;
    const auto make = [&](int64_t rows) {
      return torch::empty({rows, width}, torch::kCUDA);
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'torch::empty' makes a larger tensor in every iteration
    };
    std::cout << make(seen).fill_(1).sum() << x.sum();
  }
}
