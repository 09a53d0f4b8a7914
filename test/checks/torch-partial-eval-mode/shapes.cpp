// RUN: %check_torch %s torch-partial-eval-mode %t
//
// One module is set to eval() twice, and the one beside it never.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::BatchNorm1d;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;

// TorchScript modules in members, which other methods run.
class Recognizer {
public:
  Recognizer(const std::string &path, torch::Device device) {
    encoder_ = torch::jit::load(path + "/encoder.pt", device);
    encoder_.eval();

    decoder_ = torch::jit::load(path + "/decoder.pt", device);
    encoder_.eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'encoder_' is set to eval mode twice, and 'decoder_' never: it runs in the mode that it was saved in; this eval() is probably meant for 'decoder_' [torch-partial-eval-mode]
    // CHECK-FIXES: {{^}}    decoder_.eval();

    joiner_ = torch::jit::load(path + "/joiner.pt", device);
    joiner_.eval();
  }
  Tensor encode(const Tensor &x) {
    torch::NoGradGuard no_grad;
    return encoder_.run_method("forward", x).toTensor();
  }
  Tensor decode(const Tensor &x);
  Tensor join(const Tensor &x) {
    torch::NoGradGuard no_grad;
    return joiner_.forward({x}).toTensor();
  }

private:
  torch::jit::Module encoder_, decoder_, joiner_;
};

Tensor Recognizer::decode(const Tensor &x) {
  torch::NoGradGuard no_grad;
  return decoder_.run_method("forward", x, false).toTensor();
}

struct CoderImpl : torch::nn::Module {
  CoderImpl(int in, int out) : fc(in, out) {
    register_module("fc", fc);
    register_module("drop", drop);
  }
  Tensor forward(Tensor x) { return drop(fc(x)); }
  Linear fc;
  Dropout drop;
};
TORCH_MODULE(Coder);

// Variables of main(), all of them made and loaded before.
static Tensor run(Coder &net, Tensor x) { return net->forward(x); }
void variables(Tensor x) {
  Coder encoder(8, 2), decoder(2, 8);
  torch::load(encoder, "encoder.pt");
  torch::load(decoder, "decoder.pt");
  encoder->to(torch::kCUDA);
  decoder->to(torch::kCUDA);
  encoder->eval();
  encoder->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'encoder' is set to eval mode twice, and 'decoder' never: it runs with its Dropout as in training; this eval() is probably meant for 'decoder' [torch-partial-eval-mode]
  // CHECK-FIXES: {{^}}  decoder->eval();
  torch::InferenceMode guard;
  std::cout << run(decoder, run(encoder, x));
}

// The first of the two is wrong: what is loaded anew has forgotten it.
void firstIsWrong(const std::string &path, Tensor x) {
  torch::jit::Module detector, reader;
  detector = torch::jit::load(path + "/detector.pt");
  reader.eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'reader' is set to eval mode twice, and 'detector' never
  // CHECK-FIXES: {{^}}  detector.eval();
  reader = torch::jit::load(path + "/reader.pt");
  reader.eval();
  torch::NoGradGuard no_grad;
  auto boxes = detector.forward({x}).toTensor();
  std::cout << reader.forward({boxes}).toTensor();
}

// In a lambda; train(false) is an eval(), too.
void lambda(Tensor x) {
  Sequential first(Linear(4, 4), BatchNorm1d(4));
  Sequential second(Linear(4, 4), BatchNorm1d(4));
  auto infer = [&](Tensor in) {
    torch::NoGradGuard no_grad;
    return second->forward(first->forward(in));
  };
  first->train(false);
  first->train(false);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'first' is set to eval mode twice, and 'second' never: it runs with its BatchNorm1d as in training
  // CHECK-FIXES: {{^}}  second->train(false);
  std::cout << infer(x);
}

// A template: one finding for all instantiations.
template <class Net> void pair(Tensor x) {
  Net left(4, 4), right(4, 4);
  left->eval();
  left->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'left' is set to eval mode twice, and 'right' never
  // CHECK-FIXES: {{^}}  right->eval();
  torch::NoGradGuard no_grad;
  std::cout << left->forward(x) - right->forward(x);
}
void pairs(Tensor x) { pair<Coder>(x); }
