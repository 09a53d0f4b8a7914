// RUN: %check_torch %s torch-dataset-copied %t
//
// Each worker of a loader has a copy of the data set, with all of its data.

#include <torch/torch.h>

#include <array>
#include <map>

using torch::Tensor;
using torch::data::DataLoaderOptions;
using torch::data::make_data_loader;
using torch::data::transforms::Stack;
using Example = torch::data::Example<>;

struct Rows : torch::data::datasets::Dataset<Rows> {
  explicit Rows(std::vector<std::vector<float>> rows) : rows_(std::move(rows)) {}
  Example get(size_t i) override { return {torch::tensor(rows_[i]), torch::tensor(1)}; }
  torch::optional<size_t> size() const override { return rows_.size(); }
  std::vector<std::vector<float>> rows_;
};
void nested(std::vector<std::vector<float>> rows) {
  auto data = Rows(std::move(rows)).map(Stack<>());
  auto loader = make_data_loader(std::move(data), DataLoaderOptions().batch_size(8).workers(4));
  // CHECK-NOTES: :[[@LINE-1]]:17: warning: 'Rows' has 'rows_' by value, and each of the 4 workers of this data loader gets a copy of its own; hold 'rows_' in a 'std::shared_ptr' [torch-dataset-copied]
  // CHECK-NOTES: :[[@LINE-6]]:35: note: this is what is copied
  for (auto &batch : *loader)
    batch.data.sum();
}

struct Sample {
  std::array<float, 64> values;
  int64_t label;
};
class Samples : public torch::data::datasets::Dataset<Samples> {
public:
  Example get(size_t i) override {
    return {torch::from_blob(samples_[i].values.data(), {64}).clone(), torch::tensor(samples_[i].label)};
  }
  torch::optional<size_t> size() const override { return samples_.size(); }

private:
  std::vector<Sample> samples_;
};
void structures() {
  constexpr int workers = 8;
  DataLoaderOptions options;
  options.batch_size(16).workers(workers);
  auto loader = make_data_loader<torch::data::samplers::SequentialSampler>(Samples().map(Stack<>()), options);
  // CHECK-NOTES: :[[@LINE-1]]:17: warning: 'Samples' has 'samples_' by value, and each of the 8 workers
  // CHECK-NOTES: :[[@LINE-8]]:23: note: this is what is copied
}

// One list of numbers, of which a sample is a stretch.
class Pixels : public torch::data::datasets::Dataset<Pixels> {
public:
  Example get(size_t i) override;
  torch::optional<size_t> size() const override { return pixels_.size() / 784; }

private:
  std::vector<uint8_t> pixels_;
  std::vector<int64_t> labels_;
};
Example Pixels::get(size_t i) {
  return {torch::from_blob(pixels_.data() + i * 784, {784}, torch::kByte).clone(), torch::tensor(labels_[i])};
}
template <class D> auto load(D data) {
  return make_data_loader(data.map(Stack<>()), DataLoaderOptions(8).workers(2));
  // CHECK-NOTES: :[[@LINE-1]]:10: warning: 'Pixels' has 'pixels_' by value, and each of the 2 workers
  // CHECK-NOTES: :[[@LINE-9]]:24: note: this is what is copied
}
void pixels() { load(Pixels()); }
