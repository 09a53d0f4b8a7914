// RUN: %check_torch %s torch-discarded-result %t
//
// Functions of the user's that only return a value.

#include <torch/torch.h>

using torch::Tensor;

static const torch::Device device(torch::kCPU);

static Tensor toDevice(const Tensor &x) { return x.to(device); }

static Tensor prepare(Tensor image, bool isGrey) {
  image = image.permute({2, 0, 1}).to(torch::kFloat);
  if (isGrey)
    image = image.mean(0, true);
  const auto scaled = toDevice(image) / 255;
  return scaled.unsqueeze(0);
}

static std::vector<Tensor> allToDevice(const std::vector<Tensor> &tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const auto &t : tensors)
    result.push_back(t.to(device));
  return result;
}

struct Batch {
  Tensor data, target;
  Batch to(torch::Device there) const {
    return {data.to(there), target.to(there)};
  }
};

template <class T> T moved(const T &x) { return x.to(device); }

Tensor calls(Tensor x, Tensor y, std::vector<Tensor> z, Batch batch, Tensor w) {
  toDevice(x);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'toDevice(x)' returns its result and leaves 'x' as it is, and the result is dropped; write 'x = toDevice(x)' [torch-discarded-result]
  // CHECK-NOTES: :11:15: note: 'toDevice' only returns a value
  prepare(y, true);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'prepare(y, true)' returns its result and leaves 'y' as it is
  // CHECK-NOTES: :13:15: note: 'prepare' only returns a value
  allToDevice(z);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'allToDevice(z)' returns its result and leaves 'z' as it is
  // CHECK-NOTES: :21:28: note: 'allToDevice' only returns a value
  batch.to(device);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'batch.to(device)' returns its result and leaves 'batch' as it is, and the result is dropped; write 'batch = batch.to(device)'
  // CHECK-NOTES: :31:9: note: 'to' only returns a value
  moved(w);
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: 'moved(w)' returns its result and leaves 'w' as it is
  // CHECK-NOTES: :36:22: note: 'moved' only returns a value
  return x + y + torch::stack(z) + batch.data + w;
}
