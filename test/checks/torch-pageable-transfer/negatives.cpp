// RUN: %check_torch %s torch-pageable-transfer %t
//
// Pinned, or perhaps pinned; blocking, or no copy to a GPU.

#include <torch/torch.h>

using torch::Tensor;
Tensor read();

// Pinned where it is made.
void options(torch::Device device, bool pin, torch::TensorOptions given) {
  auto pinned = torch::TensorOptions().pinned_memory(true);
  torch::empty({4}, torch::TensorOptions().pinned_memory(true)).to(device, true);
  torch::empty({4}, pinned).to(device, true);
  torch::empty({4}, pinned.dtype(torch::kFloat)).to(device, true);
  torch::empty({4}, torch::dtype(torch::kFloat).pinned_memory(true)).to(device, true);
  torch::empty({4}, torch::TensorOptions().pinned_memory(pin)).to(device, true);
  torch::empty({4}, given).to(device, true);
  auto like = torch::rand({4, 4});
  torch::empty_like(like, pinned).to(device, true);
}
Tensor member(torch::Device device) {
  auto x = torch::rand({64, 64}).pin_memory();
  return x.to(device, true) + x.slice(0, 1, 3).to(device, true) + x.view({-1}).to(device, true);
}
Tensor perhaps(torch::Device device) {
  auto x = torch::rand({64, 64});
  if (torch::cuda::is_available())
    x = x.pin_memory();
  return x.to(device, true);
}
Tensor buffer(const Tensor &from, torch::Device device) {
  auto staging = torch::empty({64, 64}, torch::TensorOptions().pinned_memory(true));
  staging.copy_(from);
  return staging.to(device, true);
}
// Where a batch is put together.
struct Pins : torch::data::Dataset<Pins> {
  Tensor images = torch::rand({100, 3, 8, 8});
  torch::data::Example<> get(size_t i) override {
    return {images[static_cast<int64_t>(i)], torch::tensor(int64_t(i))};
  }
  torch::optional<size_t> size() const override { return 100; }
};
struct Collate : torch::data::transforms::Collation<torch::data::Example<>> {
  torch::data::Example<> apply_batch(std::vector<torch::data::Example<>> all) override {
    std::vector<Tensor> data, target;
    for (auto &one : all) {
      data.push_back(one.data);
      target.push_back(one.target);
    }
    return {torch::stack(data).pin_memory(), torch::stack(target).pin_memory()};
  }
};
void loader(torch::Device device) {
  auto batches = torch::data::make_data_loader(Pins().map(Collate()), 8);
  for (auto &batch : *batches) {
    auto data = batch.data.to(device, true);
    auto target = batch.target.to(device, true);
    data += target;
  }
}
// From elsewhere.
Tensor parameter(Tensor x, torch::Device device) {
  return x.to(device, true) + (x * 2).to(device, true) + read().to(device, true);
}
Tensor blob(float *data, torch::Device device) {
  return torch::from_blob(data, {4}).to(device, true);
}
struct Holds {
  Tensor x;
  Tensor f() { return x.to(torch::kCUDA, true); }
};
// It blocks, is no copy to a GPU, or not known to be.
Tensor blocking(torch::Device device, bool flag) {
  auto x = torch::rand({64, 64});
  return x.to(device) + x.to(device, false) + x.to(device, flag) + x.cuda();
}
Tensor toHost(Tensor x) {
  return x.to(torch::kCPU, true) + torch::rand({4}).to(torch::kCPU, true) + torch::rand({4}).to(torch::kMPS, true) +
         torch::rand({4}).to(torch::kHalf, true);
}
