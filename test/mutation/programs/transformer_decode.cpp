// A small decoder-only transformer: training with a causal mask that is made once, and
// greedy decoding with a cache of keys and values.
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

namespace {

struct Config {
  int64_t vocabulary = 512;
  int64_t width = 128;
  int64_t heads = 4;
  int64_t layers = 2;
  int64_t context = 64;
};

struct Cache {
  torch::Tensor keys, values;
};

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(const Config& config)
      : heads(config.heads), norm1(torch::nn::LayerNormOptions({config.width})),
        norm2(torch::nn::LayerNormOptions({config.width})),
        qkv(config.width, 3 * config.width), projection(config.width, config.width),
        up(config.width, 4 * config.width), down(4 * config.width, config.width) {
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("qkv", qkv);
    register_module("projection", projection);
    register_module("up", up);
    register_module("down", down);
  }

  torch::Tensor forward(torch::Tensor x, const torch::Tensor& mask, Cache* cache) {
    const auto batch = x.size(0), time = x.size(1), width = x.size(2);
    auto parts = qkv->forward(norm1->forward(x)).chunk(3, -1);
    for (auto& part : parts)
      part = part.view({batch, time, heads, width / heads}).transpose(1, 2);
    auto keys = parts[1], values = parts[2];
    if (cache) {
      if (cache->keys.defined()) {
        keys = torch::cat({cache->keys, keys}, 2);
        values = torch::cat({cache->values, values}, 2);
      }
      cache->keys = keys;
      cache->values = values;
    }
    auto scores = parts[0].matmul(keys.transpose(-2, -1)) / std::sqrt(width / heads);
    if (mask.defined())
      scores = scores + mask;
    auto mixed = torch::softmax(scores, -1).matmul(values).transpose(1, 2);
    x = x + projection->forward(mixed.reshape({batch, time, width}));
    return x + down->forward(torch::gelu(up->forward(norm2->forward(x))));
  }

  int64_t heads;
  torch::nn::LayerNorm norm1, norm2;
  torch::nn::Linear qkv, projection, up, down;
};
TORCH_MODULE(Block);

struct DecoderImpl : torch::nn::Module {
  explicit DecoderImpl(const Config& config)
      : tokens(config.vocabulary, config.width), positions(config.context, config.width),
        head(config.width, config.vocabulary) {
    register_module("tokens", tokens);
    register_module("positions", positions);
    register_module("head", head);
    for (int64_t i = 0; i < config.layers; ++i)
      blocks.push_back(register_module("block" + std::to_string(i), Block(config)));
  }

  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& places,
                        const torch::Tensor& mask, std::vector<Cache>* caches = nullptr) {
    auto x = tokens->forward(ids) + positions->forward(places);
    for (size_t i = 0; i < blocks.size(); ++i)
      x = blocks[i]->forward(x, mask, caches ? &(*caches)[i] : nullptr);
    return head->forward(x);
  }

  torch::nn::Embedding tokens, positions;
  torch::nn::Linear head;
  std::vector<Block> blocks;
};
TORCH_MODULE(Decoder);

torch::Tensor causal_mask(int64_t time, torch::Device device) {
  auto closed = torch::full({time, time}, -std::numeric_limits<float>::infinity(), device);
  return closed.triu(1);
}

void train(Decoder model, const torch::Tensor& corpus, const Config& config,
           torch::Device device) {
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(3e-4));
  auto mask = causal_mask(config.context, device);
  auto places = torch::arange(config.context, torch::kInt64).to(device);
  auto text = corpus.to(device);
  auto smoothing = torch::full({config.vocabulary}, 1.0 / config.vocabulary, device);
  std::vector<float> losses;
  model->train();
  for (int64_t step = 0; step < 2000; ++step) {
    const auto start = step * config.context % (text.size(1) - config.context - 1);
    auto input = text.narrow(1, start, config.context);
    auto target = text.narrow(1, start + 1, config.context);
    auto logits = model->forward(input, places, mask);
    auto log_p = torch::log_softmax(logits, -1);
    auto likelihood = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1);
    auto loss = -(0.9 * likelihood + 0.1 * log_p.matmul(smoothing)).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<float>());
    if (step % 100 == 99) {
      std::cout << step << ' ' << losses.back() << '\n';
      losses.clear();
    }
  }
}

std::vector<int64_t> decode(Decoder model, int64_t first, const Config& config,
                            torch::Device device) {
  torch::NoGradGuard no_grad;
  model->eval();
  std::vector<Cache> caches(config.layers);
  std::vector<int64_t> ids{first};
  auto input = torch::empty({1, 1}, torch::TensorOptions().dtype(torch::kInt64).device(device));
  auto place = torch::empty_like(input);
  while (static_cast<int64_t>(ids.size()) < config.context) {
    input.fill_(ids.back());
    place.fill_(static_cast<int64_t>(ids.size()) - 1);
    auto logits = model->forward(input, place, {}, &caches);
    ids.push_back(logits.flatten().argmax().item<int64_t>());
  }
  return ids;
}

double perplexity(Decoder model, const torch::Tensor& corpus, const Config& config,
                  torch::Device device) {
  torch::InferenceMode guard;
  model->eval();
  const auto mask = causal_mask(config.context, device);
  const auto places = torch::arange(config.context, torch::kInt64).to(device);
  double total = 0;
  int64_t windows = 0;
  for (int64_t start = 0; start + config.context < corpus.size(1);
       start += config.context, ++windows) {
    auto input = corpus.narrow(1, start, config.context).to(device);
    auto target = corpus.narrow(1, start + 1, config.context).to(device);
    auto logits = model->forward(input, places, mask);
    total += torch::cross_entropy_loss(logits.flatten(0, 1), target.flatten()).item<double>();
  }
  return std::exp(total / windows);
}

}  // namespace

int main() {
  const Config config;
  const torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
  auto corpus = torch::randint(config.vocabulary, {8, 65536}, torch::kInt64);
  Decoder model(config);
  model->to(device);
  train(model, corpus, config, device);
  std::cout << perplexity(model, corpus.narrow(0, 0, 1), config, device) << '\n';
  for (auto id : decode(model, 1, config, device))
    std::cout << id << ' ';
  std::cout << '\n';
}
