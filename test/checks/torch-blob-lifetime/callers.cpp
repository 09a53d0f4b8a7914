// RUN: %check_torch %s torch-blob-lifetime %t
//
// A helper lays a tensor over what it is given: the note says which of its callers lets that memory end.

#include <torch/torch.h>

#include <array>
#include <vector>

using torch::Tensor;

struct Track {
  std::vector<double> heights;
};

static Tensor over(const double *from, int64_t n) {
  return torch::from_blob(const_cast<double *>(from), {n}, torch::kDouble);
  // CHECK-FIXES: return torch::from_blob(const_cast<double *>(from), {n}, torch::kDouble).clone();
  // CHECK-MESSAGES: :[[@LINE-2]]:10: warning: tensor still points into 'track.heights', which ends with its scope
  // CHECK-NOTES: :[[@LINE-3]]:10: warning: tensor still points into 'track.heights', which ends with its scope
  // CHECK-NOTES: :[[@LINE+2]]:52: note: called from here
}
static Tensor heights(const Track &track) { return over(track.heights.data(), track.heights.size()); }

Tensor ramp(int64_t n) {
  Track track;
  for (int64_t i = 0; i < n; ++i)
    track.heights.push_back(0.5 * i);
  return heights(track);
  // CHECK-NOTES: :[[@LINE-1]]:10: note: called from here
  // CHECK-NOTES: :[[@LINE-5]]:9: note: it is declared here
}

// The memory of the caller lives on.
Tensor given(const Track &track) { return heights(track); }
double sum(int64_t n) {
  Track track;
  track.heights.assign(n, 1.0);
  return heights(track).sum().item<double>();
}
Tensor copied(int64_t n) {
  Track track;
  track.heights.assign(n, 1.0);
  return heights(track).clone();
}

// In the function itself there is nothing to call.
Tensor own() {
  std::array<double, 4> values{1, 2, 3, 4};
  return torch::from_blob(values.data(), {4}, torch::kDouble);
  // CHECK-FIXES: return torch::from_blob(values.data(), {4}, torch::kDouble).clone();
  // CHECK-MESSAGES: :[[@LINE-2]]:10: warning: tensor still points into 'values', which ends with its scope
  // CHECK-NOTES: :[[@LINE-3]]:10: warning: tensor still points into 'values', which ends with its scope
  // CHECK-NOTES: :[[@LINE-5]]:25: note: it is declared here
}
