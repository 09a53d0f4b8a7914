// A text is written token by token. The mask of what each may look at is a part of one that is
// made once, as large as the last needs it. The accelerator is one that every machine has
// (support/pretend.h): it keeps the memory that is freed for the next tensor of that size, as
// the allocator of CUDA does, and counts how often it had none.
// --size: that many times as many tokens.
#include "measure.h"
#include "pretend.h"

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::NoGradGuard no_grad;
  const int64_t tokens = 60 * measure::size(), width = 4096;
  double sum = 0;
  {
    measure::Loop loop("tokens");
    const auto all = torch::zeros({tokens, width}, device);
    for (int64_t length = 1; length <= tokens; ++length) {
      const auto mask = all.narrow(0, 0, length);
      sum += mask.narrow(0, length - 1, 1).to(torch::kCPU).sum().item<double>() + 1;
      loop.iteration();
    }
  }
  measure::value("memory-requests", static_cast<double>(pretend::memory_requests()));
  measure::value("sum", sum);
  return measure::finish();
}
