// Messages of two senders are stored in one log. Where they lie on an accelerator, they are
// to be brought to the host in blocks, under a lock; on the CPU one by one. The accelerator is
// one that every machine has, with memory of the host (support/pretend.h): what a device
// without an index equals is the same there as on CUDA.
// --size: that many times as many messages.
//
// MEASURE process blocks differs=1
// MEASURE process single more=1
// MEASURE process sum same
#include "measure.h"
#include "pretend.h"

#include <mutex>
#include <vector>

namespace {

struct Log {
  std::vector<torch::Tensor> waiting;
  std::mutex device;
  double sum = 0;
  int64_t blocks = 0, single = 0;

  void flush() {
    const std::lock_guard<std::mutex> lock(device);
    for (const torch::Tensor &message : waiting)
      sum += message.to(torch::kCPU).sum().item<double>();
    waiting.clear();
    ++blocks;
  }

  void add(const torch::Tensor &message) {
    if (message.device() == torch::kPrivateUse1) { // BAD
      waiting.push_back(message);
      if (waiting.size() == 8)
        flush();
    } else {
      sum += message.to(torch::kCPU).sum().item<double>();
      ++single;
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  measure::start(argc, argv);
  const torch::Device device = pretend::accelerator();
  torch::manual_seed(1);
  Log log;
  const auto messages = torch::rand({64 * measure::size(), 32}, torch::kDouble);
  for (int64_t i = 0; i < messages.size(0); ++i)
    log.add(messages[i].to(device));
  measure::value("blocks", static_cast<double>(log.blocks));
  measure::value("single", static_cast<double>(log.single));
  measure::value("sum", log.sum);
  return measure::finish();
}
