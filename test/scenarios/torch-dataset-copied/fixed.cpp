// The same data set, whose copies share the rows.
#include "measure.h"
#include <atomic>

namespace {

/// What the rows take, in all copies of the data set.
std::atomic<int64_t> row_bytes{0};

template <class T> struct Counting {
  using value_type = T;
  Counting() = default;
  template <class U> Counting(const Counting<U> & /*other*/) {}
  T *allocate(size_t count) {
    row_bytes += static_cast<int64_t>(count * sizeof(T));
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T *memory, size_t count) {
    row_bytes -= static_cast<int64_t>(count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  bool operator==(const Counting & /*other*/) const { return true; }
  bool operator!=(const Counting & /*other*/) const { return false; }
};

using Row = std::vector<float, Counting<float>>;

struct Rows : torch::data::datasets::Dataset<Rows> {
  explicit Rows(int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      rows->emplace_back(256, static_cast<float>(i % 7));
  }
  torch::data::Example<> get(size_t index) override {
    const Row &row = (*rows)[index];
    return {torch::tensor(torch::ArrayRef<float>(row.data(), row.size())),
            torch::tensor(1)};
  }
  torch::optional<size_t> size() const override { return rows->size(); }

  std::shared_ptr<std::vector<Row>> rows = std::make_shared<std::vector<Row>>();
};

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  auto data =
      Rows(500 * measure::size()).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(
      std::move(data),
      torch::data::DataLoaderOptions().batch_size(50).workers(4));
  measure::value("row-bytes", static_cast<double>(row_bytes.load()));
  double sum = 0;
  for (const auto &batch : *loader)
    sum += batch.data.to(device).sum().item<double>();
  measure::value("sum", sum);
  return measure::finish();
}
