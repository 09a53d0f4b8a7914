// What one allocation costs, by size: torch::zeros in every iteration against
// zero_() of one tensor, and torch::ones against a tensor that is there. Each
// pair is timed in alternation, so that both meet the same machine. Nothing is
// asserted. To be built with the flags of wrong.cpp.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

constexpr int rounds = 21;

// Nanoseconds of one call, over many.
template <class Body> double nanoseconds(int64_t calls, Body body) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  for (int64_t i = 0; i < calls; ++i)
    body();
  return duration<double, std::nano>(steady_clock::now() - start).count() /
         static_cast<double>(calls);
}

double median(std::vector<double> series) {
  std::sort(series.begin(), series.end());
  return series[series.size() / 2];
}

// Reading one element stands for the work that uses the tensor.
void use(const torch::Tensor &tensor) {
  volatile float element = *tensor.const_data_ptr<float>();
  (void)element;
}

void compare(int64_t size) {
  const int64_t calls = std::max<int64_t>(5, 2'000'000 / (size + 1000));
  auto scratch = torch::zeros({size});
  const auto constant = torch::ones({size});
  std::vector<double> zeros, refills, ones, reuses, more;
  for (int round = 0; round < rounds; ++round) {
    zeros.push_back(nanoseconds(calls, [&] {
      use(torch::zeros({size})); // NOLINT(torch-allocation-in-loop): measured
    }));
    refills.push_back(nanoseconds(calls, [&] {
      scratch.zero_();
      use(scratch);
    }));
    ones.push_back(nanoseconds(calls, [&] {
      use(torch::ones({size})); // NOLINT(torch-allocation-in-loop): measured
    }));
    reuses.push_back(nanoseconds(calls, [&] { use(constant); }));
    more.push_back(zeros.back() / refills.back());
  }
  std::printf("%8lld floats: zeros %10.0f ns, zero_() %10.0f ns, ratio %5.2f; "
              "ones %10.0f ns, reused %4.0f ns\n",
              static_cast<long long>(size), median(zeros), median(refills),
              median(more), median(ones), median(reuses));
}

} // namespace

int main() {
  torch::NoGradGuard no_grad;
  at::set_num_threads(1);
  for (const int64_t size :
       {1, 16, 32, 128, 1024, 4096, 1 << 16, 1 << 20, 1 << 22, 1 << 24})
    compare(size);
}
