// RUN: %check_torch %s torch-allocation-in-loop %t -- -config="{CheckOptions: {torch-allocation-in-loop.Strict: true}}"
//
// Every kind of loop, and every factory with what refills its tensor.

#include <torch/torch.h>

#include <algorithm>

using torch::Tensor;
using torch::nn::Linear;

constexpr int64_t batch_size = 6400;

// ----- tensors whose contents never change -----

void forLoop(Linear net, torch::optim::SGD &opt, Tensor x) {
  for (int step = 0; step < 100; ++step) {
    auto labels = torch::ones({batch_size, 1});
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::ones' makes the same tensor in every iteration; create 'labels' once before the loop [torch-allocation-in-loop]
    auto loss = torch::mse_loss(net->forward(x), labels);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

void rangeFor(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    const Tensor mask = torch::full({128, 128}, 0.5);
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: 'torch::full' makes the same tensor in every iteration; create 'mask' once before the loop
    std::cout << (x * mask).sum().item<float>() << '\n';
  }
}

void whileLoop(Tensor x, int64_t n) {
  int step = 0;
  while (step < 100) {
    Tensor identity = torch::eye(n);
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: 'torch::eye' makes the same tensor in every iteration; create 'identity' once before the loop
    x = torch::matmul(x, identity);
    ++step;
  }
}

void doLoop(Tensor x, int64_t n) {
  int step = 0;
  do {
    auto positions = torch::arange(100 * 100);
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'torch::arange' makes the same tensor in every iteration; create 'positions' once before the loop
    x = x + positions;
  } while (++step < 100);
}

void gotoLoop(Tensor x, int64_t n) {
  int step = 0;
again:
  auto offset = torch::ones({n, n});
  // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::ones' makes the same tensor in every iteration; create 'offset' once before the loop
  x = x + offset;
  if (++step < 100)
    goto again;
  std::cout << x.sum().item<float>() << '\n';
}

void forEach(const std::vector<Tensor> &xs, int64_t n) {
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    auto grid = torch::linspace(0, 1, 10000);
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::linspace' makes the same tensor in every iteration; create 'grid' once before the loop
    std::cout << (x * grid).sum().item<float>() << '\n';
  });
}

// The tensor has no name.
void unnamed(Linear net, torch::optim::SGD &opt, Tensor x) {
  for (int step = 0; step < 100; ++step) {
    auto loss = torch::mse_loss(net->forward(x), torch::zeros({batch_size, 1}));
    // CHECK-MESSAGES: :[[@LINE-1]]:50: warning: 'torch::zeros' makes the same tensor in every iteration; create it once before the loop
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// ----- scratch: what is written is refilled -----

void zeros(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto counts = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'counts' once before the loop and refill it with 'zero_()' [torch-allocation-in-loop]
    counts += x;
    std::cout << counts.max().item<float>() << '\n';
  }
}

void ones(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    Tensor product = torch::ones({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'torch::ones' allocates a tensor of the same shape in every iteration; create 'product' once before the loop and refill it with 'fill_(1)'
    product *= x;
    product.mul_(x.t());
    std::cout << product.max().item<float>() << '\n';
  }
}

void full(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    Tensor lowest = torch::full({128, 64}, 1e9);
    // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: 'torch::full' allocates a tensor of the same shape in every iteration; create 'lowest' once before the loop and refill it with 'fill_(1e9)'
    lowest.index_put_({0}, x);
    std::cout << lowest.min().item<float>() << '\n';
  }
}

// What is in it at first does not matter.
void empty(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    Tensor product = torch::empty({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: 'torch::empty' allocates a tensor of the same shape in every iteration; create 'product' once before the loop [torch-allocation-in-loop]
    torch::matmul_out(product, x, x.t());
    std::cout << product.max().item<float>() << '\n';
  }
}

// Drawing again costs what making costs.
void uniformNoise(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto noise = torch::rand({128, 64});
    std::cout << (x + noise).max().item<float>() << '\n';
  }
}

void normalNoise(Linear generator, torch::optim::SGD &opt, Tensor target) {
  for (int step = 0; step < 100; ++step) {
    auto noise = torch::randn({batch_size, 100});
    auto loss = torch::mse_loss(generator->forward(noise), target);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// Elements are written one by one, few of them.
void elements(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto board = torch::zeros({128, 64});
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'board' once before the loop and refill it with 'zero_()'
    for (int64_t i = 0; i < 8; ++i)
      board[i] = x;
    std::cout << board.sum().item<float>() << '\n';
  }
}

void accessor(const std::vector<float> &values) {
  for (float value : values) {
    auto line = torch::zeros({8192});
    // CHECK-MESSAGES: :[[@LINE-1]]:17: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'line' once before the loop and refill it with 'zero_()'
    auto elements = line.accessor<float, 1>();
    for (int64_t i = 0; i < 4096; i += 7)
      elements[i] = value;
    std::cout << line.sum().item<float>() << '\n';
  }
}

// Written through a view that ends with the iteration.
void throughView(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    auto canvas = torch::zeros({3, 256, 256});
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: 'torch::zeros' allocates a tensor of the same shape in every iteration; create 'canvas' once before the loop and refill it with 'zero_()'
    auto corner = canvas.narrow(1, 0, 16).narrow(2, 0, 16);
    corner.copy_(x);
    std::cout << canvas.mean().item<float>() << '\n';
  }
}
