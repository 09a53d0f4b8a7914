// Character language model: pretraining, low-rank adaptation to short phrases, cached decoding, phrase lookup.
#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

// Resolved when the CUDA runtime is part of the process.
extern "C" int cudaMalloc(void** pointer, size_t bytes) __attribute__((weak));
extern "C" int cudaFree(void* pointer) __attribute__((weak));

namespace lm {

namespace F = torch::nn::functional;
using torch::Tensor;

struct Config {
  int64_t vocabulary = 0, width = 32, heads = 2, layers = 2, context = 48;
  int64_t rank = 4;
};

class Alphabet {
 public:
  explicit Alphabet(const std::string& text) : letters_("\n") {
    for (char c : text) {
      if (letters_.find(c) == std::string::npos) letters_.push_back(c);
    }
    for (size_t i = 0; i < letters_.size(); ++i) index_[letters_[i]] = static_cast<int64_t>(i);
  }
  std::vector<int64_t> encode(const std::string& s) const {
    std::vector<int64_t> ids(s.size());
    std::transform(s.begin(), s.end(), ids.begin(), [this](char c) {
      const auto it = index_.find(c);
      return it == index_.end() ? 0 : it->second;
    });
    return ids;
  }
  std::string decode(const Tensor& host) const {
    std::string s;
    const auto ids = host.accessor<int64_t, 1>();
    for (int64_t i = 0; i < ids.size(0); ++i) s.push_back(letters_[static_cast<size_t>(ids[i])]);
    return s;
  }
  int64_t size() const { return static_cast<int64_t>(letters_.size()); }

 private:
  std::string letters_;
  std::unordered_map<char, int64_t> index_;
};

// Keys and values of every layer in one block; each layer writes behind what is used.
class KvCache {
 public:
  KvCache(const Config& c, torch::Device device) {
    const std::vector<int64_t> shape{c.layers, 2, 1, c.heads, c.context, c.width / c.heads};
    const auto options = torch::dtype(torch::kFloat32).device(device);
    const auto bytes = static_cast<size_t>(c10::multiply_integers(shape)) * sizeof(float);  // RIGHT: torch-sizeof-dtype
    void* block = nullptr;
    if (device.is_cuda() && cudaMalloc != nullptr && cudaMalloc(&block, bytes) == 0) {  // EXPECT: torch-untracked-cuda-memory
      store_ = torch::from_blob(block, shape, [](void* p) { cudaFree(p); }, options);  // RIGHT: torch-blob-lifetime
    } else {
      store_ = torch::empty(shape, options);
    }
  }

  std::pair<Tensor, Tensor> append(int64_t layer, const Tensor& k, const Tensor& v) {
    const auto steps = k.size(2);
    auto keys = store_[layer][0], values = store_[layer][1];
    keys.narrow(2, used_, steps).copy_(k);  // RIGHT: torch-cat-in-loop
    values.narrow(2, used_, steps).copy_(v);
    return {keys.narrow(2, 0, used_ + steps), values.narrow(2, 0, used_ + steps)};
  }
  void advance(int64_t steps) { used_ += steps; }
  int64_t used() const { return used_; }

 private:
  Tensor store_;
  int64_t used_ = 0;
};

class AdaptedLinearImpl : public torch::nn::Module {
 public:
  AdaptedLinearImpl(int64_t in, int64_t out, int64_t rank)
      : base_(register_module("base", torch::nn::Linear(in, out))) {
    down_ = register_parameter("lora_down", torch::randn({rank, in}) / std::sqrt(static_cast<double>(in)));
    up_ = register_parameter("lora_up", torch::zeros({out, rank}));  // RIGHT: torch-reassigned-member
  }
  Tensor forward(const Tensor& x) { return base_->forward(x) + F::linear(F::linear(x, down_), up_); }

 private:
  torch::nn::Linear base_;
  Tensor down_, up_;
};
TORCH_MODULE(AdaptedLinear);

class BlockImpl : public torch::nn::Module {
 public:
  BlockImpl(const Config& c, int64_t layer) : heads_(c.heads), layer_(layer) {
    const auto norm = [&](const char* name) {
      return register_module(name, torch::nn::LayerNorm(torch::nn::LayerNormOptions({c.width})));
    };
    before_ = norm("before");
    after_ = norm("after");
    qkv_ = register_module("qkv", AdaptedLinear(c.width, 3 * c.width, c.rank));
    merge_ = register_module("merge", AdaptedLinear(c.width, c.width, c.rank));
    mlp_ = register_module("mlp", torch::nn::Sequential(torch::nn::Linear(c.width, 4 * c.width), torch::nn::GELU(),
                                                        torch::nn::Linear(4 * c.width, c.width)));
  }

  Tensor forward(const Tensor& x, KvCache* cache) {
    const auto b = x.size(0), t = x.size(1), w = x.size(2);
    const auto parts = qkv_->forward(before_->forward(x)).view({b, t, 3, heads_, w / heads_}).permute({2, 0, 3, 1, 4});
    const auto q = parts[0];
    auto k = parts[1], v = parts[2];
    const bool prefix = cache == nullptr || cache->used() == 0;
    if (cache != nullptr) std::tie(k, v) = cache->append(layer_, k, v);
    const auto mixed = at::scaled_dot_product_attention(q, k, v, {}, 0.0, prefix);  // RIGHT: torch-unfused-operation
    const auto h = x + merge_->forward(mixed.transpose(1, 2).reshape({b, t, w}));
    return h + mlp_->forward(after_->forward(h));
  }

 private:
  int64_t heads_, layer_;
  torch::nn::LayerNorm before_{nullptr}, after_{nullptr};
  AdaptedLinear qkv_{nullptr}, merge_{nullptr};
  torch::nn::Sequential mlp_{nullptr};
};
TORCH_MODULE(Block);

class CharModel : public torch::nn::Module {
 public:
  explicit CharModel(const Config& c) : config_(c) {
    tokens_ = register_module("tokens", torch::nn::Embedding(c.vocabulary, c.width));
    places_ = register_parameter("places", torch::randn({c.context, c.width}) * 0.02);
    blocks_ = register_module("blocks", torch::nn::ModuleList());
    for (int64_t i = 0; i < c.layers; ++i) blocks_->push_back(Block(c, i));
    final_ = register_module("final", torch::nn::LayerNorm(torch::nn::LayerNormOptions({c.width})));
    readout_ = register_module("readout", torch::nn::Linear(torch::nn::LinearOptions(c.width, c.vocabulary).bias(false)));
    readout_->weight = tokens_->weight;  // EXPECT: torch-reassigned-member
  }

  Tensor hidden(const Tensor& ids, KvCache* cache = nullptr) {
    const auto from = cache != nullptr ? cache->used() : 0;
    auto x = tokens_->forward(ids) + places_.narrow(0, from, ids.size(1));
    for (const auto& block : *blocks_) x = block->as<Block>()->forward(x, cache);
    if (cache != nullptr) cache->advance(ids.size(1));
    return final_->forward(x);
  }
  Tensor forward(const Tensor& ids, KvCache* cache = nullptr) { return readout_->forward(hidden(ids, cache)); }

  std::vector<Tensor> adapters() const {
    std::vector<Tensor> found;
    for (const auto& item : named_parameters()) {
      if (item.key().find("lora_") != std::string::npos) found.push_back(item.value());  // RIGHT: torch-parameter-copy
    }
    return found;
  }
  const Config& config() const { return config_; }

 private:
  Config config_;
  torch::nn::Embedding tokens_{nullptr};
  Tensor places_;
  torch::nn::ModuleList blocks_{nullptr};
  torch::nn::LayerNorm final_{nullptr};
  torch::nn::Linear readout_{nullptr};
};
using Model = std::shared_ptr<CharModel>;

void pretrain(const Model& model, const Alphabet& alphabet, const std::string& text, torch::Device device, int steps) {
  const auto ids = torch::tensor(alphabet.encode(text), torch::dtype(torch::kLong).device(device)).to(device);  // EXPECT: torch-redundant-transfer
  const int64_t block = 32, batch = 8;
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(3e-3));
  const auto offsets = torch::arange(block + 1, torch::device(device)).unsqueeze(0);
  model->train();
  for (int step = 1; step <= steps; ++step) {
    const auto starts = torch::randint(ids.size(0) - block - 1, {batch, 1}, offsets.options());
    const auto rows = ids.take(starts + offsets);
    optimizer.zero_grad();
    const auto logits = model->forward(rows.narrow(1, 0, block));  // RIGHT: torch-varying-shapes
    const auto loss = F::cross_entropy(logits.flatten(0, 1), rows.narrow(1, 1, block).flatten());
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    if (step % 20 == 0) std::printf("pretrain %d loss %.3f\n", step, loss.item<double>());  // RIGHT: torch-sync-in-loop
  }
}

class PhraseTuner {
 public:
  PhraseTuner(Model model, const Alphabet& alphabet, torch::Device device)
      : model_(std::move(model)), device_(device), encode_([&alphabet](const std::string& s) {
          return torch::tensor(alphabet.encode(s + "\n"), torch::kLong);
        }),
        optimizer_(model_->adapters(), torch::optim::AdamOptions(5e-3)) {}  // EXPECT: torch-unused-gradients

  double fit(const std::vector<std::string>& phrases, int epochs, size_t batch) {
    std::vector<Tensor> encoded(phrases.size());
    std::transform(phrases.begin(), phrases.end(), encoded.begin(), encode_);
    Tensor last;
    for (int epoch = 0; epoch < epochs; ++epoch) {
      for (size_t from = 0; from < encoded.size(); from += batch) {
        const std::vector<Tensor> group(encoded.begin() + static_cast<long>(from),
                                        encoded.begin() + static_cast<long>(std::min(from + batch, encoded.size())));
        const auto padded = torch::nn::utils::rnn::pad_sequence(group, true, -1).to(device_);  // EXPECT: torch-varying-shapes
        last = step(padded);
      }
    }
    return last.item<double>();
  }

 private:
  Tensor step(const Tensor& padded) {
    const auto width = padded.size(1) - 1;
    const auto targets = padded.narrow(1, 1, width);
    optimizer_.zero_grad();
    if (device_.is_cuda()) at::autocast::set_autocast_enabled(at::kCUDA, true);
    const auto logits = model_->forward(padded.narrow(1, 0, width).clamp_min(0));
    const auto loss = F::cross_entropy(logits.flatten(0, 1), targets.flatten(), F::CrossEntropyFuncOptions().ignore_index(-1));
    if (device_.is_cuda()) at::autocast::set_autocast_enabled(at::kCUDA, false);  // EXPECT: torch-autocast-cache
    loss.backward();
    optimizer_.step();
    return loss.detach();  // RIGHT: torch-retained-graph
  }

  Model model_;
  torch::Device device_;
  std::function<Tensor(const std::string&)> encode_;
  torch::optim::Adam optimizer_;
};

struct Sampling {
  double temperature = 0.8;
  int64_t top = 6;
  int64_t length = 24;
};

void restrict_to_top(Tensor& scores, int64_t k) {
  const auto smallest = std::get<0>(scores.topk(k)).narrow(-1, k - 1, 1);
  scores.masked_fill(scores.lt(smallest), -std::numeric_limits<float>::infinity());  // EXPECT: torch-discarded-result
}

std::string generate(const Model& model, const Alphabet& alphabet, const std::string& prompt, const Sampling& s,
                     torch::Device device) {
  torch::NoGradGuard no_grad;
  model->eval();
  KvCache cache(model->config(), device);
  const auto start = alphabet.encode(prompt);
  const auto given = static_cast<int64_t>(start.size());
  auto ids = torch::empty({1, given + s.length}, torch::dtype(torch::kLong).device(device));
  ids.narrow(1, 0, given).copy_(torch::tensor(start, torch::kLong).unsqueeze(0));
  int64_t seen = 0, filled = given;
  while (filled < ids.size(1)) {
    const auto logits = model->forward(ids.narrow(1, seen, filled - seen), &cache);  // RIGHT: torch-missing-no-grad
    auto scores = logits.select(1, logits.size(1) - 1);
    scores.div_(s.temperature);  // RIGHT: torch-discarded-result
    restrict_to_top(scores, s.top);
    ids.narrow(1, filled, 1).copy_(torch::multinomial(torch::softmax(scores, -1), 1));
    seen = filled++;
  }
  model->train();
  return alphabet.decode(ids[0].cpu());
}

// Remembers one vector per phrase; finds the phrase closest to a query.
class PhraseIndex {
 public:
  PhraseIndex(Model model, const Alphabet& alphabet, torch::Device device)
      : model_(std::move(model)), alphabet_(alphabet), device_(device) {}

  void add(const std::string& phrase) {
    const auto states = encode(phrase);
    vectors_.push_back(states.select(1, states.size(1) - 1));  // EXPECT: torch-view-pins-storage
    openings_.push_back(states.select(1, 0).clone());  // RIGHT: torch-view-pins-storage, torch-redundant-transfer
  }
  int64_t closest(const std::string& query) const {
    const auto states = encode(query);
    const auto ends = F::cosine_similarity(torch::cat(vectors_), states.select(1, states.size(1) - 1));
    const auto begins = F::cosine_similarity(torch::cat(openings_), states.select(1, 0));
    return ends.add(begins, 0.2).argmax().item<int64_t>();
  }

 private:
  Tensor encode(const std::string& s) const {
    torch::NoGradGuard no_grad;
    return model_->hidden(torch::tensor(alphabet_.encode(s), torch::dtype(torch::kLong).device(device_)).unsqueeze(0));
  }

  Model model_;
  const Alphabet& alphabet_;
  torch::Device device_;
  std::vector<Tensor> vectors_, openings_;
};

}  // namespace lm

int main() {
  torch::manual_seed(29);
  std::ostringstream text;
  for (int i = 0; i < 40; ++i) text << "the pump in hall " << i % 7 << " runs; valve " << i % 5 << " is closed and cold. ";
  const std::vector<std::string> phrases = {"valve is cold", "pump runs", "hall is closed and the valve runs",
                                            "the pump is cold", "closed", "valve and pump in the hall"};
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  const lm::Alphabet alphabet(text.str());
  lm::Config config;
  config.vocabulary = alphabet.size();
  const auto model = std::make_shared<lm::CharModel>(config);
  model->to(device);

  lm::pretrain(model, alphabet, text.str(), device, 60);
  lm::PhraseTuner tuner(model, alphabet, device);
  std::printf("tuned loss %.3f\n", tuner.fit(phrases, 4, 2));
  std::printf("sample: %s\n", lm::generate(model, alphabet, "the pump", {}, device).c_str());

  lm::PhraseIndex index(model, alphabet, device);
  for (const auto& p : phrases) index.add(p);
  const auto hit = index.closest("pump is cold");
  std::printf("closest: %s\n", phrases[static_cast<size_t>(hit)].c_str());
  return 0;
}
