// Readings of sensors lie in memory of the program's own, and tensors are laid over it.
#include <torch/torch.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <vector>

namespace {

constexpr int64_t kCount = 512;

std::vector<float> wave(int64_t phase) {
  std::vector<float> values(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    values[i] = static_cast<float>((i + phase) % 17) * 0.25f;
  return values;
}

torch::Tensor lastWave(int64_t phase) {
  std::vector<float> values = wave(phase);
  // PLANT true torch-blob-lifetime/owner-leaves-scope: the caller adds up what the vector has freed
  return torch::from_blob(values.data(), {kCount});
}

torch::Tensor ownWave(int64_t phase) {
  std::vector<float> values = wave(phase);
  // PLANT innocent torch-blob-lifetime/owner-leaves-scope: the clone has memory of its own
  return torch::from_blob(values.data(), {kCount}).clone();
}

torch::Tensor corner() {
  std::array<float, 64> square;
  square.fill(0.5f);
  // PLANT true torch-blob-lifetime/owner-leaves-scope: the array was on the stack of this call
  return torch::from_blob(square.data(), {8, 8});
}

torch::Tensor over(float *values, int64_t count) {
  // PLANT innocent torch-blob-lifetime/owner-leaves-scope: the array belongs to the caller, which goes on
  return torch::from_blob(values, {count});
}

double squares(const torch::Tensor &of) { return of.square().sum().item<double>(); }

double onTheStack(int64_t scale) {
  float values[96];
  for (int i = 0; i < 96; ++i)
    values[i] = static_cast<float>(i * scale) * 0.01f;
  auto view = over(values, 96);
  return squares(view) + view.mean().item<double>();
}

torch::Tensor taken() {
  auto *memory = static_cast<float *>(std::malloc(kCount * sizeof(float)));
  std::memset(memory, 0, kCount * sizeof(float));
  // PLANT innocent torch-blob-lifetime/owner-is-deleted: the tensor frees it when it goes itself
  return torch::from_blob(memory, {kCount}, [](void *p) { std::free(p); });
}

double peakOf(const torch::Tensor &of) {
  const auto values = of.accessor<float, 1>();
  float most = 0;
  for (int64_t i = 0; i < values.size(0); ++i)
    most = std::max(most, values[i]);
  return most;
}

// What is given back is used again by whoever comes next; it is never freed.
struct Pool {
  std::vector<std::unique_ptr<float[]>> all;
  std::vector<float *> idle;
  float *take() {
    if (idle.empty()) {
      all.push_back(std::make_unique<float[]>(kCount));
      idle.push_back(all.back().get());
    }
    float *memory = idle.back();
    idle.pop_back();
    return memory;
  }
  void give(float *memory) { idle.push_back(memory); }
};

} // namespace

int main() {
  torch::NoGradGuard guard;
  double sum = 0;
  for (int64_t step = 0; step < 24; ++step) {
    auto late = lastWave(step);
    auto noise = torch::ones({kCount});
    sum += (late + noise).sum().item<double>() * 1e-30;
    sum += ownWave(step).sum().item<double>();
    sum += corner().mean().item<double>() * 1e-30;
    sum += onTheStack(step);
    auto mine = taken();
    mine.add_(static_cast<double>(step));
    sum += mine.sum().item<double>();
  }

  // A window over a list that grows.
  std::vector<double> log(100, 1.0);
  // PLANT true torch-blob-lifetime/owner-reallocates: the list has moved when the window is read
  auto window = torch::from_blob(log.data(), {100}, torch::kDouble);
  for (int i = 0; i < 5000; ++i)
    log.push_back(i);
  sum += window.max().item<double>() * 1e-30;

  // One that is read before the list grows, and kept only for its size.
  std::vector<double> diary(100, 2.0);
  // PLANT innocent torch-blob-lifetime/owner-reallocates: the tensor is read before, and only its size after
  auto page = torch::from_blob(diary.data(), {10, 10}, torch::kDouble);
  sum += page.sum().item<double>();
  for (int i = 0; i < 5000; ++i)
    diary.push_back(i);
  sum += static_cast<double>(page.view({-1}).size(0));

  for (int64_t step = 0; step < 16; ++step) {
    float *raw = new float[kCount];
    std::fill(raw, raw + kCount, 0.125f);
    // PLANT true torch-blob-lifetime/owner-is-deleted: the elements are read behind the delete
    auto gone = torch::from_blob(raw, {kCount});
    delete[] raw;
    sum += peakOf(gone) * 1e-30;

    float *kept = new float[kCount];
    std::fill(kept, kept + kCount, 0.125f);
    // PLANT innocent torch-blob-lifetime/owner-is-deleted: the variable has a copy when the memory goes
    auto saved = torch::from_blob(kept, {kCount});
    saved = saved.mul(2);
    delete[] kept;
    sum += saved.sum().item<double>() + peakOf(saved);
  }

  Pool pool;
  for (int64_t step = 0; step < 16; ++step) {
    float *memory = pool.take();
    std::fill(memory, memory + kCount, 1.0f);
    // PLANT innocent torch-blob-lifetime/owner-is-deleted: give() frees nothing, and nobody has taken it since
    auto pooled = torch::from_blob(memory, {kCount});
    pool.give(memory);
    sum += pooled.sum().item<double>();
  }

  std::vector<float> halves(256, 1.5f), pairs(512);
  std::vector<double> whole(256, 2.5);
  std::memcpy(pairs.data(), whole.data(), 256 * sizeof(double));
  // PLANT true torch-blob-dtype/reads-beyond: 256 floats are read as 256 doubles
  auto wide = torch::from_blob(halves.data(), {256}, torch::kDouble).clone();
  // PLANT innocent torch-blob-dtype/reads-beyond: the bytes of 256 doubles lie in 512 floats
  auto packed = torch::from_blob(pairs.data(), {256}, torch::kDouble).clone();
  // PLANT innocent torch-blob-dtype/reads-beyond: the first half, of as many bytes
  auto first = torch::from_blob(pairs.data(), {128}, torch::kDouble).clone();
  sum += wide.size(0) + packed.sum().item<double>() + first.sum().item<double>();
  std::cout << sum << '\n';
  return 0;
}
