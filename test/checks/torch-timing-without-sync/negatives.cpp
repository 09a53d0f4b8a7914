// RUN: %check_torch %s torch-timing-without-sync %t
//
// Somebody waits, or may wait; nothing is measured; or the work is the host's.

#include <torch/script.h>
#include <torch/torch.h>
#include <chrono>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

using torch::Tensor;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Net : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  Net() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  Tensor forward(Tensor x) { return torch::relu(fc(x)); }
};
Tensor onDevice(torch::Device device) { return torch::rand({8, 4}).to(device); }
void print(Clock::duration time) { std::cout << Seconds(time).count(); }

// Somebody waits.
void item(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  auto y = net.forward(x).sum().item<float>();
  print(Clock::now() - start);
}
void copied(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  auto y = net.forward(x).cpu();
  print(Clock::now() - start);
}
void into(Net &net, torch::Device device, Tensor host) {
  auto x = onDevice(device);
  auto start = Clock::now();
  host.copy_(net.forward(x));
  print(Clock::now() - start);
}
void printed(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  std::cout << net.forward(x);
  print(Clock::now() - start);
}
void synchronized(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  if (torch::cuda::is_available())
    torch::cuda::synchronize();
  print(Clock::now() - start);
}
void clipped(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x).sum().backward();
  torch::nn::utils::clip_grad_norm_(net.parameters(), 1.0);
  print(Clock::now() - start);
}
void selected(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x).nonzero();
  print(Clock::now() - start);
}
void moved(Tensor image) {
  auto start = Clock::now();
  auto x = image.to(torch::kCUDA);
  print(Clock::now() - start);
}
void inSomeIterations(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  for (int i = 0; i < 1000; ++i) {
    auto y = net.forward(x).sum();
    if (i % 100 == 0)
      std::cout << y.item<float>();
  }
  print(Clock::now() - start);
}
void epochs(Net &net, torch::optim::SGD &optimizer, torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto start = Clock::now();
    double sum = 0;
    for (int i = 0; i < 100; ++i) {
      auto loss = net.forward(onDevice(device)).sum();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
    }
    print(Clock::now() - start);
  }
}

// Code that is not seen may wait.
void wait();
struct Unseen {
  Unseen();
  void finish();
};
extern std::function<void()> callback;
extern "C" int cudaDeviceSynchronize();
static void waitInside() { cudaDeviceSynchronize(); }
void unseen(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  wait();
  print(Clock::now() - start);
}
void unseenMethod(Net &net, torch::Device device, Unseen &u) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  u.finish();
  print(Clock::now() - start);
}
void unseenObject(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  Unseen u;
  print(Clock::now() - start);
}
void called(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  callback();
  print(Clock::now() - start);
}
void ofRuntime(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  waitInside();
  print(Clock::now() - start);
}
void joined(Net &net, torch::Device device, std::thread &other) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  other.join();
  print(Clock::now() - start);
}
struct ElsewhereImpl : torch::nn::Module {
  Tensor forward(Tensor x);
};
TORCH_MODULE(Elsewhere);
void unseenModule(Elsewhere &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net->forward(x);
  print(Clock::now() - start);
}
class WaitingTimer {
public:
  WaitingTimer() { wait(); }
  double elapsed() {
    wait();
    return Seconds(Clock::now() - start).count();
  }

private:
  Clock::time_point start = Clock::now();
};
void timer(Net &net, torch::Device device) {
  auto x = onDevice(device);
  WaitingTimer timer;
  net.forward(x);
  std::cout << timer.elapsed();
}

// Nothing is measured.
void seeds(Net &net, torch::Device device) {
  auto x = onDevice(device);
  std::mt19937 a(Clock::now().time_since_epoch().count());
  net.forward(x);
  std::mt19937 b(Clock::now().time_since_epoch().count());
}
void stamps(Net &net, torch::Device device) {
  auto x = onDevice(device);
  std::cout << Clock::now().time_since_epoch().count();
  net.forward(x);
  std::cout << Clock::now().time_since_epoch().count();
}
void limit(Net &net, torch::Device device) {
  auto x = onDevice(device);
  const auto start = Clock::now();
  while (Clock::now() - start < std::chrono::seconds(5))
    x = x + net.forward(x).sum();
}
void limitedCount(Net &net, torch::Device device) {
  auto x = onDevice(device);
  const auto start = Clock::now();
  do
    x = x + net.forward(x).sum();
  while ((Clock::now() - start).count() < 1000);
}
void paced(Net &net, torch::Device device) {
  auto x = onDevice(device);
  for (;;) {
    const auto start = Clock::now();
    net.forward(x);
    std::this_thread::sleep_for(std::chrono::seconds(1) -
                                (Clock::now() - start));
  }
}

// The work is the host's.
void onCpu(Net &net) {
  auto x = onDevice(torch::kCPU);
  auto start = Clock::now();
  auto y = x * 2;
  net.forward(y);
  print(Clock::now() - start);
}
void file(Net &net, torch::Device device) {
  auto x = onDevice(device);
  net.forward(x);
  auto start = Clock::now();
  std::ifstream in("data.txt");
  std::string line;
  while (std::getline(in, line))
    ;
  print(Clock::now() - start);
}
void numbers(torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  double sum = 0;
  for (int i = 0; i < 1000; ++i)
    sum += i;
  auto shape = x.sizes();
  auto row = x[0].view({2, 2});
  print(Clock::now() - start);
}
// Another timer.
struct Stopwatch {
  Clock::time_point start = Clock::now();
  void reset() { start = Clock::now(); }
  double seconds() { return Seconds(Clock::now() - start).count(); }
};
void two(Net &net, torch::Device device) {
  auto x = onDevice(device);
  Stopwatch first;
  net.forward(x);
  first.reset();
  std::cout << first.seconds();
}
// What has printed it is a comment now: nobody reads the time.
void unread(Net &net, torch::Device device) {
  auto x = onDevice(device);
  auto start = Clock::now();
  net.forward(x);
  auto end = Clock::now();
  auto elapsed = end - start;
  // std::cout << Seconds(elapsed).count();
  double seconds = Seconds(Clock::now() - start).count();
}
