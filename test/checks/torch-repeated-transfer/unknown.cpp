// RUN: %check_torch %s torch-repeated-transfer %t
//
// Code that takes whatever comes asks for a type, for the CPU, or for the device of another tensor: the tensor
// mostly is there, and to() returns it itself. The option Strict tells these too (dtype.cpp, elements.cpp).

#include <torch/torch.h>

#include <string>
#include <vector>

using torch::Tensor;

void use(const Tensor &x);

void precautions(const std::vector<Tensor> &xs, const Tensor &mask) {
  for (const auto &x : xs) {
    use(x * mask.to(torch::kFloat64));
    use(x * mask.to(torch::kCPU));
    use(x * mask.to(x.device()));
    use(x * mask.to(x.options()));
    use(x * mask.to(x.dtype()));
  }
}

// What is known is told.
void known(const std::vector<Tensor> &xs, torch::Device device) {
  const auto weights = torch::arange(4096 * 16, torch::kInt64);
  const auto there = torch::rand({512, 512}, torch::kCUDA);
  for (const auto &x : xs) {
    use(x * weights.to(torch::kFloat64));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'weights' does not change in this loop, but '.to(torch::kFloat64)' converts it
    use(x * weights.to(x.device()));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'weights' does not change in this loop, but '.to(x.device())' copies it
    use(x * there.to(torch::kCPU));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'there' does not change in this loop, but '.to(torch::kCPU)' copies it
  }
}

// A member that the class has stored: it could have been stored as it is wanted.
class Scaler {
 public:
  explicit Scaler(Tensor scale) : scale_(std::move(scale)) {}
  void run(const std::vector<Tensor> &xs) const {
    for (const auto &x : xs)
      use(x * scale_.to(torch::kFloat32));
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'scale_' does not change in this loop, but '.to(torch::kFloat32)' converts it
  }

 private:
  Tensor scale_;
};

// To a device that the program chooses: that is where data goes.
void chosen(const std::vector<Tensor> &xs, const Tensor &mask, torch::Device device) {
  for (const auto &x : xs) {
    use(x * mask.to(device));
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: 'mask' does not change in this loop, but '.to(device)' copies it
  }
}

// An archive gives each variable another tensor.
static Tensor readFrom(torch::serialize::InputArchive &archive, const std::string &name) {
  Tensor result;
  archive.read(name, result);
  return result.to(torch::kCUDA);
}
void archives(std::vector<torch::serialize::InputArchive> &all, std::vector<Tensor> &out) {
  for (auto &each : all)
    out.push_back(readFrom(each, "weights"));
}
void saved(const std::vector<std::string> &names, std::vector<Tensor> &out) {
  for (const auto &name : names) {
    Tensor weights;
    torch::load(weights, name);
    out.push_back(weights.to(torch::kCUDA));
  }
}
