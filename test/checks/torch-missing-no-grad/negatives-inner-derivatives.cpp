// RUN: %check_torch %s torch-missing-no-grad %t
//
// TorchScript modules that differentiate inside: a guard makes them throw.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

// The key of an output.
double byKey(const std::string &path, c10::Dict<std::string, Tensor> atoms) {
  auto model = torch::jit::load(path);
  model.eval();
  auto out = model.forward({atoms}).toGenericDict();
  return out.at("forces").toTensor().abs().max().item<double>();
}

// The name of a variable, in the caller.
static c10::IValue compute(torch::jit::Module &model, Tensor positions) {
  return model.forward({positions});
}
void byVariable(const std::string &path, Tensor positions, double *into) {
  auto model = torch::jit::load(path);
  model.eval();
  auto out = compute(model, positions).toTuple();
  Tensor atomForces = out->elements()[1].toTensor().to(torch::kDouble);
  std::copy_n(atomForces.data_ptr<double>(), atomForces.numel(), into);
}

// An input that is told to require a gradient, in a container whose elements
// are not followed.
double byInput(const std::string &path, Tensor positions) {
  auto model = torch::jit::load(path);
  model.eval();
  positions.set_requires_grad(true);
  c10::Dict<std::string, Tensor> input;
  input.insert("pos", positions);
  return model.run_method("energy", input).toTensor().item<double>();
}

// A member.
struct Cell {
  torch::jit::Module model;
  Tensor virial_;
  void update(const std::string &path, Tensor x) {
    model = torch::jit::load(path);
    virial_ = model.get_method("cell")({x}).toTensor().detach();
  }
};
