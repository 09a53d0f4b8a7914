// RUN: %check_torch %s torch-device-comparison %t
//
// Comparisons that tell what they should, or of which that is not known.

#include <torch/torch.h>

#include <optional>
#include <string>
#include <vector>

bool types(torch::Tensor x, torch::Tensor y) {
  return x.device().type() == torch::kCUDA || x.is_cuda() || x.device().is_cuda() ||
         x.device() == torch::kCPU || x.device() == torch::kMeta ||
         x.device() == y.device() || x.device() == torch::Device(torch::kCUDA, 0) ||
         x.device() == torch::Device("cuda:1") || x.device() != c10::Device("cpu") ||
         torch::zeros({2}).device() == torch::kCUDA;
}

// It may have an index.
bool given(torch::Tensor x, torch::Device device, torch::DeviceType type, const std::string &name,
           std::optional<torch::Device> maybe, const torch::TensorOptions &options, int index) {
  return x.device() == device || x.device() == torch::Device(type) ||
         x.device() == torch::Device(name) || x.device() == maybe.value_or(torch::kCUDA) ||
         x.device() == options.device() || x.device() == torch::Device(torch::kCUDA, index) ||
         device == torch::kCUDA ||
         x.device() == torch::TensorOptions().device(torch::kCUDA, 1).device() ||
         x.device() == torch::TensorOptions().device_index(1).device();
}
bool ofConfig(torch::Device config) {
  if (config == torch::kCUDA)
    return true;
  torch::Device made(torch::kCUDA);
  return made == torch::kCUDA || torch::Device(torch::kCUDA) == made;
}
bool indexIsSet(torch::Tensor x, bool second) {
  torch::Device device(torch::kCUDA);
  if (second)
    device.set_index(1);
  return x.device() == device;
}
void choose(torch::Device &device);
struct Config {
  torch::Device device = torch::kCUDA;
};
void parse(int argc, Config *config);
void parse(Config &config);
bool setElsewhere(torch::Tensor x) {
  torch::Device device(torch::kCUDA);
  choose(device);
  Config one, two;
  parse(1, &one);
  parse(two);
  return x.device() == device || x.device() == one.device || x.device() == two.device;
}
class Runner {
public:
  void to(torch::Device device) { device_ = device; }
  bool fits(torch::Tensor x) const { return x.device() == device_; }

private:
  torch::Device device_{torch::kCUDA};
};
torch::Device global(torch::kCUDA);
bool ofGlobal(torch::Tensor x) { return x.device() == global; }

// to() itself sees that nothing is to be done.
torch::Tensor moved(torch::Tensor x) {
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  if (x.device() != device)
    x = x.to(device);
  if (x.device() != torch::kCUDA) {
    x = x.cuda();
  }
  const auto y = x.device() == device ? x : x.to(device);
  return y + x;
}
torch::Tensor ensure(const torch::Tensor &x) {
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  if (x.device() == device)
    return x;
  return x.to(device);
}
