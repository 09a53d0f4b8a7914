// A text is written token by token, and the mask of what each may look at is made anew on an
// accelerator, a row larger each time. The accelerator is one that every machine has
// (support/pretend.h): it keeps the memory that is freed for the next tensor of that size, as
// the allocator of CUDA does, and counts how often it had none.
// --size: that many times as many tokens.
//
// MEASURE process memory-requests factor=10 grows=linear
// MEASURE process rows same
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
    for (int64_t length = 1; length <= tokens; ++length) {
      const auto mask = torch::zeros({length, width}, device); // BAD
      rows += mask.size(0);
      loop.iteration();
    }
  }
  measure::value("memory-requests", static_cast<double>(pretend::memory_requests()));
  measure::value("rows", static_cast<double>(rows));
  return measure::finish();
}
