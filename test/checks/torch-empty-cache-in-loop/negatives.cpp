// RUN: %check_torch %s torch-empty-cache-in-loop %t
//
// Caches that are emptied for a reason, or now and then.

#include <ATen/DeviceAccelerator.h>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

static void emptyCache() { at::accelerator::emptyCache(); }

// After an exception.
void afterException(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    try {
      std::cout << net->forward(x).sum();
    } catch (const c10::OutOfMemoryError &) {
      at::accelerator::emptyCache();
    }
  }
}
void afterCatch(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    bool failed = false;
    try {
      std::cout << net->forward(x).sum();
    } catch (const c10::Error &) {
      failed = true;
    }
    if (failed)
      emptyCache();
  }
}
Tensor again(torch::nn::Linear net, Tensor x, int tries) {
  for (int i = 0; i < tries; ++i) {
    try {
      return net->forward(x);
    } catch (const c10::OutOfMemoryError &) {
      x = x.chunk(2)[0];
    }
    emptyCache();
  }
  return {};
}
Tensor smaller(torch::nn::Linear net, Tensor x) {
  bool done = false;
  Tensor y;
  while (!done) {
    try {
      y = net->forward(x);
      done = true;
      continue;
    } catch (const c10::OutOfMemoryError &) {
    }
    emptyCache();
  }
  return y;
}

// Between phases: each has a model of its own.
void perModel(const std::vector<std::string> &paths, Tensor x) {
  for (const auto &path : paths) {
    auto module = torch::jit::load(path);
    std::cout << module.forward({x}).toTensor().sum();
    emptyCache();
  }
}
void perSize(int64_t from, int64_t to, Tensor x) {
  for (int64_t n = from; n < to; ++n) {
    torch::nn::Linear net(8, n);
    std::cout << net->forward(x).sum();
    emptyCache();
  }
}
Tensor stages(std::vector<torch::nn::Linear> &nets, Tensor x) {
  for (auto &net : nets) {
    x = net->forward(x);
    emptyCache();
  }
  return x;
}
Tensor swapped(torch::nn::Sequential net, Tensor x, torch::Device device) {
  while (x.size(0) > 1) {
    net->to(device);
    x = net->forward(x);
    net->to(torch::kCPU);
    emptyCache();
  }
  return x;
}
// Once for each epoch.
void perEpoch(torch::nn::Linear net, torch::optim::SGD &opt,
              const std::vector<Tensor> &xs, int64_t epochs) {
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (const auto &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
    }
    emptyCache();
  }
}
float trainEpoch(torch::nn::Linear &net, const std::vector<Tensor> &xs);
void perUnseenEpoch(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (int64_t epoch = 0; epoch < 100; ++epoch) {
    const float loss = trainEpoch(net, xs);
    std::cout << torch::tensor(loss).log();
    emptyCache();
  }
}
// Now and then.
void everyHundred(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  int64_t i = 0;
  for (const auto &x : xs) {
    std::cout << net->forward(x).sum();
    if (++i % 100 == 0)
      emptyCache();
    if (torch::cuda::is_available() && i % 10 == 0)
      emptyCache();
    if (i % 50 != 0)
      continue;
    emptyCache();
  }
}
// What is asked for is to be low.
void whenLow(torch::nn::Linear net, const std::vector<Tensor> &xs, bool saves) {
  for (const auto &x : xs) {
    std::cout << net->forward(x).sum();
    if (saves)
      emptyCache();
  }
}
// Memory is measured.
void measured(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    emptyCache();
    at::accelerator::resetPeakStats(0);
    std::cout << net->forward(x).sum();
  }
}
// Few, or none.
void few(torch::nn::Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i) {
    std::cout << net->forward(x).sum();
    emptyCache();
  }
  emptyCache();
}
// Another class.
struct Store {
  void emptyCache();
};
void other(Store &store, torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    std::cout << net->forward(x).sum();
    store.emptyCache();
  }
}
