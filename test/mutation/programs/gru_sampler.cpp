// A character GRU with cells of its own; trained with the state carried on from chunk
// to chunk, then sampled.
#include <torch/torch.h>

#include <iostream>
#include <string>
#include <vector>

namespace {

class CellImpl : public torch::nn::Module {
 public:
  CellImpl(int64_t inputs, int64_t hidden)
      : gates(inputs + hidden, 2 * hidden), candidate(inputs + hidden, hidden) {
    register_module("gates", gates);
    register_module("candidate", candidate);
  }

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& h) {
    auto both = torch::sigmoid(gates(torch::cat({x, h}, 1))).chunk(2, 1);
    auto next = torch::tanh(candidate(torch::cat({x, both[0] * h}, 1)));
    return both[1] * h + (1 - both[1]) * next;
  }

  torch::nn::Linear gates, candidate;
};
TORCH_MODULE(Cell);

class CharGRUImpl : public torch::nn::Module {
 public:
  explicit CharGRUImpl(int64_t hidden)
      : embedding(96, hidden), first(hidden, hidden), second(hidden, hidden),
        head(hidden, 96) {
    register_module("embedding", embedding);
    register_module("first", first);
    register_module("second", second);
    register_module("head", head);
  }

  // One step in time: tokens [batch] -> logits; the states are replaced.
  torch::Tensor forward(const torch::Tensor& tokens, std::vector<torch::Tensor>& states) {
    states[0] = first->forward(embedding->forward(tokens), states[0]);
    states[1] = second->forward(states[0], states[1]);
    return head->forward(states[1]);
  }

  torch::nn::Embedding embedding;
  Cell first, second;
  torch::nn::Linear head;
};
TORCH_MODULE(CharGRU);

std::vector<torch::Tensor> fresh(int64_t batch, int64_t hidden) {
  return {torch::zeros({batch, hidden}), torch::zeros({batch, hidden})};
}

void cut(std::vector<torch::Tensor>& states) {
  for (auto& state : states)
    state = state.detach();
}

// Trains on chunks of 32 characters.
double train(CharGRU& model, const torch::Tensor& text, torch::optim::Optimizer& optimizer) {
  model->train();
  auto states = fresh(text.size(0), 128);
  double sum = 0;
  int chunks = 0;
  for (int64_t start = 0; start + 33 < text.size(1); start += 32) {
    std::vector<torch::Tensor> losses;
    for (int64_t t = start; t < start + 32; ++t) {
      auto logits = model->forward(text.select(1, t), states);
      losses.push_back(torch::cross_entropy_loss(logits, text.select(1, t + 1)));
    }
    auto loss = torch::stack(losses).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    cut(states);
    sum += loss.item<double>();
    ++chunks;
  }
  return sum / chunks;
}

class Sampler {
 public:
  explicit Sampler(CharGRU model) : model_(model), states_(fresh(1, 128)) {}

  int64_t next(int64_t last) {
    const torch::NoGradGuard no_grad;
    auto logits = model_->forward(torch::tensor({last}), states_);
    return torch::softmax(logits / 0.8, 1).multinomial(1).item<int64_t>();
  }

 private:
  CharGRU model_;
  std::vector<torch::Tensor> states_;
};

// How well the model foresees a text that goes on for ever: the state is never reset.
struct Monitor {
  explicit Monitor(CharGRU watched) : model(watched) {}

  void see(int64_t token) {
    torch::NoGradGuard no_grad;
    hidden = model->first->forward(model->embedding->forward(torch::tensor({token})),
                                   hidden);
    activity += hidden.abs().mean().item<float>();
  }

  CharGRU model;
  torch::Tensor hidden = torch::zeros({1, 128});
  float activity = 0;
};

}  // namespace

int main() {
  torch::manual_seed(3);
  CharGRU model(128);
  torch::optim::Adam optimizer(model->parameters(), 2e-3);
  auto text = torch::randint(96, {16, 4096}, torch::kInt64);
  for (int epoch = 0; epoch < 20; ++epoch)
    std::cout << epoch << ' ' << train(model, text, optimizer) << std::endl;

  model->eval();
  Sampler sampler(model);
  Monitor monitor(model);
  int64_t last = 0;
  std::string out;
  for (int i = 0; i < 2000; ++i) {
    last = sampler.next(last);
    monitor.see(last);
    out += static_cast<char>(' ' + last);
  }
  std::cout << out << '\n' << monitor.activity / 2000 << '\n';
}
