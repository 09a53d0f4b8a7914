// RUN: %check_torch %s torch-allocation-in-loop %t
//
// Made from data, small, or not made in every iteration.

#include <torch/torch.h>

#include <mutex>

using torch::Tensor;

// ----- from data -----

void fromData(std::vector<std::vector<float>> &rows) {
  for (auto &row : rows) {
    auto copied = torch::tensor(row);
    auto wrapped = torch::from_blob(row.data(), {256, 256});
    auto cloned = torch::from_blob(row.data(), {256, 256}).clone();
    auto count = torch::tensor(static_cast<int64_t>(row.size()));
    std::cout << (copied.sum() + wrapped.sum() + cloned.sum() + count) << '\n';
  }
}

// Each order is another one.
void permutations(const Tensor &data, int64_t n) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto order = torch::randperm(n);
    std::cout << data.index_select(0, order).sum().item<float>() << '\n';
  }
}

void results(const Tensor &data) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto copy = data.clone();
    copy += 1;
    auto twice = torch::cat({data, copy});
    std::cout << twice.sum().item<float>() << '\n';
  }
}

// ----- small -----

constexpr int64_t few = 3;

void small(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto zero = torch::zeros({});
    auto one = torch::ones({1});
    auto mean = torch::full({few, 1, 1}, 0.5);
    auto matrix = torch::eye(4);
    auto positions = torch::arange(31);
    std::cout << (x + zero + one + mean + matrix + positions.sum()) << '\n';
  }
}

// Fewer than 1024 elements, and written.
void smallScratch(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({});
    sum += x.sum();
    auto moments = torch::zeros({few, few});
    moments += x;
    auto counts = torch::zeros({16, 16});
    counts += x;
    auto noise = torch::randn({1, 100});
    std::cout << (sum + moments.sum() + counts.sum() + noise.sum()) << '\n';
  }
}

void nothingInIt(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    Tensor undefined;
    auto none = torch::empty({0});
    if (x.size(0) > 1)
      undefined = torch::cat({none, x.flatten()});
    std::cout << undefined.defined() << '\n';
  }
}

// ----- once -----

void beforeLoop(const std::vector<Tensor> &xs, int64_t n) {
  auto mask = torch::ones({n, n});
  for (const auto &x : xs)
    std::cout << (x * mask).sum().item<float>() << '\n';
  auto sum = torch::zeros({n, n});
  std::cout << sum << '\n';
}

void inHeader(const std::vector<Tensor> &xs) {
  for (auto sum = torch::zeros({64, 64}); sum.max().item<float>() < 10;)
    sum += xs[0];
  for (const auto &row : torch::ones({64, 64}).unbind(0))
    std::cout << row.sum().item<float>() << '\n';
}

void hoistedAlready(const std::vector<Tensor> &xs) {
  auto sum = torch::zeros({64, 64});
  for (const auto &x : xs) {
    sum.zero_();
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}

void staticLocal(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    static const Tensor mask = torch::full({64, 64}, 0.5);
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

void firstIteration(const std::vector<Tensor> &xs) {
  Tensor mask;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (i == 0)
      mask = torch::full({64, 64}, 0.5);
    std::cout << (xs[i] * mask).sum().item<float>() << '\n';
  }
}

class Cached {
public:
  float score(const Tensor &x) {
    if (!mask_.defined())
      mask_ = torch::full({64, 64}, 0.5);
    return (x * mask_).sum().item<float>();
  }

private:
  Tensor mask_;
};

void usesCached(const std::vector<Tensor> &xs) {
  Cached cached;
  for (const auto &x : xs)
    std::cout << cached.score(x) << '\n';
}

void ofOnce(const std::vector<Tensor> &xs) {
  std::once_flag flag;
  Tensor mask;
  for (const auto &x : xs) {
    std::call_once(flag, [&] { mask = torch::full({64, 64}, 0.5); });
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

// The loop ends there.
void leavesLoop(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    if (x.size(0) > 10) {
      auto sum = torch::zeros({64, 64});
      sum += x;
      std::cout << sum.max().item<float>() << '\n';
      break;
    }
  }
}

// Nothing loops around this one.
static float single(const Tensor &x) {
  auto sum = torch::zeros({64, 64});
  sum += x;
  return sum.max().item<float>();
}

void callsOnce(const Tensor &x) { std::cout << single(x) << '\n'; }

// Defined in the loop, run after it.
void definedOnly(const std::vector<Tensor> &xs) {
  std::function<Tensor()> make;
  for (size_t i = 0; i < xs.size(); ++i)
    make = [] { return torch::full({64, 64}, 0.5); };
  std::cout << make() << '\n';
}

void inHandler(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    try {
      std::cout << x.sum().item<float>() << '\n';
    } catch (const c10::Error &) {
      auto replacement = torch::zeros({64, 64});
      std::cout << replacement.sum().item<float>() << '\n';
      throw;
    }
  }
}
