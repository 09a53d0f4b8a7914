// RUN: %check_torch %s torch-allocation-in-loop %t
//
// The tensor lives on beyond its iteration: each iteration needs its own.

#include <torch/torch.h>

#include <functional>
#include <future>
#include <map>
#include <queue>
#include <thread>

using torch::Tensor;

void pushed(const std::vector<Tensor> &xs) {
  std::vector<Tensor> sums;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    sums.push_back(sum);
  }
  std::cout << torch::stack(sums).max() << '\n';
}

void emplaced(const std::vector<Tensor> &xs) {
  std::vector<Tensor> buffers;
  std::map<size_t, Tensor> byIndex;
  for (size_t i = 0; i < xs.size(); ++i) {
    buffers.emplace_back(torch::zeros({64, 64}));
    byIndex[i] = torch::full({64, 64}, 0.5);
  }
  std::cout << buffers.size() + byIndex.size() << '\n';
}

void elementOfVector(int64_t n) {
  std::vector<Tensor> states(10);
  for (auto &state : states)
    state = torch::zeros({n, n});
  for (size_t i = 0; i < states.size(); ++i)
    states[i] = torch::ones({n, n});
  std::cout << states.back() << '\n';
}

struct Sample {
  Tensor data, mask;
};

void inStruct(const std::vector<Tensor> &xs, std::queue<Sample> &samples) {
  for (const auto &x : xs) {
    auto mask = torch::zeros({64, 64});
    mask[0] = x;
    samples.push({x, mask});
  }
}

// A helper makes it, the caller keeps it.
static Tensor initial(int64_t n) { return torch::zeros({n, n}); }

void keepsResult(int64_t n) {
  std::vector<Tensor> states;
  for (int i = 0; i < 10; ++i)
    states.push_back(initial(n));
  std::cout << states.back() << '\n';
}

// A helper keeps its argument.
static void keep(std::vector<Tensor> &kept, Tensor value) {
  kept.push_back(std::move(value));
}

void keptByHelper(const std::vector<Tensor> &xs) {
  std::vector<Tensor> kept;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    keep(kept, sum);
  }
  std::cout << kept.size() << '\n';
}

Tensor returned(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    if (sum.max().item<float>() > 1)
      return sum;
  }
  return Tensor();
}

class Tracker {
public:
  void run(const std::vector<Tensor> &xs) {
    for (const auto &x : xs) {
      auto sum = torch::zeros({64, 64});
      sum += x;
      this->last_ = sum;
    }
  }
  Tensor last() const { return last_; }

private:
  Tensor last_;
};

// Nobody knows what becomes of it.
void consume(Tensor tensor);
void show(const Tensor &tensor);

void toUnknown(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    consume(sum);
    auto mask = torch::full({64, 64}, 0.5);
    mask.mul_(2);
    show(mask);
  }
}

void captured(const std::vector<Tensor> &xs) {
  std::vector<std::function<void()>> callbacks;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    callbacks.push_back([sum] { std::cout << sum.max() << '\n'; });
  }
  for (auto &callback : callbacks)
    callback();
}

void inThreads(const std::vector<Tensor> &xs) {
  std::vector<std::thread> threads;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    threads.emplace_back([sum, x]() mutable { sum += x; });
  }
  for (auto &thread : threads)
    thread.join();
}

void inFutures(const std::vector<Tensor> &xs) {
  std::vector<std::future<float>> results;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    results.push_back(std::async(
        std::launch::async, [sum] { return sum.max().item<float>(); }));
  }
  for (auto &result : results)
    std::cout << result.get() << '\n';
}

// The best one is kept after the loop, where the next one would overwrite it.
void keepsBest(const std::vector<Tensor> &xs) {
  Tensor best;
  float highest = 0;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    if (sum.max().item<float>() > highest) {
      highest = sum.max().item<float>();
      best = sum;
    }
  }
  std::cout << best << '\n';
}

// The tensor of the last iteration is read by the next.
void readsLast(const std::vector<Tensor> &xs) {
  auto last = torch::zeros({64, 64});
  for (const auto &x : xs) {
    auto next = torch::zeros({64, 64});
    next += last;
    next += x;
    last = next;
  }
  std::cout << last << '\n';
}

void swaps(const std::vector<Tensor> &xs) {
  Tensor current = torch::zeros({64, 64});
  for (const auto &x : xs) {
    Tensor next = torch::empty({64, 64});
    torch::add_out(next, current, x);
    std::swap(current, next);
  }
  std::cout << current << '\n';
}

// Through a pointer.
void onHeap(const std::vector<Tensor> &xs) {
  std::vector<std::shared_ptr<Tensor>> kept;
  for (const auto &x : xs) {
    auto sum = torch::zeros({64, 64});
    sum += x;
    kept.push_back(std::make_shared<Tensor>(sum));
  }
  std::cout << kept.size() << '\n';
}

// In an object that the iteration makes and puts away.
struct Layer {
  explicit Layer(int64_t n) : table(torch::zeros({n, n})) {}
  Tensor table, gate;
};

std::vector<std::shared_ptr<Layer>> putAway(int64_t n, int64_t count) {
  std::vector<std::shared_ptr<Layer>> layers;
  for (int64_t i = 0; i < count; ++i) {
    auto layer = std::make_shared<Layer>(n);
    layer->gate = torch::ones({n, n});
    layers.push_back(layer);
  }
  return layers;
}

struct Stack {
  Stack(int64_t n, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      auto layer = std::make_shared<Layer>(n);
      byName["layer" + std::to_string(i)] = layer;
    }
  }
  std::map<std::string, std::shared_ptr<Layer>> byName;
};

// As a parameter, or a buffer, of a module that the iteration makes.
struct HeadImpl : torch::nn::Module {
  HeadImpl(int64_t n) {
    scale = register_parameter("scale", torch::ones({n, n}));
    bias = register_buffer("bias", torch::zeros({n, n}));
  }
  Tensor forward(Tensor x) { return x.matmul(scale) + bias; }
  Tensor scale, bias;
};
TORCH_MODULE(Head);

struct HeadsImpl : torch::nn::Module {
  HeadsImpl(int64_t n, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      heads->push_back(Head(n));
    register_module("heads", heads);
  }
  torch::nn::ModuleList heads;
};
