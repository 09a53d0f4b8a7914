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

// One cause: the loader does not pin.
void loader(torch::nn::Linear net, torch::Device device) {
  auto batches = torch::data::make_data_loader(
      Samples().map(torch::data::transforms::Stack<>()), 8);
  for (auto &batch : *batches) {
    auto data = batch.data.to(device, /*non_blocking=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: this copy is asked not to block, and comes from memory that is not pinned: the host waits for it all the same; pin the memory where the batch is put together, or fill one pinned buffer again and again, but do not pin it here, which costs another copy [torch-pageable-transfer]
    auto target = batch.target.to(device, torch::kLong, true);
    net->forward(data) + target;
  }
}
Tensor made(torch::Device device) {
  auto x = torch::rand({256, 256});
  return x.to(device, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: this copy
}
Tensor computed(float *data) {
  auto x = torch::from_blob(data, {256, 256}).clone();
  auto y = torch::stack({x, x * 2});
  return y.slice(0, 0, 1).to(torch::kCUDA, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: this copy
}
// The memory of a vector, and not that of one which takes it from elsewhere.
template <class T> struct Pinning : std::allocator<T> {
  template <class U> struct rebind {
    using other = Pinning<U>;
  };
};
struct Camera {
  std::vector<float> frame = std::vector<float>(256 * 256);
  std::vector<float, Pinning<float>> pinned;
  std::array<float, 4> corners;
  Tensor next(torch::Device device) {
    auto pixels = torch::from_blob(frame.data(), {256, 256});
    return pixels.to(device, /*non_blocking=*/true);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: this copy
  }
  Tensor nextPinned(torch::Device device) {
    return torch::from_blob(pinned.data(), {256, 256}).to(device, true) + torch::from_blob(corners.data(), {4}).to(device, true);
  }
};
static Tensor upload(const Tensor &x) { return x.to(torch::kCUDA, true); }
// CHECK-MESSAGES: :[[@LINE-1]]:50: warning: this copy
struct Feed {
  int64_t side = 100;
  Tensor next() { return upload(torch::randn({side, side})); }
};
template <class T> Tensor inTemplate(T value) {
  return torch::full({256, 256}, value).to(torch::kCUDA, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:41: warning: this copy
}
template Tensor inTemplate(float);
auto lambda = [](torch::Device device) {
  auto unpinned = torch::TensorOptions().pinned_memory(false);
  return torch::empty({256, 256}, unpinned).to(device, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:45: warning: this copy
};
#define UPLOAD(x) (x).to(torch::kCUDA, true)
Tensor inMacro() {
  auto x = torch::rand({512, 512});
  return UPLOAD(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: this copy
}

// Behind a pointer, and in an optional.
static std::optional<Tensor> maybe(int64_t i) {
  if (i % 3 == 0)
    return std::nullopt;
  return torch::rand({256, 256});
}
Tensor behind(torch::Device device, int64_t n) {
  Tensor last;
  for (int64_t i = 0; i < n; ++i) {
    auto x = maybe(i);
    if (x.has_value())
      last = x->to(device, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: this copy
  }
  for (int64_t i = 0; i < n; ++i) {
    auto owned = std::make_unique<Tensor>(torch::rand({256, 256}));
    last = owned->to(device, true);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: this copy
  }
  return last;
}
