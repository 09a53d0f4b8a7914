// RUN: %check_torch %s torch-missing-no-grad %t
//
// A network that was loaded, and that some method sets to train(): who calls that trains it through this pass.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

// A wrapper of a library: its callers train, and its callers predict.
class Wrapper {
public:
  explicit Wrapper(const std::string &path) : model(torch::jit::load(path)) {}
  void train() { model.train(); }
  void eval() { model.eval(); }
  Tensor forward(const Tensor &x) { return model.forward({x}).toTensor(); }
  double score(const Tensor &x) { return model.forward({x}).toTensor().sum().item<double>(); }

private:
  torch::jit::Module model;
};

// It is switched off only.
class Scorer {
public:
  explicit Scorer(const std::string &path) : model(torch::jit::load(path)) { model.train(false); }
  Tensor forward(const Tensor &x) {
    return model.forward({x}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'model' keeps all intermediate results
  }

private:
  torch::jit::Module model;
};
