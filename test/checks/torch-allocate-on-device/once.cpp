// RUN: %check_torch %s torch-allocate-on-device %t
//
// A flag that is set where it is asked, and that nothing takes back, lets what is
// behind it happen once.

#include <torch/torch.h>

using torch::Tensor;

// The caller asks, and sets it.
struct Cloud {
  Cloud() { isMade = false; }
  void initialize(int64_t n) {
    points = torch::zeros({n, 3}).to(torch::kCUDA);
    opacity = torch::ones({n, 1}).to(torch::kCUDA);
  }
  // In each call.
  void extend(int64_t n) {
    points = torch::cat({points, torch::zeros({n, 3}).to(torch::kCUDA)});
    // CHECK-MESSAGES: :[[@LINE-1]]:34: warning: 'torch::zeros' makes this tensor on the CPU
  }
  Tensor points, opacity;
  bool isMade;
};
void map(Cloud &cloud, const std::vector<int64_t> &frames) {
  for (int64_t n : frames) {
    if (!cloud.isMade) {
      cloud.isMade = true;
      cloud.initialize(n);
    } else {
      cloud.extend(n);
    }
  }
}

// What is called sets it, and a second condition stands beside it.
struct Lazy {
  void prepare(int64_t n) {
    grid = torch::arange(n).to(torch::kCUDA);
    this->ready = true;
  }
  Tensor run(const Tensor &x, bool onGpu) {
    if (onGpu && this->ready == false)
      prepare(x.size(0));
    return x + grid;
  }
  // It leaves at once.
  void warmUp(int64_t n) {
    if (warm) {
      std::cout << "warm\n";
      return;
    }
    scratch = torch::zeros({n, n}).to(torch::kCUDA);
    warm = true;
  }
  Tensor grid, scratch;
  bool ready = false, warm = false;
};

// A static variable, and a flag of the program.
static bool isFirst = true;
Tensor table(const Tensor &x, int64_t n) {
  static const Tensor zeros = torch::zeros({n, 512}).to(torch::kCUDA);
  static Tensor ones;
  if (isFirst) {
    isFirst = false;
    ones = torch::ones({n, 512}).to(torch::kCUDA);
  }
  return x + zeros + ones;
}

// Somebody takes it back: it is done again.
struct Cached {
  void resize() { valid = false; }
  Tensor get(int64_t n) {
    if (!valid) {
      mask = torch::ones({n, n}).to(torch::kCUDA);
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'torch::ones' makes this tensor on the CPU
      valid = true;
    }
    return mask;
  }
  Tensor mask;
  bool valid = false;
};

// It is set on some ways only, or by whoever gets a reference to it.
struct Sometimes {
  void step(int64_t n) {
    if (!done) {
      noise = torch::zeros({n, n}).to(torch::kCUDA);
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'torch::zeros' makes this tensor on the CPU
      if (n > 100)
        done = true;
    }
    if (!asked) {
      state = torch::zeros({n, n}).to(torch::kCUDA);
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'torch::zeros' makes this tensor on the CPU
      asked = true;
      read(asked);
    }
    if (mode) {
      state = torch::zeros({n, n}).to(torch::kCUDA);
      // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'torch::zeros' makes this tensor on the CPU
    }
  }
  void read(bool &value);
  Tensor noise, state;
  bool done = false, asked = false, mode = false;
};
void run(Sometimes &steps, const std::vector<int64_t> &sizes) {
  for (int64_t n : sizes)
    steps.step(n);
}

// One of the call only, which a loop repeats.
Tensor perCall(int64_t n) {
  Tensor result;
  bool first = true;
  for (int i = 0; i < 10; ++i)
    if (first) {
      first = false;
      result = torch::zeros({n, n}).to(torch::kCUDA);
      // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' makes this tensor on the CPU
    }
  return result;
}
