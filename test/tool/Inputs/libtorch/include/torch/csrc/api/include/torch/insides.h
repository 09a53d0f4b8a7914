#pragma once

namespace torch {
inline void insides(nn::Module &module, optim::SGD &optimizer, Tensor x) {
  for (int i = 0; i < 10; ++i) {
    x.mul(x).backward();
    optimizer.step();
  }
}
} // namespace torch
