// RUN: %check_torch %s torch-missing-no-grad %t
//
// The notes say what shows that it is evaluation.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void evalMode(Linear net, const std::vector<Tensor> &xs) {
  net->eval();
  for (const auto &x : xs)
    std::cout << net->forward(x).argmax() << '\n';
}
// CHECK-NOTES: :[[@LINE-2]]:18: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes (memory, time); put 'torch::NoGradGuard no_grad;' before it
// CHECK-NOTES: :[[@LINE-5]]:3: note: eval mode is set here

void loaded(const std::string &path, Tensor x) {
  auto module = torch::jit::load(path);
  std::cout << module.forward({x}).toTensor().argmax() << '\n';
}
// CHECK-NOTES: :[[@LINE-2]]:16: warning: forward pass of 'module' keeps all intermediate results for a backward() that never comes
// CHECK-NOTES: :[[@LINE-4]]:{{[0-9]+}}: note: the model is loaded here

static Tensor predict(Linear net, Tensor x) { return net->forward(x); }
// CHECK-NOTES: :[[@LINE-1]]:54: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
// CHECK-NOTES-DAG: :[[@LINE+4]]:3: note: eval mode is set here
// CHECK-NOTES-DAG: :[[@LINE+4]]:16: note: called from here

void caller(Linear net, Tensor x) {
  net->eval();
  std::cout << predict(net, x).argmax() << '\n';
}

void generate(torch::nn::Embedding embedding, int length) {
  auto token = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < length; ++i)
    token = embedding->forward(token).argmax(-1);
}
// CHECK-NOTES: :[[@LINE-2]]:13: warning: forward pass of 'embedding' keeps all intermediate results for a backward() that never comes
// CHECK-NOTES: :[[@LINE-3]]:13: note: it is run on what was chosen from its own results: a sequence is generated

struct BuiltImpl : torch::nn::Module {
  BuiltImpl(int64_t n) {
    fc = register_module("fc", Linear(n, n));
    drop = register_module("drop", torch::nn::Dropout(0.1));
  }
  Tensor forward(Tensor x) { return drop->forward(fc->forward(x)); }
  Linear fc{nullptr};
  torch::nn::Dropout drop{nullptr};
};
TORCH_MODULE(Built);

void demo(const Tensor &inputs) {
  Built net(512);
  for (int i = 0; i < 3; ++i)
    std::cout << net->forward(inputs).sizes() << '\n';
}
// CHECK-NOTES: :[[@LINE-2]]:18: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
// CHECK-NOTES: :[[@LINE-5]]:{{[0-9]+}}: note: the model is built here
