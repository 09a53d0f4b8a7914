// RUN: %check_torch %s torch-varying-shapes %t
//
// A counter goes up by a step that is the same each time, and that nobody
// knows.

#include <torch/torch.h>

using torch::Tensor;

struct Settings {
  int64_t rate = 16000;
};

// A recording from its beginning, always further.
void listen(const Tensor &recording, const Settings &s, torch::Device device) {
  const int64_t hop = s.rate / 2;
  for (int64_t end = s.rate; end <= recording.size(0); end += hop) {
    auto heard = torch::rand({recording.size(0)}).slice(0, 0, end).to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'to' makes a larger tensor in every iteration
    std::cout << heard.sum();
  }
}
void blocks(int64_t n, int64_t block, bool stop, torch::Device device) {
  for (int64_t i = block; !stop && n > i; i += block)
    std::cout << torch::zeros({i, 4096}, device).sum();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' makes a larger tensor in every iteration
}

// A window of one size.
void windows(const Tensor &recording, const Settings &s, torch::Device device) {
  const auto host = torch::rand({recording.size(0), 512});
  for (int64_t end = s.rate; end <= recording.size(0); end += s.rate) {
    std::cout << host.slice(0, end - s.rate, end).to(device).sum();
    std::cout << torch::arange(end - s.rate, end, device).sum();
    std::cout << torch::zeros({s.rate, 4096}, device).sum();
  }
}
// The step is another each time; it may be nothing, or less.
void others(int64_t n, int64_t step, const std::vector<int64_t> &steps, torch::Device device) {
  for (size_t k = 0, i = 1; i < size_t(n); i += steps[k++])
    std::cout << torch::zeros({int64_t(i), 4096}, device).sum();
  for (int64_t i = 1; i < n; i += step) {
    step = -step / 2;
    std::cout << torch::zeros({i, 4096}, device).sum();
  }
  for (int64_t i = n; i > 0; i += step)
    std::cout << torch::zeros({i, 4096}, device).sum();
  for (int64_t i = 0; i != n; i += step)
    std::cout << torch::zeros({i, 4096}, device).sum();
}
