// RUN: %check_torch %s torch-empty-cache-in-loop %t -still-warns
//
// Caches that are emptied in every iteration.

#include <ATen/DeviceAccelerator.h>
#include <ATen/core/CachingHostAllocator.h>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

void inference(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard guard;
  for (const auto &x : xs) {
    auto y = net->forward(x);
    std::cout << y.sum().item<float>();
    at::accelerator::emptyCache();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'at::accelerator::emptyCache' gives the cached memory back to the driver in every iteration: it waits for the device, and the next iteration has to allocate all of it again; leave it out [torch-empty-cache-in-loop]
    // CHECK-FIXES: {{^}}    std::cout << y.sum().item<float>();{{$}}
    // CHECK-FIXES-NEXT: {{^ *//$}}
  }
}

static void clean() {
  if (torch::cuda::is_available()) {
    torch::cuda::synchronize();
    at::accelerator::emptyCache();
  }
}

// By a function that does nothing else; once for each epoch is no matter.
void training(torch::nn::Linear net, torch::optim::SGD &opt,
              const std::vector<Tensor> &xs) {
  for (int epoch = 0; epoch < 100; ++epoch) {
    for (const auto &x : xs) {
      opt.zero_grad();
      net->forward(x).sum().backward();
      opt.step();
      clean();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'clean' gives the cached memory back to the driver in every iteration
      // CHECK-FIXES: {{^}}      opt.step();{{$}}
      // CHECK-FIXES-NEXT: {{^ *//$}}
    }
    clean();
  }
}

// The function does the work as well: there is no fix, others call it, too.
struct Detector {
  torch::nn::Linear net{nullptr};
  Tensor run(Tensor x) {
    torch::NoGradGuard guard;
    auto y = net->forward(x);
    at::getDeviceAllocator(torch::kCUDA)->emptyCache();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'emptyCache' gives the cached memory back
    // CHECK-FIXES: at::getDeviceAllocator(torch::kCUDA)->emptyCache();
    return y;
  }
};
void frames(Detector &detector, const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    std::cout << detector.run(x).sum();
}

// Conditions that come out the same each time, and iterations that do nothing.
void conditions(torch::nn::Linear net, torch::Device device,
                const std::vector<Tensor> &xs) {
  const bool onGpu = device.is_cuda();
  size_t i = 0;
  while (i < xs.size()) {
    const Tensor &x = xs[i++];
    if (x.numel() == 0)
      continue;
    std::cout << net->forward(x.to(device)).sum();
    if (onGpu) {
      at::accelerator::emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'at::accelerator::emptyCache' gives
    }
    if (device.type() == torch::kCUDA)
      at::accelerator::emptyCache();
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'at::accelerator::emptyCache' gives
      // CHECK-FIXES: at::accelerator::emptyCache();
  }
}

// A lambda that is called in a loop; a TorchScript module; a comment goes along.
auto callback = [](torch::jit::Module &module, const std::vector<Tensor> &xs) {
  const auto step = [&](const Tensor &x) {
    std::cout << module.forward({x}).toTensor().sum();
    at::accelerator::emptyCache(); // keep memory low
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'at::accelerator::emptyCache' gives
  };
  for (const auto &x : xs)
    step(x);
};

template <class Net> void inTemplate(Net net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    std::cout << net->forward(x).sum();
    at::getHostAllocator(torch::kCUDA)->empty_cache();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'empty_cache' gives
  }
}
template void inTemplate(torch::nn::Linear, const std::vector<Tensor> &);
template void inTemplate(torch::nn::ReLU, const std::vector<Tensor> &);

// No network: the iteration computes with tensors all the same.
Tensor operations(const std::vector<Tensor> &xs) {
  Tensor sum = torch::zeros({8, 8});
  for (const auto &x : xs) {
    sum += x.matmul(x);
    at::accelerator::emptyCache();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'at::accelerator::emptyCache' gives
  }
  return sum;
}
