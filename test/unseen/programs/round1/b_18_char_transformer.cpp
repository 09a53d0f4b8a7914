// A character transformer with a causal mask, trained on a toy text; generation uses a
// key/value cache.
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>

struct Config {
  int64_t vocab = 0;
  int64_t dim = 48;
  int64_t heads = 4;
  int64_t layers = 2;
  int64_t block = 64;
};

struct Cache {
  torch::Tensor k, v;
  void append(const torch::Tensor& nk, const torch::Tensor& nv) {
    k = k.defined() ? torch::cat({k, nk}, 2) : nk;
    v = v.defined() ? torch::cat({v, nv}, 2) : nv;
  }
};

class AttentionImpl : public torch::nn::Module {
 public:
  explicit AttentionImpl(const Config& c) : cfg(c) {
    qkv = register_module("qkv", torch::nn::Linear(c.dim, 3 * c.dim));
    proj = register_module("proj", torch::nn::Linear(c.dim, c.dim));
  }

  torch::Tensor forward(torch::Tensor x, Cache* cache) {
    const int64_t b = x.size(0), t = x.size(1);
    auto parts = qkv->forward(x).view({b, t, 3, cfg.heads, cfg.dim / cfg.heads}).permute({2, 0, 3, 1, 4});
    auto q = parts[0], k = parts[1], v = parts[2];
    if (cache) {
      cache->append(k, v);
      k = cache->k;
      v = cache->v;
    }
    auto score = q.matmul(k.transpose(-2, -1)) / std::sqrt(double(cfg.dim / cfg.heads));
    if (!cache) {
      auto mask = torch::full({64, 64}, -std::numeric_limits<float>::infinity()).triu(1);  // EXPECT: torch-allocation-in-loop
      score = score + mask.slice(0, 0, t).slice(1, 0, t);
    }
    auto y = score.softmax(-1).matmul(v).transpose(1, 2);
    at::IntArrayRef merged = {b, t, cfg.dim};  // EXPECT: torch-dangling-data
    if (std::getenv("NO_MERGE")) return proj->forward(y.contiguous().view(merged));
    const std::vector<int64_t> shape = {b, t, cfg.dim};
    at::IntArrayRef safe = shape;  // RIGHT: torch-dangling-data (over a vector with a name)
    return proj->forward(y.contiguous().view(safe));
  }

 private:
  Config cfg;
  torch::nn::Linear qkv{nullptr}, proj{nullptr};
};
TORCH_MODULE(Attention);

class CharFormerImpl : public torch::nn::Module {
 public:
  explicit CharFormerImpl(const Config& c) : cfg(c) {
    embed = register_module("embed", torch::nn::Embedding(c.vocab, c.dim));
    attn = register_module("attn", torch::nn::ModuleList());
    mlp = register_module("mlp", torch::nn::ModuleList());
    for (int64_t i = 0; i < c.layers; ++i) {
      attn->push_back(Attention(c));  // RIGHT: torch-fill-alias (a new one each time)
      mlp->push_back(torch::nn::Sequential(torch::nn::LayerNorm(torch::nn::LayerNormOptions({c.dim})),
                                           torch::nn::Linear(c.dim, 4 * c.dim), torch::nn::GELU(),
                                           torch::nn::Linear(4 * c.dim, c.dim)));
    }
    head = register_module("head", torch::nn::Linear(c.dim, c.vocab));
  }

  torch::Tensor forward(torch::Tensor ids, std::vector<Cache>* cache = nullptr, int64_t at = 0) {
    auto x = embed->forward(ids) + position.slice(0, at, at + ids.size(1));
    for (int64_t i = 0; i < cfg.layers; ++i) {
      x = x + attn[i]->as<Attention>()->forward(x, cache ? &(*cache)[i] : nullptr);
      x = x + mlp[i]->as<torch::nn::Sequential>()->forward(x);
    }
    return head->forward(x);
  }

 private:
  Config cfg;
  torch::nn::Embedding embed{nullptr};
  torch::nn::ModuleList attn{nullptr}, mlp{nullptr};
  torch::nn::Linear head{nullptr};
  torch::Tensor position = torch::randn({64, 48}).mul_(0.02).requires_grad_();  // EXPECT: torch-unregistered-module
};
TORCH_MODULE(CharFormer);

class Trainer {
 public:
  Trainer(CharFormer net, double lr) : net_(net), opt_(net->parameters(), torch::optim::AdamWOptions(lr)) {}

  void fit(const torch::Tensor& text, int64_t block, int steps) {
    opt_.zero_grad();
    const auto ramp = torch::arange(block);
    for (int i = 0; i < steps; ++i) {
      auto [x, y] = crop(text, ramp);
      auto logits = net_->forward(x);
      auto loss = torch::cross_entropy_loss(logits.flatten(0, 1), y.flatten());
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net_->parameters(), 1.0);
      opt_.step();  // EXPECT: torch-missing-zero-grad
      if (i % 20 == 0) std::cout << i << ": " << loss.item<double>() << "\n";
    }
  }

 private:
  static std::pair<torch::Tensor, torch::Tensor> crop(const torch::Tensor& text, const torch::Tensor& ramp) {
    auto start = torch::randint(text.size(0) - ramp.size(0) - 1, {16, 1}, torch::kLong);
    auto index = start + ramp;
    return {text.index({index}), text.index({index + 1})};
  }
  CharFormer net_;
  torch::optim::AdamW opt_;
};

int main() {
  torch::manual_seed(17);
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog. ";
  std::vector<int64_t> ids(text.begin(), text.end());
  auto data = torch::from_blob(ids.data(), {int64_t(ids.size())}, torch::kLong);  // RIGHT: torch-blob-lifetime (the vector lives to the end of main)
  Config cfg;
  cfg.vocab = 128;
  CharFormer net(cfg);
  Trainer(net, 2e-3).fit(data, 32, 60);

  torch::NoGradGuard guard;
  std::vector<Cache> cache(cfg.layers);
  auto next = torch::full({1, 1}, int64_t('t'), torch::kLong);
  std::string out = "t";
  for (int64_t i = 0; i < 40; ++i) {
    next = net->forward(next, &cache, i).select(1, -1).argmax(-1, true);  // RIGHT: torch-missing-no-grad (guarded), torch-retained-graph (the cache has no graph)
    out += char(next.item<int64_t>());
  }
  std::cout << out << std::endl;
}
