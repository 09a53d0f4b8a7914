// How a scenario program tells what it does: where its loops and their
// iterations are, and which numbers come out. What that costs is measured by
// torch-confirm's probe; without the probe a program runs all the same and
// prints its numbers.
#ifndef TORCH_TIDY_SCENARIOS_MEASURE_H
#define TORCH_TIDY_SCENARIOS_MEASURE_H

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

namespace measure {

// To be called first in main: reads `--device cpu|cuda` and `--size N`.
torch::Device start(int argc, char **argv);

// How many times as large as the small run this one is to be, from 1. What it
// enlarges (iterations, batches, tensors) is said in the program's first lines.
int64_t size();

// A result of the program.
void value(const std::string &name, double number);

// What an optimizer, or parameters(), has: reports how many tensors as
// "parameters" and how many numbers as "parameter-elements".
void parameters(const std::vector<torch::Tensor> &all);
void parameters(const torch::optim::Optimizer &optimizer);

// The exit code of main.
int finish();

// A loop of the program. It prints the time of its iterations, without the
// first ones: on the CPU the mean of the processor time, on CUDA the median of
// the times between events of the device. All else is the probe's.
class Loop {
public:
  explicit Loop(std::string name);
  ~Loop();
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;

  // To be called at the end of each iteration.
  void iteration();

private:
  std::string name_;
  int64_t iterations_ = 0;
  double start_ = 0;
  std::vector<void *> events_;
};

} // namespace measure

#endif
