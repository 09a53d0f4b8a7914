// Keeps graphs, and then ends as its argument says.
#include <torch/torch.h>

#include <ATen/record_function.h>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

static torch::Tensor keep(int times) {
  auto weight = torch::ones({8, 8}, torch::requires_grad());
  std::vector<torch::Tensor> kept;
  for (int i = 0; i < times; ++i) {
    kept.push_back(weight * i);  // kept
  }
  return torch::stack(kept).sum();
}

// Nobody calls it.
torch::Tensor unused() {
  torch::Tensor sum = torch::zeros({8});
  for (int i = 0; i < 100; ++i) {
    sum += torch::ones({8});  // never
  }
  return sum;
}

static int seen = 0;

static std::unique_ptr<at::ObserverContext> count_one(const at::RecordFunction&) {
  ++seen;
  return nullptr;
}

// Operations, and the ranges of a backward: how many of them an observer of the
// program's own sees in one step of a training.
static int observed(bool by_thread) {
  torch::nn::Linear layer(4, 2);
  torch::optim::Adam adam(layer->parameters(), 0.1);
  const auto step = [&] {
    layer->forward(torch::ones({3, 4})).sum().backward();
    adam.step();
  };
  step();
  at::RecordFunctionCallback observer(count_one);
  observer.scopes({at::RecordScope::FUNCTION});
  const auto handle =
      by_thread ? at::addThreadLocalCallback(observer) : at::addGlobalCallback(observer);
  step();
  at::removeCallback(handle);
  return seen;
}

int main(int count, char** words) {
  const std::string end = count > 1 ? words[1] : "";
  std::cout << "sum " << keep(40).item<float>() << std::endl;
  if (end == "echo") {
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << "out " << line << '\n';
      std::cerr << "err " << line << '\n';
    }
    return 3;
  }
  if (end == "wait") {
    std::cout << "ready" << std::endl;
    for (auto x = torch::ones({4});; x = x + 1) usleep(1000);
  }
  if (end == "abort") std::abort();
  if (end == "segv") raise(SIGSEGV);
  if (end == "_exit") _exit(4);
  if (end == "throw") torch::ones({2}) + torch::ones({3});
  if (end == "observe") std::cout << "saw " << observed(false) << std::endl;
  if (end == "observe-thread") std::cout << "saw " << observed(true) << std::endl;
  if (end == "name") std::cout << words[0] << std::endl;
  return 0;
}
