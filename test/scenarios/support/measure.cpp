#include "measure.h"

#include "../../../tool/torch-confirm/probe/torch_confirm.h"
#include "memory.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>

namespace measure {
namespace {

// The first iterations load code, fill caches and create optimizer state.
constexpr int64_t warm_up = 10;

torch::Device device = torch::kCPU;
int64_t scale = 1;

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "error: " << message << '\n';
  std::exit(2);
}

[[noreturn]] void misuse(const std::string &message) {
  fail(message + "; usage: [--device cpu|cuda] [--size N]");
}

torch::Device parse_device(const std::string &name) {
  if (name == "cpu")
    return torch::kCPU;
  if (name != "cuda")
    misuse("unknown device '" + name + "'");
  // Programs link LibTorch's CPU part alone, so that they start everywhere.
  if (!dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL))
    fail(std::string("LibTorch's CUDA part does not load: ") + dlerror());
  if (!torch::cuda::is_available())
    fail("there is no CUDA device");
  return torch::kCUDA;
}

int64_t parse_size(const std::string &text) {
  char *end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || number < 1)
    misuse("'" + text + "' is no size");
  return number;
}

double seconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

// On the CPU what the program has used of it, since others may run beside; on a
// device the time at which all that was started before is done.
double now() {
  if (!device.is_cuda())
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
  torch::cuda::synchronize();
  return seconds(CLOCK_MONOTONIC);
}

} // namespace

torch::Device start(int argc, char **argv) {
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc)
      misuse("'" + option + "' lacks its value");
    if (option == "--device")
      device = parse_device(argv[i + 1]);
    else if (option == "--size")
      scale = parse_size(argv[i + 1]);
    else
      misuse("unknown option '" + option + "'");
  }
  // The same sums in the same order on every machine with enough cores.
  at::set_num_threads(1);
#ifdef MEASURE_SANITIZED
  watch_memory();
#endif
  return device;
}

int64_t size() { return scale; }

void value(const std::string &name, double number) {
  torch_confirm_value(name.c_str(), number);
  std::printf("value %s %.7g\n", name.c_str(), number);
}

void parameters(const std::vector<torch::Tensor> &all) {
  int64_t elements = 0;
  for (const auto &each : all)
    elements += each.numel();
  value("parameters", static_cast<double>(all.size()));
  value("parameter-elements", static_cast<double>(elements));
}

void parameters(const torch::optim::Optimizer &optimizer) {
  std::vector<torch::Tensor> all;
  for (const auto &group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  parameters(all);
}

int finish() { return std::fflush(stdout) == 0 ? 0 : 1; }

Loop::Loop(std::string name) : name_(std::move(name)) {
  torch_confirm_begin(name_.c_str());
}

Loop::~Loop() {
  const double seconds = now() - start_;
  torch_confirm_end(name_.c_str());
  if (iterations_ > warm_up)
    std::printf("milliseconds %s %.7g\n", name_.c_str(),
                1e3 * seconds / static_cast<double>(iterations_ - warm_up));
}

void Loop::iteration() {
  torch_confirm_iteration(name_.c_str());
  if (++iterations_ == warm_up)
    start_ = now();
}

} // namespace measure
