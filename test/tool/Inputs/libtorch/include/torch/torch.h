// A stub of LibTorch that parses at once, for tests of the tools. Its loops are
// what no tool may report: they stand for LibTorch's own code.
#pragma once
#include <ATen/Tensor.h>

namespace torch {
using at::Tensor;

namespace nn {
class Module {
public:
  virtual ~Module();
  virtual void zero_grad(bool set_to_none = true);
  virtual void train(bool on = true);
  void eval();
};
} // namespace nn

namespace optim {
class Optimizer {
public:
  virtual ~Optimizer();
  void zero_grad(bool set_to_none = true);
};
class SGD : public Optimizer {
public:
  Tensor step();
};
} // namespace optim
} // namespace torch

#include <torch/csrc/api/include/torch/insides.h>
