// RUN: %check_torch %s torch-unregistered-module %t
//
// Each object of a class has its own layers: two of them are not one that is registered twice.

#include <torch/torch.h>
using torch::Tensor;
class BlockImpl : public torch::nn::Module {
public:
  BlockImpl(int in, int out) {
    conv1 = torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3));
    conv1 = register_module("conv1", conv1);
  }
  Tensor forward(Tensor x) { return conv1(x); }
  torch::nn::Conv2d conv1{nullptr};
};
TORCH_MODULE(Block);
class EncoderImpl : public torch::nn::Module {
public:
  torch::nn::Sequential make(int dim) {
    torch::nn::Sequential layers;
    layers->push_back(Block(in_, dim));
    layers->push_back(Block(dim, dim));
    in_ = dim;
    return layers;
  }
  EncoderImpl() {
    layer1 = torch::nn::Sequential(make(64));
    layer2 = torch::nn::Sequential(make(96));
    register_module("layer1", layer1);
    register_module("layer2", layer2);
  }
  Tensor forward(Tensor x) { return layer2->forward(layer1->forward(x)); }
  int in_ = 3;
  torch::nn::Sequential layer1, layer2;
};
TORCH_MODULE(Encoder);
// The same layer in two places of one network.
class TiedImpl : public torch::nn::Module {
public:
  TiedImpl() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 3, 3)));
    both = register_module("both", torch::nn::Sequential(conv));
    // CHECK-MESSAGES: :[[@LINE-1]]:36: warning: 'conv' is registered a second time
  }
  Tensor forward(const Tensor &x) { return both->forward(conv(x)); }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::Sequential both;
};
TORCH_MODULE(Tied);

// Moved by hand, since the module does not reach them: nobody trains them.
struct Residual : torch::nn::Module {
  explicit Residual(int64_t width) {
    layers->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(width, width, 1)));
    layers->push_back(torch::nn::Functional(torch::relu));
    for (size_t i = 0; i < layers->size(); ++i)
      layers[i]->to(torch::kCUDA);
  }
  Tensor forward(const Tensor &x) { return torch::relu(x + layers->forward(x)); }
  // CHECK-MESSAGES: :[[@LINE+3]]:25: warning: submodule 'layers' is never registered

private:
  torch::nn::Sequential layers;
};
// Whoever asks for its parameters trains them.
struct ByHand : torch::nn::Module {
  explicit ByHand(int64_t width) { layers->push_back(torch::nn::Linear(width, width)); }
  Tensor forward(const Tensor &x) { return layers->forward(x); }
  std::vector<Tensor> trained() { return layers->parameters(); }
  void move(torch::Device device) { layers->to(device); }

private:
  torch::nn::Sequential layers;
};

int main() {
  Residual residual(3);
  ByHand hand(3);
  std::cout << residual.forward(torch::rand({1, 3, 4, 4})) << hand.forward(torch::rand({3}));
  Encoder encoder;
  Tied tied;
  std::cout << encoder->forward(tied->forward(torch::rand({1, 3, 16, 16})));
}
