// RUN: %check_torch %s torch-dataset-copied %t
//
// Nothing large is copied, or there is one worker at most.

#include <torch/torch.h>

#include <array>
#include <memory>
#include <string>

using torch::Tensor;
using torch::data::DataLoaderOptions;
using torch::data::make_data_loader;
using torch::data::transforms::Stack;
using Example = torch::data::Example<>;
using Rows = std::vector<std::vector<float>>;

template <class Self> struct Base : torch::data::datasets::Dataset<Self> {
  Example get(size_t) override { return {torch::ones({2}), torch::ones({})}; }
  torch::optional<size_t> size() const override { return 100; }
};

struct Box {
  float corners[4];
  int64_t label;
};

// Handles, names, a number for each sample.
struct Handles : Base<Handles> {
  std::shared_ptr<Rows> shared = std::make_shared<Rows>();
  std::vector<Tensor> tensors;
  std::vector<std::string> files;
  std::vector<std::pair<std::string, int>> named;
  std::vector<int64_t> labels;
  std::vector<float> targets;
  std::vector<std::array<float, 4>> boxes;
  std::vector<Box> drawn;
  std::vector<std::shared_ptr<Rows>> parts;
  const Rows *lent = nullptr;
  static Rows all;
  Example get(size_t i) override {
    return {torch::tensor(targets[i]), torch::tensor(labels[i])};
  }
};
struct ByValue : Base<ByValue> {
  Rows rows;
};
// Who copies it has a say.
struct Counted : Base<Counted> {
  Counted() = default;
  Counted(const Counted &Other);
  Rows rows;
};
struct Stream : torch::data::datasets::StreamDataset<Stream> {
  std::vector<Example> get_batch(size_t) override { return {}; }
  torch::optional<size_t> size() const override { return {}; }
};

void loaders(size_t count, bool either) {
  const auto options = DataLoaderOptions().batch_size(8).workers(4);
  make_data_loader(Handles().map(Stack<>()), options);
  make_data_loader(Counted().map(Stack<>()), options);
  make_data_loader(ByValue().map(Stack<>()), 8);
  make_data_loader(ByValue().map(Stack<>()), DataLoaderOptions(8));
  make_data_loader(ByValue().map(Stack<>()), DataLoaderOptions(8).workers(1));
  make_data_loader(ByValue().map(Stack<>()), DataLoaderOptions(8).workers(0));
  make_data_loader(ByValue().map(Stack<>()), DataLoaderOptions(8).workers(count));
  DataLoaderOptions changing(8);
  changing.workers(4);
  if (either)
    changing.workers(0);
  make_data_loader(ByValue().map(Stack<>()), changing);
  make_data_loader(torch::data::datasets::make_shared_dataset<ByValue>(), options);
  make_data_loader(torch::data::datasets::TensorDataset(torch::ones({4, 4})), options);
}
