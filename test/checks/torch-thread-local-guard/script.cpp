// RUN: %check_torch %s torch-thread-local-guard %t -still-warns
//
// A TorchScript module: no fix, for nobody can tell whether its code, which is in
// no C++ file, runs under a guard.

#include <thread>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

// A template, a TorchScript module, a switch that no guard restores.
template <class Net> void served(Net net, Tensor x) {
  std::thread worker([&] { std::cout << net.forward({x}).toTensor(); });
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: forward pass of 'net' records a graph
  worker.join();
}
void script(const std::string &path, Tensor x) {
  torch::jit::Module net = torch::jit::load(path);
  net.eval();
  torch::GradMode::set_enabled(false);
  served(net, x);
  torch::GradMode::set_enabled(true);
}
