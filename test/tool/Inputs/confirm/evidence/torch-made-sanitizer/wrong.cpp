// A tensor over the memory of a vector that is gone.
//
// MEASURE process sanitizer-reports kind=heap-use-after-free use=READ freed=GONE
// MEASURE process sanitizer-reports at=READ
#include "measure.h"

namespace {

torch::Tensor load(int64_t count) {
  std::vector<float> numbers(count, 1);
  const auto result = torch::from_blob(numbers.data(), {count}); // BAD
  return result;
} // GONE

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const auto all = load(64 * measure::size());
  const auto sum = all.sum(); // READ
  double first = 0;
  for (int64_t i = 0; i < 8; ++i)
    first += all.data_ptr<float>()[i]; // READ
  measure::value("shape", static_cast<double>(all.size(0) / measure::size()));
  return measure::finish();
}
