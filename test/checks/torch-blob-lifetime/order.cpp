// RUN: %check_torch %s torch-blob-lifetime %t
//
// What happens after a tensor was read cannot have saved it then: reserve(), a move, a
// copy of the owner count from where they are.

#include <torch/torch.h>

#include <utility>
#include <vector>

static float reservedBefore() {
  std::vector<float> v(8, 1.f);
  v.reserve(100);
  auto t = torch::from_blob(v.data(), {8}, torch::kFloat);
  v.push_back(2.f);
  return t.sum().item<float>();
}

static float reservedAfterwards() {
  std::vector<float> v(8, 1.f);
  auto t = torch::from_blob(v.data(), {8}, torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'v', which
  v.push_back(2.f);
  float s = t.sum().item<float>();
  v.reserve(100);
  return s;
}

static float movedBefore(std::vector<float> &out) {
  torch::Tensor t;
  {
    std::vector<float> v(8, 1.f);
    t = torch::from_blob(v.data(), {8}, torch::kFloat);
    out = std::move(v);
  }
  return t.sum().item<float>();
}

static float movedAfterwards(std::vector<float> &out) {
  std::vector<float> v(8, 1.f);
  auto t = torch::from_blob(v.data(), {8}, torch::kFloat);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: tensor still points into 'v', which
  v.push_back(2.f);
  float s = t.sum().item<float>();
  out = std::move(v);
  return s;
}

static float swappedInOneIteration(std::vector<float> &out) {
  float s = 0;
  for (int i = 0; i < 3; ++i) {
    // A new vector in each iteration: the last one's swap does not save this one.
    std::vector<float> v(8, 1.f);
    auto t = torch::from_blob(v.data(), {8}, torch::kFloat);
    // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: tensor still points into 'v', which
    v.push_back(2.f);
    s += t.sum().item<float>();
    out.swap(v);
  }
  return s;
}

int main() {
  std::vector<float> out;
  return reservedBefore() + reservedAfterwards() + movedBefore(out) +
         movedAfterwards(out) + swappedInOneIteration(out);
}
