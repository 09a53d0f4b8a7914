// A one-block transformer that learns to repeat what it saw eight tokens ago.
#include <torch/torch.h>
#include <cmath>
#include <iostream>

constexpr int64_t kVocab = 12, kDim = 32, kLen = 160, kLag = 8;

static torch::Tensor sinusoids(int64_t length, int64_t dim) {
  auto pos = torch::arange(length, torch::kFloat64).unsqueeze(1);
  auto freq = torch::exp(torch::arange(0, dim, 2, torch::kFloat64) * (-std::log(1e4) / dim));
  return torch::stack({(pos * freq).sin(), (pos * freq).cos()}, 2).flatten(1);
}

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    qkv = register_module("qkv", torch::nn::Linear(kDim, 3 * kDim));
    bias = register_parameter("bias", torch::zeros({kLag + 1}));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto parts = qkv->forward(x).chunk(3, -1);
    auto scores = parts[0].matmul(parts[1].transpose(1, 2)) / std::sqrt(static_cast<double>(kDim));
    auto mask = torch::ones({kLen, kLen}, torch::kBool).triu(1);  // EXPECT: torch-allocation-in-loop
    scores = scores.masked_fill(mask, -1e9);
    scores.diagonal(-kLag, 1, 2).add_(bias[kLag]);  // RIGHT: torch-leaf-inplace (a view of a result, not of a leaf)
    return mix(torch::softmax(scores, -1).matmul(parts[2]));
  }

  torch::nn::Linear qkv{nullptr};
  torch::nn::Linear mix{kDim, kDim};  // EXPECT: torch-unregistered-module
  torch::Tensor bias;
};
TORCH_MODULE(Attention);

struct RepeaterImpl : torch::nn::Module {
  RepeaterImpl()
      : embed(register_module("embed", torch::nn::Embedding(kVocab, kDim))),
        attention(register_module("attention", Attention())),
        norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({kDim})))),
        head(register_module("head", torch::nn::Linear(kDim, kVocab))),
        positions(sinusoids(kLen, kDim)) {}

  torch::Tensor forward(const torch::Tensor& ids) {
    auto x = embed(ids) + positions.to(torch::kFloat32);  // EXPECT: torch-repeated-transfer
    x = x * gain;
    x = norm(x + attention(x));
    return head(drop(x));
  }

  torch::nn::Embedding embed;
  Attention attention;
  torch::nn::LayerNorm norm;
  torch::nn::Linear head;
  torch::nn::Dropout drop{register_module("drop", torch::nn::Dropout(0.1))};  // RIGHT: torch-unregistered-module (registered where it is declared)
  torch::Tensor gain = torch::ones({kDim}, torch::requires_grad());  // EXPECT: torch-unregistered-module
  torch::Tensor positions;  // RIGHT: torch-unregistered-module (a constant, it requires no gradient)
};
TORCH_MODULE(Repeater);

int main() {
  torch::manual_seed(16);
  Repeater model;
  torch::optim::AdamW opt(model->parameters(), torch::optim::AdamWOptions(3e-3).weight_decay(0.01));
  auto ids = torch::randint(kVocab, {8 * 40, kLen}, torch::kLong);
  auto target = torch::roll(ids, kLag, 1);

  double shown = 0;
  for (int step = 0; step < 40; ++step) {
    auto rows = torch::indexing::Slice(step * 8, step * 8 + 8);
    auto logits = model->forward(ids.index({rows}));
    auto loss = torch::cross_entropy_loss(logits.flatten(0, 1), target.index({rows}).flatten());
    loss.backward();
    opt.step();  // EXPECT: torch-missing-zero-grad
    if (step % 10 != 9)
      continue;
    shown = loss.item<double>();
    std::cout << "step " << step + 1 << " loss " << shown << "\n";
    opt.zero_grad();
  }

  model->eval();
  torch::NoGradGuard no_grad;
  auto guess = model->forward(ids.slice(0, 0, 8)).argmax(-1);  // RIGHT: torch-missing-no-grad (under the guard)
  auto right = guess.eq(target.slice(0, 0, 8)).to(torch::kFloat32).mean().item<double>();
  std::cout << "accuracy " << right << ", parameters " << model->parameters().size() << "\n";
  return 0;
}
