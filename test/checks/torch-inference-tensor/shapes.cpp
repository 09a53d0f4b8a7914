// RUN: %check_torch %s torch-inference-tensor %t
//
// The words that the messages quote are those of the LibTorch that is tested with.
// RUN: find -L %torch_root/lib -name 'libtorch_cpu.so*' -exec grep -cF 'Inference tensors cannot be saved for backward' {} + | grep '[1-9]'
//
// Tensors and modules that are made in inference mode and used outside of it.

#include <thread>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Conv2d;
using torch::nn::Linear;
using torch::optim::SGD;

static Tensor make() {
  c10::InferenceMode guard;
  return torch::zeros({4, 4});
}

// In the grad mode that a backward() shows, or in a thread, or in main().
void beside(Linear net, Tensor x) {
  Tensor seen = make();
  net->forward(x).sum().backward();
  seen += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a tensor that was made in inference mode throws outside of it, under a NoGradGuard as well; make the tensor outside of inference mode, or write to its 'clone()' [torch-inference-tensor]
}
void inThread() {
  std::thread worker([] {
    Tensor seen = make();
    seen.fill_(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode throws
  });
  worker.join();
}

// In a member, and by a template.
class Cache {
public:
  Cache() {
    c10::InferenceMode guard;
    keys = torch::zeros({8, 4});
  }
  void put(int64_t row, const Tensor &x) {
    torch::NoGradGuard no_grad;
    keys.index_put_({row}, x);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: in-place operation on a tensor that was made in inference mode throws
  }
  Tensor keys;
};
template <class T> void grow(T x) {
  x.mul_(2);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: in-place operation on a tensor that was made in inference mode throws
}

struct NetImpl : torch::nn::Module {
  NetImpl() : conv(torch::nn::Conv2dOptions(1, 2, 3)), fc(4, 2) {
    register_module("conv", conv);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor &x) {
    return fc->forward(x);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'fc' throws "Inference tensors cannot be saved for backward", because its input was made in inference mode; make it outside, or pass its 'clone()' [torch-inference-tensor]
  }
  Conv2d conv;
  Linear fc;
};
TORCH_MODULE(Net);

int main() {
  Cache cache;
  cache.put(1, torch::ones({4}));
  Tensor seen = make();
  grow(seen);

  Net net;
  SGD optimizer(net->parameters(), 0.1);
  net->forward(make()).sum().backward();
  Tensor image;
  {
    torch::InferenceMode guard;
    image = torch::rand({1, 1, 8, 8});
  }
  net->conv->forward(image).sum().backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net->conv' throws "Inference tensors cannot be saved for backward", because its input

  std::shared_ptr<torch::nn::LinearImpl> layer;
  {
    c10::InferenceMode guard;
    layer = std::make_shared<torch::nn::LinearImpl>(4, 2);
  }
  SGD other(layer->parameters(), 0.1);
  layer->forward(torch::ones({1, 4})).sum().backward();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'layer' was made in inference mode and cannot be trained: its parameters get no gradient, or the pass or the step() throws; make it outside of inference mode [torch-inference-tensor]
  other.step();
}
