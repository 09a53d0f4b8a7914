// RUN: %check_torch %s torch-blob-lifetime %t
//
// What looks at memory and owns none may end before the tensor: the memory is that of
// somebody else.

#include <torch/torch.h>

#include <functional>
#include <vector>

using torch::Tensor;

static Tensor viaAccessor(const Tensor &x) {
  auto elements = x.accessor<float, 1>();
  return torch::from_blob(elements.data(), {3}, torch::kFloat);
}

static Tensor viaPackedAccessor(const Tensor &x) {
  auto elements = x.packed_accessor64<float, 1>();
  return torch::from_blob(elements.data(), {3}, torch::kFloat);
}

static Tensor viaPackedAccessor32(const Tensor &x) {
  auto elements = x.packed_accessor32<float, 1>();
  return torch::from_blob(elements.data(), {3}, torch::kFloat);
}

static Tensor viaArrayRef(const Tensor &x) {
  c10::ArrayRef<float> elements(x.data_ptr<float>(), 3);
  return torch::from_blob(const_cast<float *>(elements.data()), {3}, torch::kFloat);
}

static Tensor viaReferenceWrapper(std::vector<float> &v) {
  std::reference_wrapper<std::vector<float>> elements = v;
  return torch::from_blob(elements.get().data(), {3}, torch::kFloat);
}

// A vector owns what it has.
static Tensor viaVector() {
  std::vector<float> elements(3);
  return torch::from_blob(elements.data(), {3}, torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: tensor still points into 'elements', which
}

int main() {
  Tensor x = torch::ones({3});
  std::vector<float> v(3);
  for (const Tensor &t : {viaAccessor(x), viaPackedAccessor(x), viaPackedAccessor32(x), viaArrayRef(x),
                          viaReferenceWrapper(v), viaVector()})
    t.sum();
}
