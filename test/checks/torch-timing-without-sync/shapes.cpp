// RUN: %check_torch %s torch-timing-without-sync %t
//
// Times of work that nobody has waited for.

#include <torch/script.h>
#include <torch/torch.h>
#include <chrono>
#include <ctime>
#include <sys/time.h>

using torch::Tensor;
using Clock = std::chrono::steady_clock;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Net() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) { return torch::relu(fc(x)); }
};

void network(Net &net, torch::Device device) {
  Tensor x = torch::rand({8, 4}).to(device);
  auto start = Clock::now();
  Tensor y = net.forward(x);
  auto end = Clock::now();
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: the clock is read when the work has been given to the device, and not when it is done: on CUDA the time is that of enqueueing it; wait before, with 'torch::cuda::synchronize()' if 'torch::cuda::is_available()' [torch-timing-without-sync]
  std::cout << std::chrono::duration_cast<std::chrono::milliseconds>(end - start)
                   .count();
  std::cout << y;
}

void operations(Tensor a, Tensor b) {
  a = a.to(torch::kCUDA);
  b = b.to(torch::kCUDA);
  const clock_t start = clock();
  for (int i = 0; i < 100; ++i)
    a = torch::mm(a, b);
  const double seconds = double(clock() - start) / CLOCKS_PER_SEC;
  // CHECK-MESSAGES: :[[@LINE-1]]:33: warning: the clock is read when the work has been given to the device
  printf("%f s\n", seconds);
}

void backward(Net &net, torch::Device device) {
  Tensor loss = net.forward(torch::rand({8, 4}).to(device)).sum();
  timeval start, end;
  gettimeofday(&start, nullptr);
  loss.backward();
  gettimeofday(&end, nullptr);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: the clock is read when the work has been given to the device
  std::cout << (end.tv_sec - start.tv_sec) + (end.tv_usec - start.tv_usec) / 1e6;
}

void script(torch::jit::script::Module &module, Tensor image) {
  std::vector<torch::jit::IValue> inputs;
  inputs.push_back(image.to(torch::kCUDA));
  double total = 0;
  for (int i = 0; i < 100; ++i) {
    auto start = Clock::now();
    auto output = module.forward(inputs).toTensor();
    auto end = Clock::now();
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: the clock is read when the work has been given to the device
    std::chrono::duration<double> elapsed = end - start;
    total += elapsed.count();
  }
  std::cout << total / 100;
}

// A function that reads a clock.
static double milliseconds() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}
void wrapped(Net &net, torch::Device device) {
  Tensor x = torch::rand({8, 4}).to(device);
  double start = milliseconds();
  net.forward(x);
  std::cout << milliseconds() - start;
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: the clock is read when the work has been given to the device
}

// A timer.
class Timer {
public:
  void reset() { start_ = Clock::now(); }
  double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

private:
  Clock::time_point start_ = Clock::now();
};
void timed(Net &net, torch::Device device) {
  Tensor x = torch::rand({8, 4}).to(device);
  Timer timer;
  net.forward(x);
  std::cout << timer.elapsed();
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: the clock is read when the work has been given to the device
}
void timedAgain(Net &net, torch::Device device, Timer &timer) {
  Tensor x = torch::rand({8, 4}).to(device);
  timer.reset();
  net.forward(x);
  double time = timer.elapsed();
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: the clock is read when the work has been given to the device
  std::cout << "took " << time;
}

// Members, and functions that are followed.
class Benchmark {
public:
  double run(Tensor x) {
    begin();
    net.forward(x.to(device, /*non_blocking=*/true));
    return end();
  }

private:
  void begin() {
    torch::manual_seed(0);
    start = Clock::now();
  }
  double end() {
    torch::NoGradGuard no_grad;
    return std::chrono::duration<double>(Clock::now() - start).count();
    // CHECK-MESSAGES: :[[@LINE-1]]:42: warning: the clock is read when the work has been given to the device
  }

  Net net;
  torch::Device device{torch::kCUDA};
  Clock::time_point start;
};

template <class Module> double ofTemplate(Module &net, const Tensor &x) {
  const auto input = x.to(torch::kCUDA);
  const auto start = Clock::now();
  net.forward(input);
  return std::chrono::duration<double>(Clock::now() - start).count();
  // CHECK-MESSAGES: :[[@LINE-1]]:40: warning: the clock is read when the work has been given to the device
}
template double ofTemplate(Net &, const Tensor &);

void ofLambda(Net &net, torch::Device device) {
  Tensor x = torch::rand({8, 4}).to(device);
  auto measure = [&] {
    const auto start = Clock::now();
    net.forward(x);
    return (Clock::now() - start).count();
    // CHECK-MESSAGES: :[[@LINE-1]]:13: warning: the clock is read when the work has been given to the device
  };
  std::cout << measure();
}

#define NOW() std::chrono::high_resolution_clock::now()
void ofMacro(Net &net, torch::Device device) {
  Tensor x = torch::rand({8, 4}).to(device);
  auto start = NOW();
  net.forward(x);
  std::cout << (NOW() - start).count();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: the clock is read when the work has been given to the device
}

// A copy that the host does not wait for.
void copy(Tensor x) {
  x = x.to(torch::kCUDA);
  auto start = Clock::now();
  auto host = x.to(torch::kCPU, /*non_blocking=*/true);
  std::cout << (Clock::now() - start).count();
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: the clock is read when the work has been given to the device
}
