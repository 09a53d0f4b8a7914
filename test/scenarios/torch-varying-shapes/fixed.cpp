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
  int64_t rows = 0;
  {
    measure::Loop loop("tokens");
    const auto all = torch::zeros({tokens, width}, device);
    for (int64_t length = 1; length <= tokens; ++length) {
      const auto mask = all.narrow(0, 0, length);
      rows += mask.size(0);
      loop.iteration();
    }
  }
  measure::value("memory-requests", static_cast<double>(pretend::memory_requests()));
  measure::value("rows", static_cast<double>(rows));
  return measure::finish();
}
