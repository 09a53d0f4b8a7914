// RUN: %check_torch %s torch-missing-no-grad %t
//
// In a program, a function that no line names and no header declares never
// runs: its passes cost nothing. What such a function calls may be run from
// elsewhere as well.
// UNNAMED: compareAll, compareByHand, outer

#include <torch/script.h>
#include <torch/torch.h>

static double score(torch::nn::Linear &net, const torch::Tensor &x) {
  net->eval();
  return net->forward(x).sum().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net'
}

// The only call is commented out.
void compareByHand(const std::string &path, const torch::Tensor &x) {
  auto module = torch::jit::load(path);
  for (int i = 0; i < 100; ++i)
    std::cout << module.forward({x}).toTensor() << '\n';
}

static void compareAll(const std::string &path, const torch::Tensor &x) {
  auto module = torch::jit::load(path);
  const auto ask = [&] { return module.forward({x}).toTensor(); };
  for (int i = 0; i < 100; ++i)
    std::cout << ask() << '\n';
}

// Two that nobody enters, one behind the other.
static double inner(torch::jit::Module &module, const torch::Tensor &x) {
  return module.forward({x}).toTensor().item<double>();
}
void outer(const std::string &path, const torch::Tensor &x) {
  auto module = torch::jit::load(path);
  for (int i = 0; i < 100; ++i)
    std::cout << inner(module, x) << '\n';
}

// It is named: a table of commands runs it.
static void serve(const std::string &path) {
  auto module = torch::jit::load(path);
  for (int i = 0; i < 100; ++i)
    std::cout << module.forward({torch::ones({64, 512})}).toTensor() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'module'
}
static void (*const commands[])(const std::string &) = {serve};

// Another program's plugin, by its name.
extern "C" void serveByName(const char *path) {
  auto module = torch::jit::load(path);
  for (int i = 0; i < 100; ++i)
    std::cout << module.forward({torch::ones({64, 512})}).toTensor() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'module'
}

int main(int count, char **words) {
  // compareByHand("net.pt", torch::ones({1, 8}));
  torch::nn::Linear net(8, 1);
  double sum = 0;
  for (int i = 0; i < 100; ++i)
    sum += score(net, torch::ones({16, 8}));
  commands[count % 1](words[0]);
  return sum > 0;
}
