// RUN: %check_torch %s torch-pageable-transfer %t
//
// Pinned, or perhaps pinned; blocking, or no copy to a GPU.

#include <torch/torch.h>

using torch::Tensor;
Tensor read();

// Pinned where it is made.
void options(torch::Device device, bool pin, torch::TensorOptions given) {
  auto pinned = torch::TensorOptions().pinned_memory(true);
  torch::empty({256, 256}, torch::TensorOptions().pinned_memory(true)).to(device, true);
  torch::empty({256, 256}, pinned).to(device, true);
  torch::empty({256, 256}, pinned.dtype(torch::kFloat)).to(device, true);
  torch::empty({256, 256}, torch::dtype(torch::kFloat).pinned_memory(true)).to(device, true);
  torch::empty({256, 256}, torch::TensorOptions().pinned_memory(pin)).to(device, true);
  torch::empty({256, 256}, given).to(device, true);
  auto like = torch::rand({256, 256});
  torch::empty_like(like, pinned).to(device, true);
}
Tensor member(torch::Device device) {
  auto x = torch::rand({256, 256}).pin_memory();
  return x.to(device, true) + x.slice(0, 1, 3).to(device, true) + x.view({-1}).to(device, true);
}
Tensor perhaps(torch::Device device) {
  auto x = torch::rand({256, 256});
  if (torch::cuda::is_available())
    x = x.pin_memory();
  return x.to(device, true);
}
Tensor buffer(const Tensor &from, torch::Device device) {
  auto staging = torch::empty({256, 256}, torch::TensorOptions().pinned_memory(true));
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
  return torch::from_blob(data, {256, 256}).to(device, true);
}
struct Holds {
  Tensor x;
  Tensor f() { return x.to(torch::kCUDA, true); }
};
// It blocks, is no copy to a GPU, or not known to be.
Tensor blocking(torch::Device device, bool flag) {
  auto x = torch::rand({256, 256});
  return x.to(device) + x.to(device, false) + x.to(device, flag) + x.cuda();
}
Tensor toHost(Tensor x) {
  return x.to(torch::kCPU, true) + torch::rand({256, 256}).to(torch::kCPU, true) + torch::rand({256, 256}).to(torch::kMPS, true) +
         torch::rand({256, 256}).to(torch::kHalf, true);
}
// One buffer, refilled.
struct Uploader {
  Tensor staging = torch::empty({64, 3, 32, 32}, torch::TensorOptions().pinned_memory(true));
  Tensor next(const std::vector<Tensor> &all, torch::Device device) {
    torch::stack_out(staging, all);
    return staging.to(device, true);
  }
};
void refilled(const std::vector<std::vector<Tensor>> &batches, torch::Device device) {
  auto staging = torch::empty({64, 3, 32, 32}, torch::TensorOptions().pinned_memory(true));
  for (const auto &batch : batches)
    torch::stack_out(staging, batch).to(device, /*non_blocking=*/true);
}
// CUDA takes a copy of so few bytes, and returns.
void small(torch::Device device) {
  for (int i = 0; i < 100; ++i) {
    torch::rand({128, 128}).to(device, true);
    torch::tensor({1.0, 2.0}).to(device, true);
    torch::empty({64}, torch::kLong).to(device, true);
  }
}
// Once.
struct Table {
  Tensor rows;
  explicit Table(torch::Device device) : rows(torch::rand({1000, 1000}).to(device, true)) {}
  Tensor kept;
  Tensor get(torch::Device device) {
    if (!kept.defined())
      kept = torch::rand({1000, 1000}).to(device, true);
    return kept;
  }
};

// Pinned behind the pointer, and pinned wherever there is a device.
Tensor pinnedBehind(torch::Device device, int64_t n) {
  auto owned = std::make_unique<Tensor>(torch::rand({256, 256}).pin_memory());
  const bool any = torch::cuda::is_available();
  auto asked = torch::empty({256, 256}, torch::TensorOptions().pinned_memory(any));
  Tensor last;
  for (int64_t i = 0; i < n; ++i)
    last = owned->to(device, true) + asked.to(device, true);
  return last;
}

// Of what nobody names nothing would be said.
const auto named =
    std::make_tuple(&options, &member, &perhaps, &buffer, &loader, &parameter, &blob,
                    &blocking, &toHost, &refilled, &small);

int main() {
  auto weights = torch::rand({1000, 1000}).to(torch::kCUDA, true);
  Table table(torch::kCUDA);
  Holds holds;
  Uploader uploader;
  Collate collate;
  pinnedBehind(torch::kCUDA, 2);
  const auto methods = std::make_tuple(&Holds::f, &Uploader::next, &Collate::apply_batch);
  return static_cast<int>(weights.size(0));
}
