// RUN: %check_torch %s torch-missing-no-grad %t
//
// Parts of networks, and calls that look like a forward pass. All is quiet.

#include <torch/torch.h>

using torch::Tensor;

// The constructor makes the layers. That says nothing about who calls.
class Decoder {
public:
  Decoder() : embed_(10, 8), out_(8, 10) {}
  std::tuple<Tensor, Tensor> sample(const Tensor &x) {
    auto h = out_->forward(embed_->forward(x));
    return {h, h.argmax(1)};
  }

private:
  torch::nn::Embedding embed_;
  torch::nn::Linear out_;
};

// Returns a module; picks a state.
struct GeneratorImpl : torch::nn::Module {
  GeneratorImpl() { register_module("body", body); }
  torch::nn::Sequential layers() { return body; }
  Tensor first(const Tensor &states) { return states.permute({1, 0, 2})[0]; }
  Tensor forward(const Tensor &x) { return body->forward(x); }
  torch::nn::Sequential body{torch::nn::Linear(8, 8)};
};
TORCH_MODULE(Generator);

// The graph is what the program is about.
static void printGraph(Generator &g) {
  auto y = g->forward(torch::rand({4, 8}));
  std::cout << y.grad_fn()->name() << '\n';
}

// A method of a network beside its forward(): that its layers are made in its
// constructor says nothing of who runs it.
struct ScorerImpl : torch::nn::Module {
  ScorerImpl() : hidden(8, 8), out(8, 2) {
    register_module("hidden", hidden);
    register_module("out", out);
  }
  Tensor forward(Tensor x) { return out->forward(torch::relu(hidden->forward(x))); }
  int64_t best(Tensor x) {
    auto scores = out->forward(torch::relu(hidden->forward(x)));
    return scores.argmax().item<int64_t>();
  }
  torch::nn::Linear hidden, out;
};

int main() {
  Generator g;
  std::cout << g->layers()->size() << '\n';
  auto states = torch::rand({4, 2, 8});
  std::cout << g->first(states).sum().item<float>() << '\n';
  printGraph(g);
  ScorerImpl scorer;
  Decoder decoder;
  // Of what nobody names nothing would be said.
  const auto named = std::make_tuple(&ScorerImpl::best, &Decoder::sample);
  torch::nn::Dropout dropout(0.5);
  std::cout << dropout->forward(states).sum().item<float>() << '\n';
}
