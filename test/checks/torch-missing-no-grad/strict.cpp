// RUN: %check_torch %s torch-missing-no-grad %t -- -config="{CheckOptions: {torch-missing-no-grad.Strict: true}}"
//
// With Strict the check also speaks where nothing shows that it is evaluation
// and the callers are unknown. See also negatives-callers.cpp, which holds the
// same functions without the option.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

class Detector {
public:
  std::vector<float> detect(Tensor image);

private:
  Linear net{8, 2};
};

std::vector<float> Detector::detect(Tensor image) {
  auto boxes = net->forward(image).contiguous();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return {boxes.data_ptr<float>(), boxes.data_ptr<float>() + boxes.numel()};
}

int64_t predict(Linear net, Tensor x) {
  return net->forward(x).argmax().item<int64_t>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

// ----- quiet with Strict too -----

float trainStep(Linear net, torch::optim::SGD &opt, Tensor x, Tensor y) {
  opt.zero_grad();
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  opt.step();
  return loss.item<float>();
}

int64_t guarded(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  return net->forward(x).argmax().item<int64_t>();
}

// The composition of modules is not an evaluation.
struct OuterImpl : torch::nn::Module {
  OuterImpl() { fc = register_module("fc", Linear(8, 2)); }
  Tensor forward(Tensor x) { return torch::relu(fc->forward(x)); }
  Linear fc{nullptr};
};

Tensor saliency(Linear net, Tensor x) {
  x.requires_grad_(true);
  net->forward(x).max().backward();
  return x.grad().abs();
}
