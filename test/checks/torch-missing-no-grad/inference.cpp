// RUN: %check_torch %s torch-missing-no-grad %t
//
// Inference with a model that is loaded: main() shows what it is for.

#include <torch/script.h>
#include <torch/torch.h>

#include <thread>

using torch::Tensor;
using torch::nn::Linear;

// The model is loaded in the constructor, used in a method, both in this file.
class Recognizer {
public:
  explicit Recognizer(const std::string &path) {
    module = torch::jit::load(path);
    module.eval();
  }
  int64_t recognize(Tensor image) {
    std::vector<torch::jit::IValue> inputs{image};
    auto output = module.forward(inputs).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'module' keeps all intermediate results for a backward() that never comes
    return output.argmax().item<int64_t>();
  }

private:
  torch::jit::script::Module module;
};

// Loaded and run in one helper with internal linkage.
static float score(const std::string &path, Tensor x) {
  Linear net(8, 2);
  torch::load(net, path);
  return net->forward(x).max().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

// A server: the loop runs in a thread, which has a grad mode of its own.
static void serve(torch::jit::Module model, int requests) {
  std::thread worker([model, requests]() mutable {
    for (int i = 0; i < requests; ++i) {
      auto answer = model.forward({torch::rand({1, 8})}).toTensor();
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: forward pass of 'model' keeps all intermediate results for a backward() that never comes
      std::cout << answer.argmax() << '\n';
    }
  });
  worker.join();
}

int64_t predicted(Tensor x);

int main(int argc, char **argv) {
  torch::jit::script::Module scripted = torch::jit::load(argv[1]);
  scripted.eval();
  auto result = scripted.forward({torch::ones({1, 3, 224, 224})}).toTensor();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: forward pass of 'scripted' keeps all intermediate results for a backward() that never comes
  std::cout << result.slice(1, 0, 5) << '\n';

  Recognizer recognizer(argv[1]);
  for (int i = 0; i < 10; ++i)
    std::cout << recognizer.recognize(torch::rand({1, 8})) << '\n';
  for (int i = 2; i < argc; ++i)
    std::cout << score(argv[i], torch::rand({1, 8})) << '\n';
  serve(torch::jit::load(argv[1]), 100);
  for (int i = 2; i < argc; ++i)
    std::cout << predicted(torch::rand({1, 8})) << '\n';
}

// A class that makes its network and predicts with it: the model is built there.
class Classifier {
public:
  Classifier() : net(8, 2) {}
  int64_t predict(Tensor x) {
    return net->forward(x).argmax().item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  }

private:
  Linear net;
};
int64_t predicted(Tensor x) { return Classifier().predict(x); }
