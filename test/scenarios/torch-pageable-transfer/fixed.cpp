// Images are sent to a device, batch by batch, and the host would read the next batch while
// the one before is on its way. It can: batches are put together in pinned memory.
// The device is one with the memory of the host (support/pretend.h): it knows which memory is
// pinned, and no time on it means anything.
// --size: that many times as many images in a batch.
#include "measure.h"
#include "pretend.h"

namespace {

constexpr int64_t batches = 64;

struct Images : torch::data::Dataset<Images> {
  explicit Images(int64_t count) : images(torch::rand({count, 3, 8, 8})) {}

  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    return {images[at], torch::tensor(at % 10)};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(images.size(0)); }

  torch::Tensor images;
};

struct Collate : torch::data::transforms::Collation<torch::data::Example<>> {
  torch::data::Example<> apply_batch(std::vector<torch::data::Example<>> examples) override {
    const auto batch = torch::data::transforms::Stack<>().apply_batch(std::move(examples));
    return {batch.data.pin_memory(), batch.target.pin_memory()};
  }
};

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::manual_seed(1);
  const int64_t size = 16 * measure::size();
  const auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Images(batches * size).map(Collate()), static_cast<size_t>(size));
  double brightness = 0, pinned = 0;
  {
    measure::Loop loop("evaluation");
    for (const auto &batch : *loader) {
      const auto images = batch.data.to(device, /*non_blocking=*/true);
      brightness += images.const_data_ptr<float>()[0];
      pinned += batch.data.is_pinned() ? 1 : 0;
      loop.iteration();
    }
  }
  measure::value("brightness", brightness);
  measure::value("pinned", pinned);
  return measure::finish();
}
