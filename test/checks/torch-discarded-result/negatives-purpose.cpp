// RUN: %check_torch %s torch-discarded-result %t
//
// Results that are dropped on purpose: to wait, to be timed, to warm up, to
// throw. And what nobody looks at afterwards.

#include <torch/torch.h>

#include <chrono>
#include <ctime>

using torch::Tensor;
using Clock = std::chrono::steady_clock;

Tensor use(Tensor x);

// item() and cpu() wait for the device.
double timed(Tensor x, torch::nn::Linear net) {
  net(x).cpu();
  const auto start = Clock::now();
  Tensor out;
  for (int i = 0; i < 100; ++i)
    out = net(x);
  out.cpu();
  out.sum().item<float>();
  const auto stop = Clock::now();
  std::cout << out.sizes() << '\n';
  return std::chrono::duration<double>(stop - start).count();
}

double timedOnce(Tensor a, Tensor b) {
  const clock_t start = clock();
  torch::matmul(a, b);
  const clock_t stop = clock();
  std::cout << a.sizes() << b.sizes();
  return double(stop - start);
}

// A stop watch of the user's.
struct Timer {
  Clock::time_point begin = Clock::now();
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

Tensor timedTransfer(Tensor x, torch::Device device) {
  Timer timer;
  x.to(device);
  std::cout << timer.seconds() << '\n';
  return use(x);
}

Tensor synchronized(Tensor a, Tensor b) {
  a.mm(b);
  torch::cuda::synchronize();
  return a + b;
}

// The same once more, for real.
Tensor warmUp(Tensor a, Tensor b) {
  torch::matmul(a, b);
  Tensor c = torch::matmul(a, b);
  return c;
}

Tensor warmUpLoop(Tensor a, Tensor b) {
  for (int i = 0; i < 10; ++i)
    a.mm(b);
  for (int i = 0; i < 10; ++i) {
    torch::matmul(a, b);
    torch::relu(a);
  }
  return a - b;
}

namespace benchmark {
struct State {
  bool KeepRunning();
};
} // namespace benchmark

void benchmarked(benchmark::State &state, Tensor &a, Tensor &b) {
  while (state.KeepRunning())
    torch::add(a, b);
}

// Run for the exception.
Tensor throws(Tensor a, Tensor b) {
  bool hasThrown = false;
  try {
    a.matmul(b);
  } catch (const c10::Error &) {
    hasThrown = true;
  }
  try {
    a.view({-1, 7});
    throw std::runtime_error("expected an error");
  } catch (const c10::Error &) {
  }
  return hasThrown ? a : b;
}

#define EXPECT_THROW(statement, type)                                          \
  try {                                                                        \
    statement;                                                                 \
    std::abort();                                                              \
  } catch (const type &) {                                                     \
  }
#define EXPECT_NO_CRASH(statement) statement

Tensor macros(Tensor a, Tensor b) {
  EXPECT_THROW(a + b, c10::Error);
  EXPECT_THROW(torch::cat({a, b}), c10::Error);
  EXPECT_NO_CRASH(a.mm(b));
  return a + b;
}

void expectError(const std::function<void()> &f);

Tensor callbacks(Tensor a, Tensor b) {
  expectError([&] { a + b; });
  expectError([=]() { a.matmul(b); });
  return a - b;
}

// Nobody looks at x again, or at what it was.
void last(Tensor x, torch::Device device) {
  use(x);
  x.to(device);
}

void replaced(Tensor x, Tensor y) {
  x.cuda();
  x = y;
  use(x);
}

void constant(const Tensor &x) { x.sum(); }

void loopLast(const std::vector<Tensor> &xs, torch::Device device) {
  for (const auto &x : xs) {
    Tensor y = x * 2;
    use(y);
    y.to(device);
  }
}

// Dependent: it may be a module.
template <class T> void move(T &x, torch::Device device) { x.to(device); }
