// RUN: %check_torch %s torch-missing-no-grad %t

// A pass that main() makes once costs nothing that anybody notices, unless what
// goes in is large; one that is repeated does. Passes that one guard serves are
// one finding.
#include <torch/torch.h>
#include <chrono>

using torch::Tensor;
using torch::nn::Linear;

struct NetImpl : torch::nn::Module {
  NetImpl() : fc(register_module("fc", Linear(8, 2))) {}
  Tensor forward(Tensor x) { return torch::relu(fc->forward(x)); }
  Linear fc;
};
TORCH_MODULE(Net);

static void show(Net net, Tensor x) { std::cout << net->forward(x) << '\n'; }

template <class Model> void repeat(Model model, const Tensor &x) {
  for (int i = 0; i < 100; ++i)
    std::cout << model->forward(x) << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'model' keeps all intermediate results
}

// A function that others call: they may do so again and again.
Tensor predict(Net net, const Tensor &x) {
  net->eval();
  auto first = net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
  auto second = net->forward(x.flip(0)); // One guard serves both.
  return (first + second).argmax(1).clone();
}

// A network that asks itself for the shape of what it returns, once.
struct ProbingImpl : torch::nn::Module {
  ProbingImpl(int64_t side)
      : conv(register_module("conv", torch::nn::Conv2d(3, 8, 5))),
        features(flat(side)), fc(register_module("fc", Linear(features, 2))) {}
  Tensor forward(Tensor x) { return fc->forward(conv->forward(x).flatten(1)); }
  int64_t flat(int64_t side) {
    Tensor x = torch::zeros({1, 3, side, side});
    return conv->forward(x).numel();
  }
  torch::nn::Conv2d conv;
  int64_t features;
  Linear fc;
};
TORCH_MODULE(Probing);

void train(Probing net, torch::optim::SGD &opt, Tensor x) {
  opt.zero_grad();
  net->forward(x).sum().backward();
  opt.step();
}

// A network as its constructor has made it, asked once about numbers that are
// made up: to see of which shape the answer is.
void tryShapes() {
  Net net;
  auto x = torch::randn({100, 32, 8});
  auto y = net->forward(x);
  std::cout << x.sizes() << y.sizes() << '\n';
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(100, 4, 1));
  std::cout << conv->forward(torch::ones({64, 100, 8, 8}).to(torch::kDouble));
  torch::nn::MultiheadAttention attention(2, 1);
  auto [out, weights] = attention->forward(y, y, y);
  std::cout << out.sizes() << weights.sizes() << '\n';
}

// Again and again: how long it takes is what is wanted.
void timePasses(int64_t times) {
  Net net;
  auto x = torch::randn({100, 32, 8});
  for (int64_t i = 0; i < times; ++i)
    std::cout << net->forward(x).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' keeps all intermediate results
}

// The same where nobody reads the answers: only the clock is asked.
template <typename Pass> double seconds(Pass pass) {
  for (int i = 0; i < 5; ++i)
    pass();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i)
    pass();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
double timeLayer() {
  torch::nn::Conv2d conv(torch::nn::Conv2dOptions(3, 64, 3).padding(1));
  auto x = torch::randn({32, 3, 224, 224});
  return seconds([&] { auto y = conv->forward(x); }) + seconds([&] { conv->forward(x); });
}

// The answer is about something: what is asked about comes from elsewhere ...
void answer(const std::vector<float> &numbers) {
  Net net;
  auto x = torch::tensor(numbers).view({-1, 8});
  std::cout << net->forward(x).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
}

// ... or the network has learnt something.
void readWeights(Net &net, const std::string &path);
void askLoaded() {
  Net net, other;
  torch::load(net, "net.pt");
  std::cout << net->forward(torch::randn({100, 32, 8})).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
  readWeights(other, "other.pt");
  std::cout << other->forward(torch::randn({100, 32, 8})).sum().item<float>();
}
void askForAnswers() {
  Net net;
  net->eval();
  auto x = torch::randn({100, 32, 8});
  std::cout << net->forward(x).sum().item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
}

// Again and again.
static void shapes(Net net, const Tensor &images) {
  for (int i = 0; i < 100; ++i)
    std::cout << net->forward(images).sizes() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: forward pass of 'net' keeps all intermediate results
}

int main() {
  Net net;
  net->eval();
  show(net, torch::randn({2, 8}));
  auto once = net->forward(torch::ones({4, 8}));
  std::cout << once << '\n';
  auto ask = [&](Tensor x) { return net->forward(x).argmax(1); };
  std::cout << ask(torch::zeros({1, 8})) << '\n';
  repeat(net, torch::randn({2, 8}));
  {
    const int64_t count = 60000;
    auto images = torch::randn({count, 8});
    auto all = net->forward(images);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results
    std::cout << all.argmax(1) << '\n';
  }
  shapes(net, torch::randn({60000, 8}));
}

// A header tells others of these; what no line names is quiet (negatives-unreached.cpp).
Tensor (*const predicts)(Net, const Tensor &) = predict;
void (*const trains)(Probing, torch::optim::SGD &, Tensor) = train;
void (*const tries[])() = {tryShapes, askLoaded, askForAnswers};
void (*const times)(int64_t) = timePasses;
double (*const layer)() = timeLayer;
void (*const answers)(const std::vector<float> &) = answer;
