// RUN: %check_torch %s torch-missing-no-grad %t
//
// A sequence is generated: a network is run on what was chosen from its own
// results, and nothing with a graph leaves the function. The callers lie elsewhere.

#include <torch/torch.h>

#include <iostream>

using torch::Tensor;
using torch::nn::Linear;

struct DecoderImpl : torch::nn::Module {
  DecoderImpl() {
    embedding = register_module("embedding", torch::nn::Embedding(100, 16));
    cell = register_module("cell", torch::nn::GRU(16, 16));
    head = register_module("head", Linear(16, 100));
  }
  Tensor forward(Tensor tokens) {
    auto [out, state] = cell->forward(embedding->forward(tokens));
    return head->forward(out);
  }
  torch::nn::Embedding embedding{nullptr};
  torch::nn::GRU cell{nullptr};
  Linear head{nullptr};
};
TORCH_MODULE(Decoder);

// The token goes on as a tensor.
Tensor greedy(Decoder decoder, int64_t start, int length) {
  auto tokens = torch::full({1, 1}, start, torch::kLong);
  for (int i = 0; i < length; ++i) {
    auto logits = decoder->forward(tokens);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'decoder' keeps all intermediate results for a backward() that never comes (memory, time); put 'torch::NoGradGuard no_grad;' before it
    auto next = logits[-1].argmax(-1, /*keepdim=*/true);
    tokens = torch::cat({tokens, next}, 0);
  }
  return tokens;
}

// As the second result of max, into a tensor that is filled.
Tensor byMax(Decoder decoder, int length) {
  auto token = torch::zeros({1, 1}, torch::kLong);
  auto all = torch::zeros({length}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    auto best = torch::max(decoder->forward(token), -1);
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: forward pass of 'decoder' keeps all intermediate results for a backward() that never comes
    all[i] = std::get<1>(best).squeeze();
    token.fill_(std::get<1>(best).squeeze());
  }
  return all;
}

// As a number, kept in a container of the standard library.
std::vector<int64_t> asNumbers(Decoder decoder, std::vector<int64_t> prompt,
                               int length) {
  for (int i = 0; i < length; ++i) {
    auto logits = decoder->forward(torch::tensor(prompt).unsqueeze(1));
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'decoder' keeps all intermediate results for a backward() that never comes
    prompt.push_back(logits[-1].argmax().item<int64_t>());
  }
  return prompt;
}

// Sampled, with an embedding and a state of its own.
void sample(torch::nn::Embedding embedding, torch::nn::LSTMCell cell,
            Linear head, int length) {
  auto h = torch::zeros({1, 16}), c = torch::zeros({1, 16});
  auto token = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    std::tie(h, c) = cell->forward(embedding->forward(token), {{h, c}});
    auto p = torch::softmax(head->forward(h), -1);
    token = p.multinomial(1).squeeze(0);
    std::cout << token.item<int64_t>() << '\n';
  }
  // CHECK-MESSAGES: :[[@LINE-5]]:36: warning: forward pass of 'embedding' keeps all intermediate results for a backward() that never comes
}

// Through a tensor that is made for it and filled at once.
Tensor byFilling(Decoder decoder, int length) {
  auto tokens = torch::zeros({1, 1}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    auto logits = decoder->forward(tokens);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'decoder' keeps all intermediate results for a backward() that never comes
    auto next = logits[-1].argmax(-1);
    tokens = torch::cat({tokens, torch::ones({1, 1}).to(torch::kLong).fill_(next)});
  }
  return tokens;
}

// The encoder that feeds it is served by the same guard.
void translate(Linear encoder, Decoder decoder, Tensor source, int length) {
  auto memory = encoder->forward(source);
  auto token = torch::zeros({1, 1}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    auto logits = decoder->forward(token) + memory;
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'decoder' keeps all intermediate results for a backward() that never comes
    token = logits.argmax(-1);
  }
}
