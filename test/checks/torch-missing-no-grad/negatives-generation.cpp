// RUN: %check_torch %s torch-missing-no-grad %t
//
// Loops that look like the generation of a sequence. See generation.cpp.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;

// The caller gets the probabilities, and may train on them.
std::vector<Tensor> rollout(torch::nn::Embedding embedding, Linear head,
                            int length) {
  std::vector<Tensor> logProbs;
  auto token = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    auto p = torch::log_softmax(head->forward(embedding->forward(token)), -1);
    token = p.exp().multinomial(1).squeeze(-1);
    logProbs.push_back(p.gather(-1, token.unsqueeze(-1)));
  }
  return logProbs;
}

// The sequence is scored and trained on.
float reinforce(torch::nn::Embedding embedding, Linear head,
                torch::optim::Adam &opt, int length) {
  std::vector<Tensor> logProbs;
  auto token = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < length; ++i) {
    auto p = torch::log_softmax(head->forward(embedding->forward(token)), -1);
    token = p.argmax(-1);
    logProbs.push_back(p.max());
  }
  auto loss = -torch::stack(logProbs).sum();
  opt.zero_grad();
  loss.backward();
  opt.step();
  return loss.item<float>();
}

// No choice: the size of a result is no result.
int64_t bySize(Linear net, Tensor x) {
  for (int i = 0; i < 3; ++i) {
    auto y = net->forward(x);
    x = torch::ones({y.size(0), 8});
  }
  return x.size(0);
}

// One run on what another network has chosen.
int64_t cascade(Linear router, torch::nn::Embedding experts, Tensor x) {
  auto choice = router->forward(x).argmax(-1);
  return experts->forward(choice).argmax().item<int64_t>();
}

// A state that is carried without its history chooses nothing.
void stream(torch::nn::GRUCell cell, const std::vector<Tensor> &xs) {
  auto h = torch::zeros({1, 16});
  for (const Tensor &x : xs)
    h = cell->forward(x, h).detach();
}

// Guarded.
Tensor guarded(torch::nn::Embedding embedding, Linear head, int length) {
  torch::NoGradGuard no_grad;
  auto token = torch::zeros({1}, torch::kLong);
  for (int i = 0; i < length; ++i)
    token = head->forward(embedding->forward(token)).argmax(-1);
  return token;
}

// A method of the network, like its forward(): its callers hold the guard.
struct CaptionerImpl : torch::nn::Module {
  CaptionerImpl() {
    embedding = register_module("embedding", torch::nn::Embedding(100, 16));
    head = register_module("head", Linear(16, 100));
  }
  std::vector<int64_t> sample(int64_t start, int length) {
    std::vector<int64_t> tokens = {start};
    for (int i = 0; i < length; ++i) {
      auto last = torch::tensor({tokens.back()});
      auto logits = head->forward(embedding->forward(last));
      tokens.push_back(logits.argmax(-1).item<int64_t>());
    }
    return tokens;
  }
  torch::nn::Embedding embedding{nullptr};
  Linear head{nullptr};
};

// A decoder unrolled inside a forward: who runs it decides.
struct UnrolledImpl : torch::nn::Module {
  UnrolledImpl() {
    embedding = register_module("embedding", torch::nn::Embedding(100, 16));
    head = register_module("head", Linear(16, 100));
  }
  Tensor forward(Tensor token) {
    for (int i = 0; i < 4; ++i)
      token = head->forward(embedding->forward(token)).argmax(-1);
    return token;
  }
  torch::nn::Embedding embedding{nullptr};
  Linear head{nullptr};
};
