// RUN: %check_torch %s torch-repeated-transfer %t -still-warns
//
// Tensors that lie over memory of the program's: who writes there changes them.

#include <torch/torch.h>
#include <vector>

using torch::Tensor;

// Nothing in the loop names the memory.
float priced(torch::Device device) {
  std::vector<float> prices(1 << 14, 2.5f);
  const Tensor table = torch::from_blob(prices.data(), {128, 128});
  float total = 0;
  for (int day = 0; day < 30; ++day) {
    const Tensor there = table.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'table' does not change in this loop, but '.to(device)' copies it in every iteration
    total += (there * day).sum().item<float>();
  }
  return total;
}

// The next row is written in each iteration, with new[] as well.
float decoded(torch::Device device, int64_t length) {
  auto *words = new int64_t[1 << 14]();
  const Tensor sentence = torch::from_blob(words, {128, 128}, torch::kLong);
  float total = 0;
  for (int64_t at = 0; at < length; ++at) {
    words[at] = at * 3;
    total += sentence.to(device).sum().item<float>();
  }
  delete[] words;
  return total;
}

// A function that is given the memory may write it.
void refill(std::vector<float> &into);

float refilled(torch::Device device) {
  std::vector<float> frame(1 << 14);
  const Tensor view = torch::from_blob(frame.data(), {128, 128});
  float total = 0;
  for (int i = 0; i < 30; ++i) {
    refill(frame);
    total += view.to(device).mean().item<float>();
  }
  return total;
}

// Whoever else has the camera's memory may write it.
class Camera {
public:
  float watch(torch::Device device) {
    const Tensor view = torch::from_blob(pixels_.data(), {128, 128});
    float total = 0;
    for (int i = 0; i < 30; ++i) {
      grab();
      total += view.to(device).mean().item<float>();
    }
    return total;
  }

private:
  void grab();
  std::vector<float> pixels_ = std::vector<float>(1 << 14);
};

float all(torch::Device device, Camera &camera) {
  return priced(device) + decoded(device, 100) + refilled(device) + camera.watch(device);
}
