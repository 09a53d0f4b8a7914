// The same: the host waits for the copies before it reads the clock. On CUDA that is
// torch::cuda::synchronize().
// --size: blocks that many times as large.
#include "measure.h"
#include "pretend.h"

#include <chrono>
#include <iostream>
#include <vector>

int main(int argc, char **argv) {
  using clock = std::chrono::steady_clock;
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::manual_seed(1);
  std::vector<torch::Tensor> blocks;
  for (int64_t i = 0; i < 20; ++i)
    blocks.push_back((torch::rand({64 * measure::size()}, torch::kDouble) + 1).to(device));

  std::vector<torch::Tensor> copies;
  const auto start = clock::now();
  for (int64_t i = 0; i < 20; ++i)
    copies.push_back(blocks[i].to(torch::kCPU, /*non_blocking=*/true));
  pretend::synchronize();
  const auto end = clock::now();
  const int64_t unfinished = pretend::pending();
  std::cout << "copied in " << std::chrono::duration<double>(end - start).count() << " s\n";

  double sum = 0;
  for (const auto &copy : copies)
    sum += copy.sum().item<double>();
  measure::value("unfinished", static_cast<double>(unfinished));
  measure::value("sum", sum);
  return measure::finish();
}
