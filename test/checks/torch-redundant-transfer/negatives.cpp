// RUN: %check_torch %s torch-redundant-transfer %t
//
// Transfers that have something to do, or may have.

#include <torch/torch.h>

using torch::Tensor;
Tensor elsewhere(Tensor);

// A parameter, a member: where callers have put it.
Tensor parameter(Tensor x, torch::Device device) {
  return x.to(device) + x.cpu() + x.to(torch::kFloat) + torch::ones_like(x).to(device);
}
static Tensor helper(const Tensor &x, torch::Device device) { return x.to(device); }
Tensor caller(torch::Device device) {
  return helper(torch::rand({4}).to(device), device) + helper(torch::rand({4}).to(device), device);
}
struct Net : torch::nn::Module {
  torch::Device device{torch::kCPU};
  Tensor mean;
  void move(torch::Device to) { device = to; }
  Tensor forward(Tensor x) {
    x = x.to(device);
    return x - mean.to(device) - mean.to(x.device());
  }
  Tensor moved(Tensor x) {
    x = x.to(device);
    device = torch::Device(torch::kCUDA, 1);
    return (x * 2).to(device);
  }
};
// The variable names another device by then.
Tensor changed(Tensor x, bool second) {
  torch::Device device(torch::kCUDA, 0);
  x = x.to(device) * 2;
  if (second)
    device = torch::Device(torch::kCUDA, 1);
  return x.to(device);
}
void inTurn(Tensor x, const std::vector<torch::Device> &devices) {
  torch::Device device = devices[0];
  x = x.to(device) * 2;
  for (const torch::Device &next : devices) {
    x = (x * 2).to(device);
    device = next;
  }
}
Tensor eachReplica(Tensor x, const std::vector<torch::Device> &devices) {
  for (const torch::Device &device : devices)
    x = (x * 2).to(device);
  return x;
}
// Another device of the same kind.
Tensor indexed(Tensor x) {
  x = x.to(torch::Device("cuda:0"));
  return x.to(torch::Device("cuda:1")) + (x * 2).to(torch::kCUDA) + torch::zeros({4}, torch::Device(torch::kCUDA, 1)).cuda();
}
// On some path elsewhere.
Tensor perhaps(Tensor x, torch::Device device, bool move) {
  auto y = torch::rand({4});
  if (move)
    y = y.to(device);
  return (y * 2).to(device);
}
Tensor firstTime(torch::Device device) {
  auto h = torch::zeros({4});
  for (int i = 0; i < 10; ++i)
    h = h.to(device) + 1;
  return h;
}
Tensor numberOfHost(const Tensor &x, const Tensor &index) {
  return (x * index).to(x.device()) + torch::rand({3}).to(x.device()) + torch::zeros_like(index).to(x.device()) +
         torch::zeros_like(x, torch::kCPU).to(x.device());
}
// Computed with on the host, or kept there for a while.
Tensor between(Tensor x, torch::Device device) {
  x = x.to(device);
  auto kept = x.cpu();
  x = elsewhere(x * 2);
  return (x.cpu() * 2).to(device) + kept.to(device);
}
Tensor narrowed(Tensor x, torch::Device device) {
  x = x.to(device);
  return x.to(torch::kCPU, torch::kHalf).to(device);
}
// Types.
Tensor types(const Tensor &x) {
  auto counts = torch::zeros({4}, torch::kInt);
  return x.to(torch::kByte).to(torch::kFloat) + (counts * 0.5).to(torch::kInt) + (counts / 2).to(torch::kInt) +
         std::get<1>(x.to(torch::kFloat).max(1)).to(torch::kFloat) + (x.to(torch::kFloat) > 0).to(torch::kFloat) +
         x.to(torch::kFloat).argmax(1).to(torch::kFloat);
}
Tensor oneCallForBoth(const Tensor &x) { return x.to(torch::kCUDA).to(torch::kFloat); }
// A copy is asked for.
Tensor copies(Tensor x, torch::Device device) {
  x = x.to(device);
  return x.to(device, /*non_blocking=*/false, /*copy=*/true) + x.to(torch::kFloat, false, false, torch::MemoryFormat::Contiguous) +
         x.to(device, torch::kFloat).clone() + x.contiguous().clone();
}
Tensor clones(float *data, Tensor x, torch::Device device, torch::Dtype type) {
  return torch::from_blob(data, {1000}).clone().to(device) + x.clone().to(torch::kFloat) + x.to(torch::kFloat).clone() +
         torch::from_blob(data, {1000}).clone().to(type) + torch::from_blob(data, {1000}).to(torch::kFloat, false, false).clone() +
         torch::rand({64, 64}).to(torch::kCUDA).clone(torch::MemoryFormat::ChannelsLast);
}
Tensor reassigned(double *numbers, const Tensor &other) {
  auto frame = torch::from_blob(numbers, {100, 100}, torch::kDouble);
  if (other.defined())
    frame = other;
  return frame.clone().to(torch::kFloat);
}
// What it is copied from is written while the device reads.
Tensor nonBlocking(float *data) {
  return torch::from_blob(data, {1000, 1000}).clone().to(torch::kCUDA, /*non_blocking=*/true);
}
// The clone outlives what it was made from.
Tensor changedBetween(float *data) {
  auto x = torch::from_blob(data, {1000, 1000}).clone();
  data[0] = 0;
  return x.to(torch::kCUDA);
}
Tensor part(const Tensor &x) { return x[0].to(torch::kFloat).clone() + (x * 2)[0].to(torch::kFloat).clone(); }
// A few numbers.
Tensor small() { return torch::full({1}, 2).to(torch::kFloat32).clone(); }
// A global variable that something changes.
torch::Device changing(torch::kCPU);
void choose() {
  if (torch::cuda::is_available())
    changing = torch::kCUDA;
}
Tensor target(torch::nn::Linear net, const Tensor &image) {
  Tensor x = image.to(changing);
  choose();
  return torch::ones_like(net->forward(x)).to(changing);
}

// Options of a tensor ask for its type, which is not the default one here, or unknown.
Tensor typeOf(const Tensor &picture, const torch::TensorOptions &given) {
  Tensor bytes = (picture * 255).to(torch::kUInt8);
  torch::TensorOptions options = bytes.options();
  Tensor packed = torch::empty({4, 1}, bytes.select(1, 0).options()).to(torch::kFloat);
  return packed + torch::zeros({4, 1}, options.device(torch::kCPU)).to(torch::kFloat) +
         torch::zeros({4, 1}, picture.options()).to(torch::kFloat) +
         torch::zeros({4, 1}, given).to(torch::kFloat);
}

// What a device is asked, or a tensor for its type, says nothing of where the
// options are.
struct Staging {
  torch::Device device_{torch::kCUDA, 0};
  explicit Staging(torch::Device device) : device_(device) {}
  Tensor pinned(const Tensor &x) const {
    auto page = torch::zeros({64, 64}, torch::TensorOptions().pinned_memory(device_.is_cuda()));
    page.select(0, 0).copy_(x);
    return page.to(device_);
  }
  Tensor ofType(const Tensor &x) const {
    const bool wanted = device_.type() == torch::kCUDA;
    auto there = x.to(device_);
    auto page = torch::zeros({64, 64}, torch::TensorOptions().dtype(there.scalar_type()).pinned_memory(wanted));
    page.select(0, 0).fill_(1);
    return page.to(device_);
  }
};
Tensor staged(const Tensor &x, torch::Device device) { return Staging(device).pinned(x) + Staging(device).ofType(x); }
