// RUN: %check_torch %s torch-blob-lifetime %t
//
// to(device) copies to every device but the CPU, and where the program asks
// whether it is that one, it clones: nothing points into the vector afterwards.

#include <torch/torch.h>

struct Potential {
  void rebuild(bool newList) {
    std::vector<int64_t> species(100, 6);
    if (newList) {
      kinds = torch::from_blob(species.data(), {100}, torch::kLong).to(device);
      if (device == torch::kCPU)
        kinds = kinds.clone();
    }
    std::cout << kinds.sum();
  }
  void byType() {
    std::vector<float> charges(100, 1);
    values = torch::from_blob(charges.data(), {100}).to(device);
    if (device.type() != torch::kCPU) {
      std::cout << "copied\n";
    } else {
      values = values.clone();
    }
  }
  void byMethod() {
    std::vector<float> charges(100, 1);
    values = torch::from_blob(charges.data(), {100}).to(device);
    if (!device.is_cuda())
      values = values.clone();
  }
  // The wrong side.
  void turned() {
    std::vector<float> charges(100, 1);
    values = torch::from_blob(charges.data(), {100}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'charges'
    if (device != torch::kCPU)
      values = values.clone();
  }
  // Another device.
  void ofAnother(torch::Device other) {
    std::vector<float> charges(100, 1);
    values = torch::from_blob(charges.data(), {100}).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'charges'
    if (other == torch::kCPU)
      values = values.clone();
  }
  torch::Device device = torch::kCPU;
  torch::Tensor kinds, values;
};

Potential *create(const std::string &name) {
  auto *made = new Potential;
  made->device = torch::Device(name);
  return made;
}
