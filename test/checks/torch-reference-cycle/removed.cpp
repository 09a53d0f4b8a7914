// RUN: %check_torch %s torch-reference-cycle %t
//
// The file removes hooks: these may be among them.

#include <torch/torch.h>

using torch::Tensor;

void removed(Tensor w) {
  w.register_hook([w](Tensor grad) { return grad * w; });
  w.sum().backward();
  w.remove_hook(0);
}
