// RUN: %check_torch %s torch-missing-no-grad %t
//
// The guard is the caller's, or nothing is known of the callers and nothing
// shows that it is evaluation.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// Only called under a guard.
static Tensor predict(Linear net, const Tensor &x) {
  net->eval();
  return net->forward(x);
}

void caller(Linear net, const std::vector<Tensor> &xs) {
  torch::NoGradGuard no_grad;
  for (const auto &x : xs)
    std::cout << predict(net, x) << '\n';
}

// Two calls deep; the guard is in a block around the call.
static float meanOf(Linear net, Tensor x) {
  return predict(net, x).mean().item<float>();
}

void deepCaller(Linear net, Tensor x) {
  float mean = 0;
  {
    c10::InferenceMode mode;
    mean = meanOf(net, x);
  }
  std::cout << mean << '\n';
}

// Public, but the callers in this file hold the guard.
class Player {
public:
  int64_t move(Tensor board) {
    net->eval();
    return net->forward(board).argmax().item<int64_t>();
  }

private:
  Linear net{8, 2};
};

void play(Player &player, Tensor board) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < 100; ++i)
    std::cout << player.move(board) << '\n';
}

// A lambda, only called under the guard.
void lambda(Linear net, Tensor x) {
  net->eval();
  auto answer = [&] { return net->forward(x).argmax().item<int64_t>(); };
  torch::NoGradGuard no_grad;
  std::cout << answer() << '\n';
}

// Public, callers elsewhere, no sign of evaluation: the option Strict speaks
// on these two (strict.cpp).
class Detector {
public:
  std::vector<float> detect(Tensor image);

private:
  Linear net{8, 2};
};

std::vector<float> Detector::detect(Tensor image) {
  auto boxes = net->forward(image).contiguous();
  return {boxes.data_ptr<float>(), boxes.data_ptr<float>() + boxes.numel()};
}

int64_t predictPublic(Linear net, Tensor x) {
  return net->forward(x).argmax().item<int64_t>();
}

// The result goes to an unknown caller, who may backward it.
Tensor logits(Linear net, Tensor x) { return net->forward(x); }

// A module made of modules, used for training in another file.
struct OuterImpl : torch::nn::Module {
  OuterImpl() {
    a = register_module("a", Linear(8, 8));
    b = register_module("b", Linear(8, 2));
  }
  Tensor forward(Tensor x) {
    auto hidden = torch::relu(a->forward(x));
    return b(hidden);
  }
  Linear a{nullptr}, b{nullptr};
};
TORCH_MODULE(Outer);
