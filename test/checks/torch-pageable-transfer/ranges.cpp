// RUN: %check_torch %s torch-pageable-transfer %t
//
// A list that is made of a part of another has its tensors.

#include <torch/torch.h>
#include <algorithm>
#include <vector>

using torch::Tensor;

static Tensor sweep(const std::vector<Tensor> &archive, torch::Device device) {
  Tensor sum = torch::zeros({}, device);
  for (size_t i = 0; i < archive.size(); i += 16) {
    std::vector<Tensor> part(archive.begin() + i, archive.begin() + std::min(archive.size(), i + 16));
    sum += torch::stack(part).to(device, /*non_blocking=*/true).sum();
    // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: this copy is asked not to block
  }
  return sum;
}
static Tensor all(const std::vector<Tensor> &archive, torch::Device device) {
  const auto copy = std::vector<Tensor>(archive.cbegin(), archive.cend());
  return torch::cat(copy).to(device, true);
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: this copy is asked not to block
}
void run(int n, torch::Device device) {
  std::vector<Tensor> archive;
  for (int i = 0; i < n; ++i)
    archive.push_back(torch::rand({512, 512}));
  for (int i = 0; i < n; ++i)
    std::cout << sweep(archive, device) << all(archive, device);
}

// Where others have put them; pinned, all of them.
void unknown(const std::vector<Tensor> &archive, torch::Device device) {
  std::vector<Tensor> part(archive.begin(), archive.begin() + 4);
  for (const Tensor &x : part)
    std::cout << x.to(device, true).sum();
}
void pinned(int n, torch::Device device) {
  std::vector<Tensor> archive;
  for (int i = 0; i < n; ++i)
    archive.push_back(torch::rand({512, 512}).pin_memory());
  std::vector<Tensor> part(archive.begin() + 1, archive.end());
  for (const Tensor &x : part)
    std::cout << x.to(device, true).sum();
}
