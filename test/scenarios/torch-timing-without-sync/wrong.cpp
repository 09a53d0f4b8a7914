// How long does it take until the readings of a sensor are there? An accelerator holds them, and
// the host takes the time around their copies. The accelerator is one that every machine has,
// with memory of the host (support/pretend.h): it makes such copies when somebody waits for it,
// and not before. How many of them are not made when the clock is read does not depend on the
// machine; the times do, and are not compared.
// --size: blocks that many times as large.
//
// MEASURE process unfinished more=20 wrong=20 fixed=0 unfixed
// MEASURE process sum same
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
  const auto end = clock::now(); // BAD
  const int64_t unfinished = pretend::pending();
  std::cout << "copied in " << std::chrono::duration<double>(end - start).count() << " s\n";

  pretend::synchronize();
  double sum = 0;
  for (const auto &copy : copies)
    sum += copy.sum().item<double>();
  measure::value("unfinished", static_cast<double>(unfinished));
  measure::value("sum", sum);
  return measure::finish();
}
