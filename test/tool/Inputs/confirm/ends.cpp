// Keeps graphs, and then ends as its argument says.
#include <torch/torch.h>

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
  if (end == "name") std::cout << words[0] << std::endl;
  return 0;
}
