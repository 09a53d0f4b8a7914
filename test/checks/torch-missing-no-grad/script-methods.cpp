// RUN: %check_torch %s torch-missing-no-grad %t
//
// The methods of a TorchScript module are forward passes like its forward(). No
// fix: nobody sees here whether the module runs under a guard.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

double byMethod(const std::string &path, Tensor x) {
  auto module = torch::jit::load(path);
  module.eval();
  return module.get_method("encode")({x}).toTensor().max().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass
}

struct Speech {
  torch::jit::Module module;
  explicit Speech(const std::string &path) : module(torch::jit::load(path)) {}
  int64_t decode(Tensor features) {
    torch::jit::Method decode = module.get_method("decode");
    return decode({features}).toTensor().argmax().item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass
  }
};

void byName(const std::string &path, const std::vector<Tensor> &xs) {
  auto module = torch::jit::load(path);
  module.eval();
  for (const Tensor &x : xs)
    std::cout << module.run_method("score", x).toTensor().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'module'
}
