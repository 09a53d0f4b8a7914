// RUN: %check_torch %s torch-element-access-in-loop %t -- -config="{CheckOptions: {torch-element-access-in-loop.Minor: true}}"
//
// One loop over elements that nothing is seen to repeat takes milliseconds, once: the option Strict tells it
// (shapes.cpp). What repeats it: a loop, here or where it is called from; who calls forward() or get(); a
// callback. Two loops over elements are many.

#include <torch/torch.h>
#include <functional>

using torch::Tensor;

// Once, of a vector or of a tensor.
std::vector<float> copied(const Tensor &scores) {
  std::vector<float> out;
  for (int64_t i = 0; i < scores.size(0); ++i)
    out.push_back(scores[i].item<float>());
  return out;
}
Tensor of(const std::vector<float> &numbers) {
  auto t = torch::empty({(int64_t)numbers.size()});
  for (size_t i = 0; i < numbers.size(); ++i)
    t[i] = numbers[i];
  return t;
}
std::vector<int> best(const Tensor &scores) {
  std::vector<int> out;
  for (int64_t i = 0; i < scores.size(0); ++i)
    out.push_back(scores[i].argmax().item<int>());
  return out;
}
float thousand(const Tensor &scores) {
  float sum = 0;
  for (int64_t i = 0; i < 1000; ++i)
    sum += scores[i].item<float>();
  return sum;
}

// A hundred thousand are a tenth of a second.
float many(const Tensor &scores) {
  float sum = 0;
  for (int64_t i = 0; i < 100000; ++i)
    sum += scores[i].item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: elements of 'scores' are read one at a time
  return sum;
}
float large() {
  auto samples = torch::rand({44100 * 10});
  float sum = 0;
  for (int64_t i = 0; i < samples.size(0); ++i)
    sum += samples[i].item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: elements of 'samples' are read one at a time
  return sum;
}
// Each waits for the device.
float waits(const Tensor &scores) {
  const auto there = scores.to(torch::kCUDA);
  float sum = 0;
  for (int64_t i = 0; i < there.size(0); ++i)
    sum += there[i].item<float>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: elements of 'there' are read one at a time
  return sum;
}
// Rows and columns.
float grid(const Tensor &m) {
  float sum = 0;
  for (int64_t i = 0; i < m.size(0); ++i)
    for (int64_t j = 0; j < m.size(1); ++j)
      sum += m[i][j].item<float>();
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: elements of 'm' are read one at a time
  return sum;
}

// In a loop of the caller.
static std::vector<float> row(const Tensor &scores) {
  std::vector<float> out;
  for (int64_t i = 0; i < scores.size(0); ++i)
    out.push_back(scores[i].item<float>());
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: elements of 'scores' are read one at a time
  return out;
}
void rows(const std::vector<Tensor> &all, std::vector<std::vector<float>> &out) {
  for (const Tensor &each : all)
    out.push_back(row(each));
}

// LibTorch calls it for each batch, and for each sample.
struct Weighted : torch::nn::Module {
  Tensor forward(Tensor x) {
    auto weights = torch::empty({x.size(0)});
    for (int64_t i = 0; i < x.size(0); ++i)
      weights[i] = float(i) / x.size(0);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 'weights' are written one at a time
    return x * weights;
  }
};
struct Recordings : torch::data::datasets::Dataset<Recordings> {
  std::vector<std::vector<float>> all;
  torch::data::Example<> get(size_t index) override {
    auto samples = torch::empty({(int64_t)all[index].size()});
    for (size_t i = 0; i < all[index].size(); ++i)
      samples[i] = all[index][i];
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: elements of 'samples' are written one at a time
    return {samples, torch::tensor(1)};
  }
  torch::optional<size_t> size() const override { return all.size(); }
};
void listen(std::function<void(std::function<void(Tensor)>)> to, std::vector<float> &last) {
  to([&](Tensor scores) {
    for (int64_t i = 0; i < scores.size(0); ++i)
      last[i] = scores[i].item<float>();
      // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: elements of 'scores' are read one at a time
  });
}
