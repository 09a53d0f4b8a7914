// RUN: %check_torch %s torch-timing-without-sync %t
//
// Timers whose destructor takes the time of a scope.

#include <torch/torch.h>
#include <chrono>
#include <map>
#include <string>

using torch::Tensor;
using Clock = std::chrono::steady_clock;
using Times = std::map<std::string, double>;

class Stopwatch {
public:
  Stopwatch(Times &sink, std::string name)
      : sink_(sink), name_(std::move(name)), start_(Clock::now()) {}
  ~Stopwatch() {
    sink_[name_] += std::chrono::duration<double>(Clock::now() - start_).count();
  }

private:
  Times &sink_;
  std::string name_;
  Clock::time_point start_;
};

Tensor products(Tensor a, Tensor b, Times &times, torch::Device device) {
  a = a.to(device);
  b = b.to(device);
  Tensor c;
  {
    Stopwatch w(times, "mm");
    // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: where the scope of 'w' ends, the clock is read when the work has been given to the device, and not when it is done: on CUDA the time is that of enqueueing it; wait before, with 'torch::cuda::synchronize()' if 'torch::cuda::is_available()' [torch-timing-without-sync]
    c = torch::mm(a, b);
  }
  {
    Stopwatch w(times, "to host"); // The copy waits.
    c = torch::mm(c, b).to(torch::kCPU);
  }
  {
    Stopwatch w(times, "text"); // No work for a device.
    std::cout << "done\n";
  }
  {
    Stopwatch w(times, "on the host");
    c = torch::mm(c, c);
  }
  return c;
}

// It prints the time; the constructor sets the start in its body.
struct Report {
  explicit Report(const char *what) : what(what) { start = Clock::now(); }
  ~Report() {
    auto end = Clock::now();
    std::cout << what << std::chrono::duration<double>(end - start).count();
  }
  const char *what;
  Clock::time_point start;
};
// It waits itself.
struct Finished {
  Finished() : start(Clock::now()) {}
  ~Finished() {
    if (torch::cuda::is_available())
      torch::cuda::synchronize();
    std::cout << (Clock::now() - start).count();
  }
  Clock::time_point start;
};

void train(torch::nn::Linear net, torch::optim::SGD &opt, torch::Device device) {
  net->to(device);
  auto x = torch::rand({8, 4}).to(device);
  for (int epoch = 0; epoch < 9; ++epoch) {
    Report r("epoch");
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: where the scope of 'r' ends
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    Report r("epoch");
    opt.zero_grad();
    auto loss = net->forward(x).sum();
    loss.backward();
    opt.step();
    std::cout << loss.item<float>();
  }
  for (int epoch = 0; epoch < 9; ++epoch) {
    Finished f;
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}

// The time decides when to stop.
struct Budget {
  explicit Budget(double &left) : left_(left), start_(Clock::now()) {}
  ~Budget() {
    left_ -= std::chrono::duration<double>(Clock::now() - start_).count();
  }
  double &left_;
  Clock::time_point start_;
};
Tensor limited(Tensor a, torch::Device device) {
  a = a.to(device);
  double left = 10;
  while (left > 0) {
    Budget b(left);
    a = torch::mm(a, a);
  }
  return a;
}
// Nobody decides by it.
double summed(Tensor a, torch::Device device) {
  a = a.to(device);
  double left = 10;
  for (int i = 0; i < 9; ++i) {
    Budget b(left);
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: where the scope of 'b' ends
    a = torch::mm(a, a);
  }
  std::cout << a;
  return left;
}
// On the way out before there is any work, it waits on the other.
Tensor early(Tensor a, Times &times, torch::Device device) {
  Stopwatch w(times, "early");
  if (a.size(0) == 0)
    return a;
  a = torch::mm(a.to(device), a.to(device));
  return a.cpu();
}
