// RUN: %check_torch %s torch-undetached-hidden-state %t
//
// Layer after layer is no recurrence, and elements that are all detached carry
// nothing. All is quiet.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::LSTMCell;
using State = std::tuple<Tensor, Tensor>;

static void shapes(torch::nn::Sequential &net) {
  Tensor x = torch::rand({1, 8});
  for (auto &layer : *net.ptr()) {
    x = layer.forward(x);
    std::cout << x.sizes() << '\n';
  }
}

static void shapesOfOneKind(torch::nn::Sequential &net) {
  Tensor x = torch::rand({1, 8});
  for (auto &module : net->modules(false))
    if (auto layer = dynamic_cast<torch::nn::LinearImpl *>(module.get())) {
      x = layer->forward(x);
      std::cout << x.sizes() << '\n';
    }
  Tensor y = torch::rand({1, 8});
  for (auto &module : net->children()) {
    auto layer = std::dynamic_pointer_cast<torch::nn::LinearImpl>(module);
    y = layer->forward(y);
    std::cout << y.sizes() << '\n';
  }
  Tensor z = torch::rand({1, 8});
  for (size_t i = 0; i < net->size(); ++i) {
    auto *layer = net[i]->as<torch::nn::Linear>();
    z = layer->forward(z);
    std::cout << z.sizes() << '\n';
  }
}

void byBindings(LSTMCell cell, const std::vector<Tensor> &xs) {
  std::vector<State> states(2, State(torch::zeros({4, 8}), torch::zeros({4, 8})));
  for (const auto &x : xs) {
    for (auto &[h, c] : states) {
      h = h.detach();
      c = c.detach();
    }
    Tensor in = x;
    for (auto &state : states) {
      state = cell->forward(in, state);
      in = std::get<0>(state);
    }
    in.sum().backward();
  }
}

void byAlgorithm(torch::nn::GRUCell cell, const std::vector<Tensor> &xs) {
  std::vector<Tensor> hs(2, torch::zeros({4, 8}));
  for (const auto &x : xs) {
    std::transform(hs.begin(), hs.end(), hs.begin(),
                   [](const Tensor &h) { return h.detach(); });
    for (size_t i = 0; i < hs.size(); ++i)
      hs[i] = cell->forward(x, hs[i]);
    hs[1].sum().backward();
  }
}

int main() {
  torch::nn::Sequential net(torch::nn::Linear(8, 8), torch::nn::Linear(8, 8));
  shapes(net);
  shapesOfOneKind(net);
}
