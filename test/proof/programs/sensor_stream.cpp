// Data from sensors: packets become tensors, rows become batches of a loader.

#include <torch/torch.h>

#include <cstdint>
#include <cstring>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

namespace {

const torch::Device kDevice(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

// A packet, as it comes from the wire.
std::vector<int32_t> receive(int packet, int64_t count) {
  std::vector<int32_t> words;
  for (int64_t i = 0; i < count; ++i) {
    const float value = 0.5F * static_cast<float>(packet) + static_cast<float>(i % 10);
    int32_t word = 0;
    std::memcpy(&word, &value, sizeof(word));
    words.push_back(word);
  }
  return words;
}

double level(std::vector<int32_t> words) {
  // PLANT innocent torch-blob-dtype/wrong-values: the words hold the bits of floats
  const auto values = torch::from_blob(words.data(), {static_cast<int64_t>(words.size())}, torch::kFloat);
  return values.mean().item<double>();
}

// The readings of one day.
class Day {
 public:
  Day() { readings_.reserve(256); }

  void add(float reading) {
    readings_.push_back(reading);  // AT A
  }

  torch::Tensor view() {
    // PLANT innocent torch-blob-lifetime/owner-reallocates also=A: there is room for 256, so nothing moves
    return torch::from_blob(readings_.data(), {static_cast<int64_t>(readings_.size())});
  }

 private:
  std::vector<float> readings_;
};

double total(const torch::Tensor& window) {
  TORCH_CHECK(window.is_contiguous());
  // PLANT innocent torch-dangling-data/pointer also=U: the window lies in order, so the pointer is its own
  const float* values = window.contiguous().data_ptr<float>();
  double sum = 0;
  for (int64_t i = 0; i < window.numel(); ++i)
    sum += values[i];  // AT U
  return sum;
}

struct Frame {
  explicit Frame(const torch::Tensor& image) : pixels(static_cast<size_t>(image.numel())) {
    // PLANT true torch-sizeof-dtype/enumerator: a quarter of the image is copied
    std::memcpy(pixels.data(), image.data_ptr(), static_cast<size_t>(image.numel()) * sizeof(torch::kFloat32));
  }

  std::vector<float> pixels;
};

class Rows : public torch::data::datasets::Dataset<Rows> {
 public:
  explicit Rows(size_t count) {
    for (size_t i = 0; i < count; ++i)
      rows_.emplace_back(2000, static_cast<float>(i) / static_cast<float>(count));
  }

  torch::data::Example<> get(size_t index) override {
    return {torch::tensor(rows_[index]), torch::tensor(static_cast<int64_t>(index % 2))};
  }
  std::optional<size_t> size() const override { return rows_.size(); }

 private:
  std::vector<std::vector<float>> rows_;
};

double loadAll() {
  // PLANT true torch-dataset-copied/by-value: both workers have all rows
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Rows(64).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(16).workers(2));
  double sum = 0;
  for (auto& batch : *loader)
    sum += batch.data.mean().item<double>() + batch.target.sum().item<double>();
  return sum;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  double levels = 0;
  for (int packet = 0; packet < 40; ++packet)
    levels += level(receive(packet, 100));

  Day day;
  double readings = 0;
  for (int i = 0; i < 128; ++i)
    day.add(static_cast<float>(i));
  const auto morning = day.view();
  for (int i = 128; i < 256; ++i) {
    day.add(static_cast<float>(i));
    readings += morning.sum().item<double>();
  }

  const auto signal = torch::randn({40, 8192}, torch::kDouble);
  auto energy = torch::zeros({}, kDevice);
  double sums = 0;
  double stored = 0;
  for (int64_t i = 0; i < signal.size(0); ++i) {  // AT F
    // PLANT innocent torch-convert-before-transfer/widened loop=F: doubles become floats, so fewer bytes are moved
    const auto frame = signal[i].to(torch::kFloat).to(kDevice);
    energy += frame.pow(2).mean();
    const auto host = frame.cpu();
    sums += total(host.narrow(0, 1024, 4096));
    stored += Frame(host.abs()).pixels.back();
  }
  std::cout << "levels " << levels << " readings " << readings << " energy " << energy.item<double>() << " sums " << sums
            << " stored " << stored << " loaded " << loadAll() << '\n';
  return 0;
}
