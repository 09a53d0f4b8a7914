// RUN: %check_torch %s torch-retained-graph %t
//
// The container is local to the iteration, cleared in it, or bounded.

#include <torch/torch.h>

#include <array>
#include <deque>
#include <map>

using torch::Tensor;
using torch::nn::Linear;

static void localToIteration(Linear net, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    std::vector<Tensor> parts;
    auto part = net->forward(x);
    parts.push_back(part);
    parts.push_back(net->forward(x.flip(0)));
    std::cout << torch::stack(parts).mean().item<float>() << '\n';
  }
}

static void clearedAtEnd(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> parts;
  for (const auto &x : xs) {
    parts.push_back(net->forward(x));
    parts.push_back(net->forward(x * 2));
    std::cout << torch::stack(parts).mean().item<float>() << '\n';
    parts.clear();
  }
}

static void clearedAtStart(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> parts;
  for (const auto &x : xs) {
    parts = {}; // Assigning an empty list clears too.
    auto part = net->forward(x);
    parts.push_back(part);
    std::cout << parts.back().sum().item<float>() << '\n';
  }
}

static void poppedAgain(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> stack;
  for (const auto &x : xs) {
    stack.push_back(net->forward(x));
    std::cout << stack.back().sum().item<float>() << '\n';
    stack.pop_back();
  }
}

static void boundedDeque(Linear net, const std::vector<Tensor> &xs) {
  std::deque<Tensor> window;
  for (const auto &x : xs) {
    auto output = net->forward(x);
    window.push_back(output);
    if (window.size() > 16)
      window.pop_front();
  }
}

static void boundedErase(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> window;
  for (const auto &x : xs) {
    if (window.size() >= 16)
      window.erase(window.begin());
    window.push_back(net->forward(x));
  }
}

// Eight graphs at most, however long the loop runs.
static void ringBuffer(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> ring(8);
  for (size_t i = 0; i < xs.size(); ++i)
    ring[i % 8] = net->forward(xs[i]);
}

// The sum starts anew in each iteration, and is dropped at its end.
static void resetSum(Linear net, const std::vector<Tensor> &xs) {
  Tensor sum;
  for (const auto &x : xs) {
    sum = torch::zeros({});
    sum += net->forward(x).mean();
    sum = sum + net->forward(x.flip(0)).mean();
    std::cout << sum.item<float>() << '\n';
    sum.reset();
  }
}

// Swapped with an empty one, and filled by a helper.
static void fill(std::vector<Tensor> &into, Linear net, const Tensor &x) {
  into.push_back(net->forward(x));
}

static void swapped(Linear net, const std::vector<Tensor> &xs) {
  std::vector<Tensor> parts;
  for (const auto &x : xs) {
    fill(parts, net, x);
    std::cout << parts.size() << '\n';
    std::vector<Tensor>().swap(parts);
  }
}

// A member, cleared by another method which is called in the same loop.
class Collector {
public:
  void add(const Tensor &x) { parts.push_back(net->forward(x)); }
  float finish() {
    const float mean = torch::stack(parts).mean().item<float>();
    parts.clear();
    return mean;
  }

private:
  Linear net{8, 2};
  std::vector<Tensor> parts;
};

static void collector(const std::vector<Tensor> &xs) {
  Collector c;
  for (const auto &x : xs) {
    c.add(x);
    std::cout << c.finish() << '\n';
  }
}

int main() {
  Linear net(8, 2);
  std::vector<Tensor> xs{torch::rand({4, 8}), torch::rand({4, 8})};
  localToIteration(net, xs);
  clearedAtEnd(net, xs);
  clearedAtStart(net, xs);
  poppedAgain(net, xs);
  boundedDeque(net, xs);
  boundedErase(net, xs);
  ringBuffer(net, xs);
  resetSum(net, xs);
  swapped(net, xs);
  collector(xs);
}
