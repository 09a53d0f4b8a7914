#pragma once

#include <torch/torch.h>

#include <tuple>

namespace charlm {

using State = std::tuple<torch::Tensor, torch::Tensor>;

// Predicts the next character: embedding, LSTM, linear layer.
struct CharRNNImpl : torch::nn::Module {
  CharRNNImpl(int64_t vocabulary, int64_t hidden, int64_t layers)
      : hidden_(hidden), layers_(layers) {
    embedding = register_module(
        "embedding", torch::nn::Embedding(vocabulary, hidden));
    lstm = register_module(
        "lstm",
        torch::nn::LSTM(torch::nn::LSTMOptions(hidden, hidden)
                            .num_layers(layers)
                            .batch_first(true)));
    head = register_module("head", torch::nn::Linear(hidden, vocabulary));
  }

  // tokens [batch, time] -> logits [batch, time, vocabulary] and the state
  // after the last token.
  std::tuple<torch::Tensor, State> forward(
      const torch::Tensor& tokens, const State& state) {
    auto [output, next] = lstm->forward(embedding->forward(tokens), state);
    return {head->forward(output), next};
  }

  State initial_state(int64_t batch) const {
    auto options = head->weight.options().requires_grad(false);
    return {
        torch::zeros({layers_, batch, hidden_}, options),
        torch::zeros({layers_, batch, hidden_}, options)};
  }

  torch::nn::Embedding embedding{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::Linear head{nullptr};

 private:
  int64_t hidden_;
  int64_t layers_;
};
TORCH_MODULE(CharRNN);

// The same values without their history.
inline State detach(const State& state) {
  return {std::get<0>(state).detach(), std::get<1>(state).detach()};
}

}  // namespace charlm
