#include "measure.h"

#include "../../../tool/torch-confirm/probe/torch_confirm.h"
#include "memory.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
  fail(message + "; usage: [--device cpu|cuda] [--size N] [--repeat N]");
}

int64_t parse_number(const std::string &text) {
  char *end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || number < 1)
    misuse("'" + text + "' is no whole number from 1");
  return number;
}

// All but the last time in a child, which has not begun yet: it does what a
// process does that was started for it, but for loading LibTorch. Before CUDA
// is asked for anything, for no child could use it then.
void repeat(int64_t times) {
  for (int64_t i = 1; i < times; ++i) {
    const pid_t child = fork();
    if (child == 0)
      return;
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
      fail("it cannot be repeated");
    if (status != 0)
      fail("a repetition ends with status " + std::to_string(status));
  }
}

// The workspaces of cuBLAS are memory of LibTorch's allocator and stay for the
// life of the process, one set for each thread that multiplies: that of the
// program and that which runs its backwards. What a loop takes is counted
// without them, so they are there before.
void take_workspaces() {
  const auto options = torch::TensorOptions(device).requires_grad(true);
  const auto weight = torch::ones({8, 8}, options);
  const auto bias = torch::ones({8}, options);
  const auto product = torch::mm(weight, weight);
  torch::nn::functional::linear(product, weight, bias).sum().backward();
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

// On the CPU: what the program has used of it, since others may run beside.
double seconds_used() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

// The CUDA runtime that LibTorch has loaded; programs do not link it.
template <typename Function, typename... Arguments>
void call_runtime(const char *name, Arguments... arguments) {
  auto *function = reinterpret_cast<Function *>(dlsym(RTLD_DEFAULT, name));
  if (!function)
    fail(std::string("the CUDA runtime has no ") + name);
  if (const int code = function(arguments...))
    fail(std::string(name) + " fails with " + std::to_string(code));
}

// An event behind all that was started so far on the stream that programs use.
void *record_event() {
  void *event = nullptr;
  call_runtime<int(void **)>("cudaEventCreate", &event);
  call_runtime<int(void *, void *)>("cudaEventRecord", event,
                                    static_cast<void *>(nullptr));
  return event;
}

double median_between(const std::vector<void *> &events) {
  call_runtime<int(void *)>("cudaEventSynchronize", events.back());
  std::vector<float> times;
  for (size_t i = 1; i < events.size(); ++i)
    call_runtime<int(float *, void *, void *)>("cudaEventElapsedTime",
                                               &times.emplace_back(),
                                               events[i - 1], events[i]);
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  return times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
}

} // namespace

torch::Device start(int argc, char **argv) {
  std::string wanted = "cpu";
  int64_t times = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc)
      misuse("'" + option + "' lacks its value");
    if (option == "--device")
      wanted = argv[i + 1];
    else if (option == "--size")
      scale = parse_number(argv[i + 1]);
    else if (option == "--repeat")
      times = parse_number(argv[i + 1]);
    else
      misuse("unknown option '" + option + "'");
  }
  repeat(times);
  device = parse_device(wanted);
  if (device.is_cuda())
    take_workspaces();
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
  const double seconds = seconds_used() - start_;
  torch_confirm_end(name_.c_str());
  if (iterations_ <= warm_up)
    return;
  const double milliseconds =
      device.is_cuda()
          ? median_between(events_)
          : 1e3 * seconds / static_cast<double>(iterations_ - warm_up);
  std::printf("milliseconds %s %.7g\n", name_.c_str(), milliseconds);
  for (void *event : events_)
    call_runtime<int(void *)>("cudaEventDestroy", event);
}

void Loop::iteration() {
  torch_confirm_iteration(name_.c_str());
  if (++iterations_ == warm_up)
    start_ = seconds_used();
  if (device.is_cuda() && iterations_ >= warm_up)
    events_.push_back(record_event());
}

} // namespace measure
