// Symbol sequences: a recurrent reader whose state goes from window to window, and highway layers.
#include <torch/torch.h>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <tuple>
#include <vector>

namespace {
constexpr int64_t kSymbols = 20, kHidden = 40, kBatch = 8;
struct ReaderImpl : torch::nn::Module {
  ReaderImpl()
      : embed(register_module("embed", torch::nn::Embedding(kSymbols, 16))),
        gru(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(16, kHidden).batch_first(true)))),
        out(register_module("out", torch::nn::Linear(kHidden, kSymbols))) {}
  std::tuple<torch::Tensor, torch::Tensor> forward(const torch::Tensor& symbols, const torch::Tensor& state) {
    auto [seen, next] = gru->forward(embed(symbols), state);
    return {out(drop(squash(seen))), next};
  }
  torch::nn::Embedding embed;
  torch::nn::GRU gru;
  torch::nn::Linear out;
  torch::nn::Dropout drop{0.2};  // EXPECT: torch-unregistered-module
  torch::nn::Tanh squash;        // RIGHT: torch-unregistered-module nothing to train, and no mode
};
TORCH_MODULE(Reader);

torch::Tensor loss_of(const torch::Tensor& logits, const torch::Tensor& window) {
  return torch::cross_entropy_loss(logits.flatten(0, 1), window.roll(-1, 1).flatten());
}

void train_stateful(Reader& net, const std::vector<torch::Tensor>& windows) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  torch::Tensor logits, state = torch::zeros({1, kBatch, kHidden});
  for (const auto& window : windows) {
    std::tie(logits, state) = net->forward(window, state);  // EXPECT: torch-undetached-hidden-state
    auto loss = loss_of(logits, window);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_truncated(Reader& net, const std::vector<torch::Tensor>& windows) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  torch::Tensor logits, state = torch::zeros({1, kBatch, kHidden});
  for (const auto& window : windows) {
    std::tie(logits, state) = net->forward(window, state.detach());  // RIGHT: torch-undetached-hidden-state detached on its way in
    optimizer.zero_grad();
    loss_of(logits, window).backward();
    optimizer.step();
  }
}

double listen(Reader& net, const std::vector<torch::Tensor>& windows) {
  net->eval();
  double surprise = 0;
  auto state = torch::zeros({1, kBatch, kHidden});
  for (const auto& window : windows) {
    auto [logits, next] = net->forward(window, state);  // EXPECT: torch-missing-no-grad
    surprise += loss_of(logits, window).item<double>();
    state = next;  // EXPECT: torch-undetached-hidden-state
  }
  return surprise;
}

double listen_lightly(Reader& net, const std::vector<torch::Tensor>& windows) {
  torch::NoGradGuard no_grad;
  net->eval();
  double surprise = 0;
  auto state = torch::zeros({1, kBatch, kHidden});
  for (const auto& window : windows) {
    auto [logits, next] = net->forward(window, state);  // RIGHT: torch-missing-no-grad guarded
    surprise += loss_of(logits, window).item<double>();
    state = next;  // RIGHT: torch-undetached-hidden-state there is no graph
  }
  return surprise;
}

torch::Tensor write(Reader& net, int64_t length) {
  c10::InferenceMode fast;
  auto text = torch::zeros({1, 1}, torch::kLong);
  for (int64_t i = 0; i < length; ++i) {
    auto logits = std::get<0>(net->forward(text, torch::zeros({1, 1, kHidden})));
    text = torch::cat({text, logits.select(1, -1).argmax(1, true)}, 1);  // RIGHT: torch-cat-in-loop each step reads the whole text
  }
  return text;
}

struct HighwayImpl : torch::nn::Module {
  HighwayImpl() : carry(register_module("carry", torch::nn::Linear(32, 32))), body(register_module("body", torch::nn::Linear(32, 32))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    auto gate = torch::sigmoid(carry(x));
    auto passed = gate * torch::tanh(body(x));
    gate.neg_();  // EXPECT: torch-inplace-saved
    return passed + x + gate * x;
  }
  torch::nn::Linear carry, body;
};
TORCH_MODULE(Highway);

struct ByewayImpl : torch::nn::Module {
  ByewayImpl() : carry(register_module("carry", torch::nn::Linear(32, 32))), body(register_module("body", torch::nn::Linear(32, 32))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    auto gate = torch::sigmoid(carry(x));
    auto wide = body(x);
    wide += x;  // RIGHT: torch-inplace-saved nobody needs what a linear layer returns
    return gate * wide + (1 - gate) * x;
  }
  torch::nn::Linear carry, body;
};
TORCH_MODULE(Byeway);

template <class Layer>
float train_layer(int steps) {
  Layer layer;
  torch::optim::SGD optimizer(layer->parameters(), 1e-2);
  torch::Tensor loss;
  for (int step = 0; step < steps; ++step) {
    auto x = torch::randn({16, 32});
    loss = torch::mse_loss(layer->forward(x), x.flip(1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return loss.template item<float>();
}

void keep_symbol(int64_t symbol, const std::filesystem::path& folder) {
  const auto table = torch::randn({256, 64});
  const auto whole = (folder / "symbol_a.pt").string(), small = (folder / "symbol_b.pt").string();
  torch::save(table[symbol], whole);          // EXPECT: torch-view-pins-storage
  torch::save(table[symbol].clone(), small);  // RIGHT: torch-view-pins-storage only the row is written
  std::remove(whole.c_str());
  std::remove(small.c_str());
}
}  // namespace

int main(int argc, char**) {
  torch::manual_seed(2);
  std::vector<torch::Tensor> windows;
  for (int i = 0; i < 20; ++i) windows.push_back(torch::randint(kSymbols, {kBatch, 12}, torch::kLong));
  Reader net;
  train_truncated(net, windows);
  if (argc > 1) train_stateful(net, windows);
  std::cout << listen(net, windows) << ' ' << listen_lightly(net, windows) << '\n' << write(net, 20).size(1) << '\n';
  std::cout << train_layer<Byeway>(40) << '\n';
  if (argc > 1) std::cout << train_layer<Highway>(40) << '\n';
  keep_symbol(7, std::filesystem::temp_directory_path());
}
