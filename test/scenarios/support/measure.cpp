// at::RecordFunction has one more member without NDEBUG, and LibTorch's
// libraries are built with it.
#ifndef NDEBUG
#error "compile with -DNDEBUG, as LibTorch is"
#endif

#include "measure.h"

#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/autograd/function.h>
#include <torch/version.h>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>

namespace measure {
namespace {

using torch::autograd::Node;

// Tensor bytes of one kind of device: those alive, their peak, and what was
// allocated in all.
class Memory : public c10::MemoryReportingInfoBase {
public:
  explicit Memory(c10::DeviceType type) : type_(type) {}

#if TORCH_VERSION_MAJOR >= 2
  using Total = size_t;
#else
  using Total = int64_t;
#endif
  void reportMemoryUsage(void *, int64_t size, Total, Total,
                         c10::Device device) override {
    if (device.type() != type_)
      return;
    if (size > 0) {
      ++allocations_;
      allocated_ += size;
    }
    const int64_t live = live_ += size;
    int64_t peak = peak_;
    while (live > peak && !peak_.compare_exchange_weak(peak, live))
      ;
  }
  bool memoryProfilingEnabled() const override { return true; }

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }
  int64_t allocations() const { return allocations_; }
  int64_t allocated() const { return allocated_; }
  void reset_peak() { peak_ = live_.load(); }

private:
  c10::DeviceType type_;
  std::atomic<int64_t> live_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> allocations_{0};
  std::atomic<int64_t> allocated_{0};
};

// Copies between devices or between element types. Every transfer and every
// conversion ends in a copy_; a copy_ that changes neither is no transfer.
class Copies {
public:
  void see(const at::RecordFunction &function) {
    if (std::strcmp(function.name(), "aten::copy_") != 0)
      return;
    const auto inputs = function.inputs();
    if (inputs.size() < 2 || !inputs[0].isTensor() || !inputs[1].isTensor())
      return;
    const torch::Tensor target = inputs[0].toTensor();
    const torch::Tensor source = inputs[1].toTensor();
    // A number in an expression becomes a tensor of the type that is needed.
    if (source.unsafeGetTensorImpl()->is_wrapped_number() ||
        (target.device() == source.device() &&
         target.scalar_type() == source.scalar_type()))
      return;
    ++count_;
    bytes_ += source.numel() * static_cast<int64_t>(source.element_size());
  }

  int64_t count() const { return count_; }
  int64_t bytes() const { return bytes_; }

private:
  std::atomic<int64_t> count_{0};
  std::atomic<int64_t> bytes_{0};
};

// The graph nodes that operations have made and that are still alive.
class Graph {
public:
  void see(const c10::IValue &output) {
    if (output.isTensor()) {
      see(output.toTensor());
    } else if (output.isTensorList()) {
      for (const torch::Tensor &tensor : output.toTensorVector())
        see(tensor);
    }
  }

  size_t live() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = nodes_.begin(); it != nodes_.end();)
      it = it->second.expired() ? nodes_.erase(it) : std::next(it);
    return nodes_.size();
  }

  size_t made() const { return made_; }

private:
  void see(const torch::Tensor &tensor) {
    if (!tensor.defined() || !tensor.requires_grad())
      return;
    const std::shared_ptr<Node> &node = tensor.grad_fn();
    if (!node)
      return;
    std::lock_guard<std::mutex> lock(mutex_);
    std::weak_ptr<Node> &seen = nodes_[node.get()];
    // The address may be that of a node which is gone.
    if (seen.lock() == node)
      return;
    seen = node;
    ++made_;
  }

  std::mutex mutex_;
  std::unordered_map<const Node *, std::weak_ptr<Node>> nodes_;
  std::atomic<size_t> made_{0};
};

// Leaked: tensors with static storage may die after everything here.
struct Observer {
  explicit Observer(c10::DeviceType type)
      : memory(std::make_shared<Memory>(type)),
        guard(std::make_unique<c10::DebugInfoGuard>(
            c10::DebugInfoKind::PROFILER_STATE, memory)) {}

  Graph graph;
  Copies copies;
  std::shared_ptr<Memory> memory;
  std::unique_ptr<c10::DebugInfoGuard> guard;
  at::CallbackHandle handle = 0;
  std::ostringstream line;
};
Observer *observer = nullptr;

std::unique_ptr<at::ObserverContext>
on_start(const at::RecordFunction &function) {
  observer->copies.see(function);
  return nullptr;
}

void on_end(const at::RecordFunction &function, at::ObserverContext *) {
  // A question to a tensor may itself run an operation.
  thread_local bool busy = false;
  if (busy)
    return;
  busy = true;
  for (const c10::IValue &output : function.outputs())
    observer->graph.see(output);
  busy = false;
}

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "error: " << message << '\n';
  std::exit(2);
}

torch::Device parse(int argc, char **argv) {
  std::string name = "cpu";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--device" && i + 1 < argc)
      name = argv[++i];
    else
      fail("unknown argument '" + argument + "'; usage: [--device cpu|cuda]");
  }
  if (name == "cpu")
    return torch::kCPU;
  if (name != "cuda")
    fail("unknown device '" + name + "'; there are cpu and cuda");
  // Programs link LibTorch's CPU part alone, so that they start everywhere.
  if (!dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL))
    fail(std::string("LibTorch's CUDA part does not load: ") + dlerror());
  if (!torch::cuda::is_available())
    fail("there is no CUDA device");
  return torch::kCUDA;
}

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Growth per iteration over the second half.
double slope(const std::vector<double> &series) {
  if (series.size() < 2)
    return 0;
  const size_t middle = (series.size() - 1) / 2;
  return (series.back() - series[middle]) /
         static_cast<double>(series.size() - 1 - middle);
}

double mean(const std::vector<double> &series) {
  const size_t middle = series.size() / 2;
  double sum = 0;
  for (size_t i = middle; i < series.size(); ++i)
    sum += series[i];
  return series.empty() ? 0 : sum / static_cast<double>(series.size() - middle);
}

double median(std::vector<double> series) {
  if (series.empty())
    return 0;
  std::sort(series.begin(), series.end());
  return series[series.size() / 2];
}

} // namespace

torch::Device start(int argc, char **argv) {
  const torch::Device device = parse(argc, argv);
  // The same sums in the same order on every machine with enough cores.
  at::set_num_threads(1);
  observer = new Observer(device.type());
  observer->handle =
      at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                .needsInputs(true)
                                .needsOutputs(true)
                                .scopes({at::RecordScope::FUNCTION}));
  observer->line << "torch=" << TORCH_VERSION << " device=" << device.str();
  return device;
}

int finish() {
  at::removeCallback(observer->handle);
  observer->guard.reset();
  std::cout << observer->line.str() << '\n';
  return std::cout.flush() ? 0 : 1;
}

void value(const std::string &name, double number) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.7g", number);
  observer->line << ' ' << name << '=' << text;
}

Loop::Loop(std::string name) : name_(std::move(name)) {
  bytes_before_ = static_cast<double>(observer->memory->live());
  observer->memory->reset_peak();
  count();
}

Loop::~Loop() {
  const double peak =
      static_cast<double>(observer->memory->peak()) - bytes_before_;
  std::vector<double> times;
  for (size_t i = 1; i < seconds_.size(); ++i)
    times.push_back(1e3 * (seconds_[i] - seconds_[i - 1]));

  measure::value(name_ + ".iterations", static_cast<double>(nodes_.size()));
  measure::value(name_ + ".nodes_per_iteration", slope(nodes_));
  measure::value(name_ + ".bytes_per_iteration", slope(bytes_));
  measure::value(name_ + ".new_nodes", slope(made_));
  measure::value(name_ + ".peak_bytes", peak);
  measure::value(name_ + ".allocations", slope(allocations_));
  measure::value(name_ + ".allocated_bytes", slope(allocated_));
  measure::value(name_ + ".copies", slope(copies_));
  measure::value(name_ + ".copied_bytes", slope(copied_));
  for (const auto &[key, series] : values_)
    measure::value(name_ + "." + key, mean(series));
  measure::value(name_ + ".milliseconds", median(times));
}

void Loop::iteration() {
  nodes_.push_back(static_cast<double>(observer->graph.live()));
  bytes_.push_back(static_cast<double>(observer->memory->live()));
  count();
}

// What only ever grows.
void Loop::count() {
  made_.push_back(static_cast<double>(observer->graph.made()));
  allocations_.push_back(static_cast<double>(observer->memory->allocations()));
  allocated_.push_back(static_cast<double>(observer->memory->allocated()));
  copies_.push_back(static_cast<double>(observer->copies.count()));
  copied_.push_back(static_cast<double>(observer->copies.bytes()));
  seconds_.push_back(now());
}

void Loop::value(const std::string &key, double number) {
  values_[key].push_back(number);
}

} // namespace measure
