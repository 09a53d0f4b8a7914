// RUN: %check_torch %s torch-allocation-in-loop %t
//
// The shape, or what else the tensor is made with, changes in the loop.

#include <torch/torch.h>

using torch::Tensor;

void ofBatch(const std::vector<Tensor> &batches) {
  for (const auto &batch : batches) {
    auto labels = torch::ones({batch.size(0), 1});
    auto sum = torch::zeros(batch.sizes());
    sum += batch;
    std::cout << (sum * labels).max().item<float>() << '\n';
  }
}

void ofLoader(const std::vector<torch::data::Example<>> &batches) {
  for (const auto &batch : batches) {
    auto labels = torch::full({batch.data.size(0), 1}, 0.9);
    std::cout << (batch.data * labels).sum().item<float>() << '\n';
  }
}

void ofLoopVariable(Tensor x) {
  for (int64_t n = 1; n < 100; ++n) {
    auto mask = torch::ones({n, n});
    std::cout << (x.narrow(0, 0, n) * mask).sum().item<float>() << '\n';
  }
}

void ofLocal(const std::vector<Tensor> &batches) {
  for (const auto &batch : batches) {
    const int64_t n = batch.size(0);
    const int64_t half = n / 2 + 1;
    auto mask = torch::ones({half, n});
    std::cout << torch::matmul(mask, batch).sum().item<float>() << '\n';
  }
}

// The last batch is smaller.
void lastIsSmaller(Tensor data, int64_t size) {
  for (int64_t first = 0; first < data.size(0); first += size) {
    const auto count = std::min(size, data.size(0) - first);
    auto target = torch::ones({count, 1});
    std::cout << torch::mse_loss(data.narrow(0, first, count), target) << '\n';
  }
}

void changedAtEnd(Tensor x, int64_t n) {
  while (n > 1) {
    auto mask = torch::ones({n, n});
    std::cout << (x.narrow(0, 0, n) * mask).sum().item<float>() << '\n';
    n /= 2;
  }
}

void changedOnOnePath(const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({n, n});
    sum += x;
    if (sum.max().item<float>() > 1)
      n *= 2;
  }
}

void changedByReference(const std::vector<Tensor> &xs, int64_t n) {
  int64_t &alias = n;
  for (const auto &x : xs) {
    auto sum = torch::zeros({n, n});
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
    ++alias;
  }
}

static void grow(int64_t &n) { n += 8; }
static void growBehind(int64_t *n) { *n += 8; }

void changedByHelper(const std::vector<Tensor> &xs, int64_t n, int64_t m) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({n, m});
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
    grow(n);
    growBehind(&m);
  }
}

void changedByLambda(const std::vector<Tensor> &xs, int64_t n) {
  auto next = [&n] { ++n; };
  for (const auto &x : xs) {
    auto sum = torch::zeros({n, n});
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
    next();
  }
}

void readFromOutside(const std::vector<Tensor> &xs) {
  int64_t n = 0;
  for (const auto &x : xs) {
    std::cin >> n;
    auto sum = torch::zeros({n, n});
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}

class Curriculum {
public:
  void run(const std::vector<Tensor> &xs) {
    for (const auto &x : xs) {
      auto sum = torch::zeros({length_, 64});
      sum += x;
      std::cout << sum.max().item<float>() << '\n';
      advance();
    }
  }

private:
  void advance() { length_ += 1; }
  int64_t length_ = 64;
};

void shapeVariable(const std::vector<Tensor> &xs) {
  std::vector<int64_t> shape{64, 1};
  for (const auto &x : xs) {
    shape[1] = x.size(0);
    auto sum = torch::zeros(shape);
    sum += x;
    std::cout << sum.max().item<float>() << '\n';
  }
}

// ----- by the shape of a tensor that changes -----

void likeBatch(const std::vector<Tensor> &batches) {
  for (const auto &batch : batches) {
    auto sum = torch::zeros_like(batch);
    sum += batch;
    auto more = batch.new_zeros({batch.size(0), 64});
    more += sum;
    std::cout << more.max().item<float>() << '\n';
  }
}

void likeGrowing(Tensor x) {
  for (int i = 0; i < 10; ++i) {
    auto mask = torch::ones_like(x);
    std::cout << (x * mask).sum().item<float>() << '\n';
    x = torch::cat({x, x});
  }
}

void sizesOfGrowing(Tensor x) {
  for (int i = 0; i < 10; ++i) {
    auto mask = torch::ones({x.size(0), x.size(0)});
    std::cout << torch::matmul(mask, x).sum().item<float>() << '\n';
    x = torch::cat({x, x});
  }
}

// ----- other arguments -----

void deviceOfLoop(int count) {
  for (int index = 0; index < count; ++index) {
    torch::Device device(torch::kCUDA, index);
    auto sum = torch::zeros({64, 64}, device);
    sum += 1;
    std::cout << sum.max().item<float>() << '\n';
  }
}

void boundsOfLoop(Tensor x) {
  for (int64_t i = 0; i < 100; ++i) {
    auto positions = torch::arange(i, i + 100);
    auto grid = torch::linspace(0, i, 100);
    std::cout << (x * positions + grid).sum().item<float>() << '\n';
  }
}

// The helper is called with another shape each time.
static float sumOf(int64_t n) {
  auto ones = torch::ones({n, n});
  return ones.sum().item<float>();
}

void passesLoopVariable() {
  for (int64_t n = 1; n < 100; ++n)
    std::cout << sumOf(n) << '\n';
}

// The inner loop changes it.
void innerVariable(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    for (int64_t n = 64; n < 128; ++n) {
      auto mask = torch::ones({n, n});
      std::cout << torch::matmul(x, mask).sum().item<float>() << '\n';
    }
  }
}
