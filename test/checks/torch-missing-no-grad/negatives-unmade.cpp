// RUN: %check_torch %s torch-missing-no-grad %t
//
// In a program: a class of which no line makes an object, and methods that no line
// names. Their passes cost nobody anything.
// UNNAMED: compareAll, run

#include <torch/script.h>
#include <torch/torch.h>

// Only main_old.cpp, which is long gone, has made one.
class OldScorer {
public:
  explicit OldScorer(const std::string &path) : module(torch::jit::load(path)) { module.eval(); }
  double run(const std::vector<torch::Tensor> &xs) {
    double sum = 0;
    for (const auto &x : xs)
      sum += score(x);
    return sum;
  }
  virtual double score(const torch::Tensor &x) {
    return module.forward({x}).toTensor().item<double>();
  }

private:
  torch::jit::Module module;
};

struct Server {
  explicit Server(const std::string &path) : module(torch::jit::load(path)) {}
  void answer(const std::vector<torch::Tensor> &questions) {
    for (const auto &x : questions)
      std::cout << module.forward({x}).toTensor() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'module'
  }
  // Nobody compares any more.
  void compareAll(const std::vector<torch::Tensor> &questions) {
    for (const auto &x : questions)
      std::cout << module.forward({x}).toTensor() << '\n';
  }
  // A table has it.
  void report(const torch::Tensor &x) {
    for (int i = 0; i < 100; ++i)
      std::cout << module.forward({x}).toTensor() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'module'
  }
  torch::jit::Module module;
};

// It is made in code that this configuration leaves out.
class Fallback {
public:
  void serve(const std::string &path) {
    auto module = torch::jit::load(path);
    for (int i = 0; i < 100; ++i)
      std::cout << module.forward({torch::ones({64, 512})}).toTensor() << '\n';
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'module'
  }
};

int main(int count, char **words) {
#ifdef WITHOUT_SERVER
  Fallback fallback;
  fallback.serve(words[1]);
#endif
  Server server(words[1]);
  std::vector<torch::Tensor> questions(count, torch::ones({64, 512}));
  server.answer(questions);
  void (Server::*const action)(const torch::Tensor &) = &Server::report;
  (server.*action)(questions[0]);
}
