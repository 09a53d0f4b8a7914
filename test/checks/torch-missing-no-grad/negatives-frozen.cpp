// RUN: %check_torch %s torch-missing-no-grad %t
//
// Models that record nothing: all parameters frozen, frozen scripted modules,
// packages compiled ahead of time; and functions that only look like a model.

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

void allFrozen(Linear net, Tensor x) {
  net->eval();
  for (auto &p : net->parameters())
    p.requires_grad_(false);
  std::cout << net->forward(x) << '\n';
}

// A fixed filter: tensors that need no gradient have taken the place of all its parameters.
static torch::nn::Conv2d filter(const Tensor &kernel) {
  torch::nn::Conv2d made(torch::nn::Conv2dOptions(1, 1, 5).padding(2));
  made->weight = kernel.reshape({1, 1, 5, 5}).clone().detach();
  made->bias = torch::zeros({1});
  return made;
}

// It has no bias that could need one.
static torch::nn::Conv2d unbiased(const Tensor &kernel) {
  auto options = torch::nn::Conv2dOptions(1, 1, 5).padding(2);
  torch::nn::Conv2d made(options.bias(false));
  made->weight = kernel.reshape({1, 1, 5, 5}).clone().detach();
  return made;
}

void unbiasedFilter(const Tensor &kernel, const std::vector<Tensor> &images) {
  torch::nn::Conv2d blur = unbiased(kernel);
  blur->eval();
  for (const Tensor &image : images)
    std::cout << blur->forward(image).sum().item<float>() << '\n';
}

void filtered(const Tensor &kernel, const std::vector<Tensor> &images) {
  torch::nn::Conv2d blur = filter(kernel);
  blur->eval();
  for (const Tensor &image : images)
    std::cout << blur->forward(image).sum().item<float>() << '\n';
}

// The helper freezes, by name and value.
static void freeze(torch::nn::Module &module) {
  for (auto &item : module.named_parameters())
    item.value().set_requires_grad(false);
}

void frozenByHelper(Linear net, Tensor x) {
  freeze(*net);
  net->eval();
  std::cout << net->forward(x) << '\n';
}

// Frozen in the constructor, used in a method.
class Features {
public:
  Features() {
    net->eval();
    for (auto p : net->parameters())
      p.set_requires_grad(false);
  }
  float operator()(Tensor x) { return net->forward(x).sum().item<float>(); }

private:
  Linear net{8, 2};
};

static void frozenScript(const std::string &path, Tensor x) {
  auto module = torch::jit::load(path);
  module.eval();
  module = torch::jit::freeze(module);
  std::cout << module.forward({x}).toTensor() << '\n';
}

static void frozenAtOnce(const std::string &path, Tensor x) {
  auto loaded = torch::jit::load(path);
  loaded.eval();
  auto frozen = torch::jit::freeze(loaded);
  std::cout << frozen.forward({x}).toTensor() << '\n';
}

static void frozenScriptParameters(const std::string &path, Tensor x) {
  auto module = torch::jit::load(path);
  module.eval();
  for (auto p : module.parameters())
    p.set_requires_grad(false);
  std::cout << module.forward({x}).toTensor() << '\n';
}

// Compiled ahead of time: there is no autograd in it.
static void package(const std::string &path, Tensor x) {
  torch::inductor::AOTIModelPackageLoader loader(path);
  std::vector<Tensor> inputs{x};
  std::cout << loader.run(inputs)[0] << '\n';
}

// No parameters: nothing records.
static void noParameters(Tensor x) {
  torch::nn::ReLU relu;
  relu->eval();
  std::cout << relu->forward(x) << '\n';
}

// Not a module of LibTorch.
struct Cursor {
  void eval() {}
  int forward(int n) { return position += n; }
  int position = 0;
};

static void notAModule(Cursor &cursor) {
  cursor.eval();
  std::cout << cursor.forward(3) << '\n';
}

// Of what nobody names nothing would be said.
const auto named = std::make_tuple(&filtered, &unbiasedFilter, &allFrozen, &frozenByHelper);

int main(int argc, char **argv) {
  auto x = torch::rand({4, 8});
  Features features;
  Cursor cursor;
  std::cout << features(x) << '\n';
  frozenScript(argv[1], x);
  frozenAtOnce(argv[1], x);
  frozenScriptParameters(argv[1], x);
  package(argv[2], x);
  noParameters(x);
  notAModule(cursor);
}
