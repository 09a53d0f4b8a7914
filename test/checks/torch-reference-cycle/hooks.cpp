// RUN: %check_torch %s torch-reference-cycle %t
//
// A hook has captured what keeps it.

#include <torch/torch.h>

using torch::Tensor;

void leaf(Tensor weight, Tensor x) {
  weight.register_hook([weight](Tensor grad) { return grad * weight; });
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the hook of 'weight' has captured 'weight' itself, so the tensor keeps itself alive and is never freed; capture 'weight.detach()' [torch-reference-cycle]
  // CHECK-NOTES: :[[@LINE-2]]:25: note: it is captured here
  (weight * x).sum().backward();
}

void activation(torch::nn::Linear net, const std::vector<Tensor> &xs) {
  for (const Tensor &x : xs) {
    Tensor hidden = net->forward(x);
    hidden.register_hook([=](const Tensor &grad) {
      // CHECK-NOTES: :[[@LINE-1]]:5: warning: the hook of 'hidden' has captured 'hidden' itself
      // CHECK-NOTES: :[[@LINE+1]]:48: note: it is captured here
      std::cout << grad.norm().item<float>() / hidden.norm().item<float>();
    });
    hidden.sum().backward();
  }
}

void byName(const Tensor &x) {
  Tensor y = x * 2;
  const auto hook = [copy = y](Tensor grad) { return grad * copy; };
  y.register_hook(hook);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the hook of 'y' has captured 'y' itself
  // CHECK-NOTES: :[[@LINE-3]]:22: note: it is captured here
  y.sum().backward();
}

void eachParameter(torch::nn::Linear net) {
  for (auto &p : net->parameters())
    p.register_hook([p](Tensor grad) { return grad + 0.1 * p; });
  // CHECK-NOTES: :[[@LINE-1]]:5: warning: the hook of 'p' has captured 'p' itself
  // CHECK-NOTES: :[[@LINE-2]]:22: note: it is captured here
}

struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc = register_module("fc", torch::nn::Linear(4, 4));
  Tensor hidden;
  Tensor forward(Tensor x) { return hidden = fc(x); }
};
TORCH_MODULE(Net);

void module(Net net) {
  net->fc->weight.register_hook([net](Tensor grad) {
    // CHECK-NOTES: :[[@LINE-1]]:3: warning: the hook of a tensor of 'net' has captured 'net', so the module keeps itself alive and is never freed; capture a 'std::weak_ptr', or what the hook needs of it
    // CHECK-NOTES: :[[@LINE-2]]:34: note: it is captured here
    return net->is_training() ? grad : grad * 0;
  });
}

void pointer(int64_t size) {
  auto net = std::make_shared<NetImpl>();
  Tensor &bias = net->fc->bias;
  bias.register_hook([layer = net->fc](Tensor grad) {
    // CHECK-NOTES: :[[@LINE-1]]:3: warning: the hook of a tensor of 'net' has captured 'net'
    // CHECK-NOTES: :[[@LINE-2]]:23: note: it is captured here
    return grad * layer->weight.sum();
  });
}
