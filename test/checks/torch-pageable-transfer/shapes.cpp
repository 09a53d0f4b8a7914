// RUN: %check_torch %s torch-pageable-transfer %t
//
// Copies that the host waits for, though it is asked not to.

#include <torch/torch.h>

using torch::Tensor;

struct Samples : torch::data::Dataset<Samples> {
  Tensor images = torch::rand({100, 3, 8, 8});
  torch::data::Example<> get(size_t i) override {
    return {images[static_cast<int64_t>(i)], torch::tensor(int64_t(i))};
  }
  torch::optional<size_t> size() const override { return 100; }
};

void loader(torch::nn::Linear net, torch::Device device) {
  auto batches = torch::data::make_data_loader(
      Samples().map(torch::data::transforms::Stack<>()), 8);
  for (auto &batch : *batches) {
    auto data = batch.data.to(device, /*non_blocking=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: this copy is asked not to block, and comes from memory that is not pinned: the host waits for it all the same; pin the memory where the batch is put together, and not here [torch-pageable-transfer]
    // CHECK-MESSAGES: :[[@LINE-3]]:3: note: in every iteration of this loop
    auto target = batch.target.to(device, torch::kLong, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:32: warning: this copy
    net->forward(data) + target;
  }
}
Tensor made(torch::Device device) {
  auto x = torch::rand({64, 64});
  return x.to(device, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: this copy
}
Tensor computed(float *data) {
  auto x = torch::from_blob(data, {4, 4}).clone();
  auto y = torch::stack({x, x * 2});
  return y.slice(0, 0, 1).to(torch::kCUDA, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: this copy
}
static Tensor upload(const Tensor &x) { return x.to(torch::kCUDA, true); }
// CHECK-MESSAGES: :[[@LINE-1]]:50: warning: this copy
struct Feed {
  Tensor next() { return upload(torch::randn({4, 4})); }
};
template <class T> Tensor inTemplate(T value) {
  return torch::full({4, 4}, value).to(torch::kCUDA, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:37: warning: this copy
}
template Tensor inTemplate(float);
auto lambda = [](torch::Device device) {
  auto unpinned = torch::TensorOptions().pinned_memory(false);
  return torch::empty({4, 4}, unpinned).to(device, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: this copy
};
