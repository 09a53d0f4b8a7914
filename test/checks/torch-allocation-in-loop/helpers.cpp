// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// Functions, lambdas, methods and templates that are called in a loop.

#include <torch/torch.h>

#include <functional>

using torch::Tensor;
using torch::nn::Linear;

// The helper allocates, its callers loop.
static float contrast(const Tensor &image) {
  auto counts = torch::zeros({256, 256});
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'counts' once before the loop and refill it with 'zero_()'
  counts.index_put_({image}, 1);
  return counts.var().item<float>();
}

void callsHelper(const std::vector<Tensor> &images) {
  for (const auto &image : images)
    std::cout << contrast(image) << '\n';
}

// The shape is an argument that does not change.
static float masked(const Tensor &x, int64_t n) {
  auto mask = torch::full({n, n}, 0.5);
  // CHECK-MESSAGES: :[[@LINE-1]]:15: warning: 'torch::full' makes the same tensor in every iteration; create 'mask' once before the loop
  return (x * mask).sum().item<float>();
}

void passesShape(const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs)
    std::cout << masked(x, n) << '\n';
}

// A helper that makes the tensor for its caller.
static Tensor causalBias(int64_t n) {
  return torch::full({n, n}, -1e9);
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: 'torch::full' makes the same tensor in every iteration; create {{.*}} once before the loop
}

void usesResult(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto bias = causalBias(128);
    std::cout << (x + bias).softmax(-1).sum().item<float>() << '\n';
  }
}

// A helper that fills what the loop allocates.
static void accumulate(Tensor &into, const Tensor &x) {
  into += x;
  into.clamp_(0, 1);
}

void filledByHelper(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto sum = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    accumulate(sum, x);
    std::cout << sum.max().item<float>() << '\n';
  }
}

// A helper of a helper, in a loop of a lambda.
static float outer(const Tensor &image) { return contrast(image * 2); }

void twoLevels(const std::vector<Tensor> &images) {
  auto all = [&] {
    for (const auto &image : images)
      std::cout << outer(image) << '\n';
  };
  all();
}

void lambda(const std::vector<Tensor> &xs, int64_t n) {
  auto score = [n](const Tensor &x) {
    auto weights = torch::ones({n, 256});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::ones' makes the same tensor in every iteration; create 'weights' once before the loop
    return (x * weights).sum().item<float>();
  };
  for (const auto &x : xs)
    std::cout << score(x) << '\n';
}

void function(const std::vector<Tensor> &xs) {
  std::function<float(const Tensor &)> score = [](const Tensor &x) {
    auto sum = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'sum' once before the loop and refill it with 'zero_()'
    sum += x;
    return sum.max().item<float>();
  };
  for (const auto &x : xs)
    std::cout << score(x) << '\n';
}

// ----- members -----

// Options and shape are members that are set once.
class Histogram {
public:
  Histogram(int64_t bins, torch::Device device)
      : bins_(bins), options_(torch::dtype(torch::kFloat32).device(device)) {}

  void add(const std::vector<Tensor> &images) {
    for (const auto &image : images) {
      auto counts = torch::zeros({bins_, bins_}, options_);
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'counts' once before the loop and refill it with 'zero_()'
      counts.index_put_({image}, 1);
      entropy_ += counts.log1p().sum().item<double>();
    }
  }

private:
  int64_t bins_;
  torch::TensorOptions options_;
  double entropy_ = 0;
};

// forward() of a module is called in a loop of the file.
struct AttentionImpl : torch::nn::Module {
  AttentionImpl(int64_t length, int64_t width)
      : length(length), proj(register_module("proj", Linear(width, width))) {}

  Tensor forward(const Tensor &x) {
    auto bias = torch::full({length, length}, -1e9, x.device());
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::full' makes the same tensor in every iteration; create 'bias' once before the loop
    auto y = proj->forward(x);
    return torch::matmul((torch::matmul(y, y.t()) + bias).softmax(-1), y);
  }

  int64_t length;
  Linear proj;
};
TORCH_MODULE(Attention);

void trains(Attention net, torch::optim::SGD &opt, Tensor x) {
  for (int step = 0; step < 100; ++step) {
    opt.zero_grad();
    net->forward(x).sum().backward();
    opt.step();
  }
}

// ----- templates -----

template <class Net, class Loader>
void train(Net &net, Loader &loader, torch::optim::Optimizer &opt,
           torch::Device device) {
  constexpr int64_t batch = 6400;
  for (auto &example : loader) {
    auto real = torch::ones({batch, 1}, device);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'real' once before the loop
    opt.zero_grad();
    auto loss = torch::mse_loss(net->forward(example.data), real);
    loss.backward();
    opt.step();
  }
}

void instantiates(Linear net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> examples,
                  torch::optim::SGD &opt) {
  train(net, examples, opt, torch::kCPU);
  train(seq, examples, opt, torch::kCPU); // Twice instantiated, reported once.
}

template <int64_t N> float sumOver(const std::vector<Tensor> &xs) {
  float sum = 0;
  for (const auto &x : xs) {
    auto scratch = torch::zeros({N, N});
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'scratch' once before the loop and refill it with 'zero_()'
    sum += scratch.add_(x).sum().item<float>();
  }
  return sum;
}

float largeOne(const std::vector<Tensor> &xs) { return sumOver<128>(xs); }

// A macro of the user's.
#define ZEROS(rows, cols) torch::zeros({(rows), (cols)})

void inMacro(const std::vector<Tensor> &xs, int64_t n) {
  for (const auto &x : xs) {
    auto scratch = ZEROS(n, n);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'scratch' once before the loop and refill it with 'zero_()'
    scratch += x;
    std::cout << scratch.max().item<float>() << '\n';
  }
}
