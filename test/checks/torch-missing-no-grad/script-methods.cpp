// RUN: %check_torch %s torch-missing-no-grad %t
//
// The methods of a TorchScript module are forward passes like its forward(). No
// fix: nobody sees here whether the module runs under a guard.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;

double byMethod(const std::string &path, Tensor x) {
  auto module = torch::jit::load(path);
  module.eval();
  return module.get_method("encode")({x}).toTensor().max().item<double>();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass
}

struct Speech {
  torch::jit::Module module;
  explicit Speech(const std::string &path) : module(torch::jit::load(path)) {}
  int64_t decode(Tensor features) {
    torch::jit::Method decode = module.get_method("decode");
    return decode({features}).toTensor().argmax().item<int64_t>();
    // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass
  }
};

void byName(const std::string &path, const std::vector<Tensor> &xs) {
  auto module = torch::jit::load(path);
  module.eval();
  for (const Tensor &x : xs)
    std::cout << module.run_method("score", x).toTensor().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'module'
}

// Methods that only say something: no tensor goes in, and none comes out.
int askNetwork(const std::string &path) {
  auto network = torch::jit::load(path);
  network.eval();
  std::vector<torch::jit::IValue> nothing;
  const int64_t planes = network.get_method("get_planes")(nothing).toInt();
  std::string game = network.get_method("get_game")(nothing).toString()->string();
  auto names = network.get_method("get_names")(nothing).toList();
  for (size_t i = 0; i < names.size(); ++i)
    game += names.get(i).toStringRef();
  auto answer = network.run_method("set_rate", 44100);
  return planes + answer.toInt() + game.size();
}
void prepare(const std::string &path) {
  auto network = torch::jit::load(path);
  network.eval();
  std::vector<torch::jit::IValue> arguments;
  arguments.push_back(16000);
  network.get_method("set_rate")(arguments);
  network.run_method("reset_memory");
  std::vector<torch::jit::IValue> selected;
  const int64_t most = network.attr("num_models").toInt();
  selected.push_back(most > 2 ? 2 : most);
  network.get_method("select_models")(selected);
}

// One that makes a tensor of nothing but a number generates something.
void generate(const std::string &path, int64_t steps) {
  auto network = torch::jit::load(path);
  network.eval();
  for (int64_t i = 0; i < steps; ++i)
    std::cout << network.run_method("sample", 64).toTensor().sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'network'
}
