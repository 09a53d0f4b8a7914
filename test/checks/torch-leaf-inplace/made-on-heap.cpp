// RUN: %check_torch %s torch-leaf-inplace %t
//
// What the constructor of a module has done is known of the object, however
// that was made: make_shared, make_unique, new, a holder.

#include <torch/torch.h>

using torch::Tensor;

struct ScaleImpl : torch::nn::Module {
  explicit ScaleImpl(int n) {
    w = register_parameter("w", torch::ones({n}));
    running = register_buffer("running", torch::zeros({n}));
    fixed = register_parameter("fixed", torch::ones({n}), /*requires_grad=*/false);
  }
  void init() {
    torch::NoGradGuard off;
    w.fill_(0.5);
  }
  Tensor w, running, fixed;
};
TORCH_MODULE(Scale);

struct Trainer {
  Trainer() : scale(std::make_shared<ScaleImpl>(4)) {}
  void init() {
    scale->w.mul_(2);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on 'scale->w', a trainable tensor
    scale->running.mul_(2);
  }
  std::shared_ptr<ScaleImpl> scale;
};

int main() {
  auto shared = std::make_shared<ScaleImpl>(2);
  shared->w.fill_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'shared->w', a trainable tensor
  auto unique = std::make_unique<ScaleImpl>(2);
  unique->w.fill_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'unique->w', a trainable tensor
  Scale made(2), of(std::make_shared<ScaleImpl>(2));
  made->w.fill_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'made->w', a trainable tensor
  of->w.fill_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'of->w', a trainable tensor
  Scale converted = std::make_shared<ScaleImpl>(2);
  converted->w.fill_(1);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on 'converted->w', a trainable tensor

  // Buffers, what was registered without a gradient, and writes under a guard.
  shared->running.fill_(1);
  unique->fixed.fill_(1);
  of->running.add_(1);
  converted->fixed.zero_();
  shared->init();
  made->init();
  // Another object, of which one parameter is frozen.
  auto frozen = std::make_shared<ScaleImpl>(2);
  frozen->w.set_requires_grad(false);
  frozen->w.fill_(1);
  Trainer().init();
}
