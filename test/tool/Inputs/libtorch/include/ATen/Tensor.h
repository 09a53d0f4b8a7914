#pragma once

namespace at {
class Tensor {
public:
  Tensor();
  Tensor mul(const Tensor &other) const;
  void backward() const;
};
} // namespace at
