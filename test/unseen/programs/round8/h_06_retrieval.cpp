// Bi-encoder for retrieval: contrastive fine-tuning in mixed precision, then an
// in-memory index that answers questions in bulk.
#include <torch/torch.h>

#include <ATen/DeviceAccelerator.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace retrieval {

using torch::Tensor;
using Clock = std::chrono::steady_clock;

struct Flags {
  bool amp_heads = false;
  bool refresh = false;
  bool save_memory = false;
};

struct Params {
  int64_t vocabulary = 2000;
  int64_t length = 24;
  int64_t width = 64;
  int64_t documents = 4096;
  int64_t batch = 32;
  int steps = 20;
};

class Mixed {
 public:
  explicit Mixed(c10::DeviceType kind) : kind_(kind), before_(at::autocast::is_autocast_enabled(kind)) {
    at::autocast::set_autocast_enabled(kind_, true);
    at::autocast::increment_nesting();
  }
  ~Mixed() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(kind_, before_);
  }
  Mixed(const Mixed&) = delete;
  Mixed& operator=(const Mixed&) = delete;

 private:
  c10::DeviceType kind_;
  bool before_;
};

struct Encoded {
  Tensor tokens;  // [n, length, width]
  Tensor pooled;  // [n, width]
};

struct EncoderImpl : torch::nn::Module {
  explicit EncoderImpl(const Params& p)
      : embed(p.vocabulary, p.width), up(p.width, 2 * p.width), down(2 * p.width, p.width), norm(torch::nn::LayerNormOptions({p.width})) {
    register_module("embed", embed);
    register_module("up", up);
    register_module("down", down);
    register_module("norm", norm);
  }
  Encoded forward(const Tensor& ids) {
    auto x = embed(ids);
    auto h = down(torch::gelu(up(norm(x))));
    return {h, h.mean(1)};
  }
  torch::nn::Embedding embed;
  torch::nn::Linear up, down;
  torch::nn::LayerNorm norm;
};
TORCH_MODULE(Encoder);

struct HeadsImpl : torch::nn::Module {
  HeadsImpl(int64_t width, int64_t kinds)
      : project(register_module("project", torch::nn::Linear(width, width))), tag(register_module("tag", torch::nn::Linear(width, kinds))) {}
  torch::nn::Linear project, tag;
};
TORCH_MODULE(Heads);

// Documents as the tokenizer has left them: 16 bit per token are enough.
class Corpus {
 public:
  Corpus(const Params& p, unsigned seed) : p_(p) {
    std::mt19937 rng(seed);
    raw_.resize(static_cast<size_t>(p.documents * p.length));
    for (auto& t : raw_) t = static_cast<int16_t>(rng() % static_cast<unsigned>(p.vocabulary));
    all_ = torch::from_blob(raw_.data(), {p.documents, p.length}, torch::kInt16);  // RIGHT: torch-blob-lifetime
  }
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;

  Tensor rows(int64_t from, int64_t n) const { return all_.narrow(0, from, n); }
  int64_t size() const { return p_.documents; }

 private:
  Params p_;
  std::vector<int16_t> raw_;
  Tensor all_;
};

Tensor contrastive(const Tensor& a, const Tensor& b) {
  namespace F = torch::nn::functional;
  auto x = F::normalize(a, F::NormalizeFuncOptions().dim(1)), y = F::normalize(b, F::NormalizeFuncOptions().dim(1));
  auto scores = torch::mm(x, y.t()) / 0.07;
  return torch::cross_entropy_loss(scores, torch::arange(scores.size(0), scores.options().dtype(torch::kLong)));
}

class FineTuning {
 public:
  FineTuning(Encoder encoder, Heads heads, torch::Device device, Flags flags)
      : encoder_(std::move(encoder)), heads_(std::move(heads)), device_(device), flags_(flags), optimizer_(all(), torch::optim::AdamWOptions(1e-3)) {}

  // Pairs of neighbouring halves of a document.
  double pretrain(const Corpus& corpus, const Params& p) {
    auto sum = torch::zeros({}, torch::device(device_));
    const bool before = at::autocast::is_autocast_enabled(device_.type());
    at::autocast::set_autocast_enabled(device_.type(), true);  // EXPECT: torch-autocast-cache
    for (int s = 0; s < p.steps; ++s) {
      const auto ids = corpus.rows(s * p.batch, p.batch).to(device_).to(torch::kInt64);  // RIGHT: torch-convert-before-transfer
      auto halves = ids.chunk(2, 1);
      const auto left = encoder_(halves[0]), right = encoder_(halves[1]);
      const auto loss = contrastive(heads_->project(left.pooled), heads_->project(right.pooled));
      sum += advance(loss);
      if (flags_.save_memory) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
    }
    at::autocast::set_autocast_enabled(device_.type(), before);
    if (flags_.save_memory) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
    return sum.item<double>() / p.steps;
  }

  double tag(const Corpus& corpus, const Params& p) {
    auto sum = torch::zeros({}, torch::device(device_));
    for (int s = 0; s < p.steps; ++s) {
      const auto raw = corpus.rows(s * p.batch, p.batch);
      const auto ids = raw.to(torch::kInt64).to(device_);  // EXPECT: torch-convert-before-transfer
      const auto wanted = ids.remainder(3);
      const auto e = encode(ids);
      Tensor logits;
      if (flags_.amp_heads) {
        logits = heads_->tag(e.tokens);  // EXPECT: torch-autocast-boundary
      } else {
        logits = heads_->tag(e.tokens.to(torch::kFloat32));  // RIGHT: torch-autocast-boundary
      }
      sum += advance(torch::cross_entropy_loss(logits.flatten(0, 1), wanted.flatten()));
    }
    return sum.item<double>() / p.steps;
  }

 private:
  Encoded encode(const Tensor& ids) {
    Mixed scope(device_.type());  // RIGHT: torch-autocast-cache
    return encoder_(ids);
  }

  Tensor advance(const Tensor& loss) {
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
    return loss.detach().to(torch::kFloat32);
  }

  std::vector<Tensor> all() {
    auto ps = encoder_->parameters();
    for (const auto& q : heads_->parameters()) ps.push_back(q);
    return ps;
  }

  Encoder encoder_;
  Heads heads_;
  torch::Device device_;
  Flags flags_;
  torch::optim::AdamW optimizer_;
};

using Times = std::map<std::string, double>;

class Stopwatch {
 public:
  Stopwatch(Times& sink, std::string what) : sink_(sink), what_(std::move(what)), start_(Clock::now()) {}
  ~Stopwatch() { sink_[what_] += std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  Times& sink_;
  std::string what_;
  Clock::time_point start_;
};

struct Answers {
  Tensor score, document;
};

// Between two searches the vectors live on the host, where they are saved from, too.
class Index {
 public:
  Index(Encoder encoder, Heads heads, torch::Device device) : encoder_(std::move(encoder)), heads_(std::move(heads)), device_(device) {
    encoder_->eval();
    heads_->eval();
  }

  void build(const Corpus& corpus, int64_t chunk) {
    torch::InferenceMode guard;
    std::vector<Tensor> parts;
    for (int64_t at = 0; at < corpus.size(); at += chunk) {
      const auto n = std::min(chunk, corpus.size() - at);
      const auto ids = corpus.rows(at, n).to(device_).to(torch::kInt64);  // RIGHT: torch-repeated-transfer
      parts.push_back(embed(ids).to(torch::kCPU));
    }
    vectors_ = torch::cat(parts);
    centroid_ = vectors_.mean(0);
    centroid_.div_(centroid_.norm());  // RIGHT: torch-inference-tensor
    count_ = vectors_.size(0);
  }

  // Takes in what came after the index was built.
  void follow(const Corpus& fresh, int64_t n) {
    Tensor mean;
    {
      torch::InferenceMode guard;
      mean = embed(fresh.rows(0, n).to(device_).to(torch::kInt64)).mean(0).to(torch::kCPU);
    }
    const auto rate = static_cast<double>(n) / static_cast<double>(n + count_);
    centroid_.lerp_(mean, rate);  // EXPECT: torch-inference-tensor
    count_ += n;
  }

  std::vector<Answers> search(const std::vector<Tensor>& questions, int64_t k, Times& times) {
    torch::NoGradGuard guard;
    std::vector<Answers> out;
    for (const auto& q : questions) {
      const auto query = embed(q);
      const auto keys = vectors_.to(device_);  // EXPECT: torch-repeated-transfer
      Tensor scores;
      {
        Stopwatch w(times, "score");  // EXPECT: torch-timing-without-sync
        scores = torch::mm(query, keys.t());
      }
      const auto calibrated = calibrate(scores);
      Stopwatch w(times, "select");  // RIGHT: torch-timing-without-sync
      const auto top = calibrated.topk(k, 1);
      out.push_back({std::get<0>(top).to(torch::kCPU), std::get<1>(top).to(torch::kCPU)});
    }
    return out;
  }

  // How much the documents of a shard resemble each other, block by block.
  Tensor redundancy(int64_t block) const {
    torch::NoGradGuard guard;
    const auto everything = vectors_.to(device_);
    auto most = torch::zeros({everything.size(0)}, everything.options());
    for (int64_t at = 0; at < everything.size(0); at += block) {
      const auto rows = everything.narrow(0, at, std::min(block, everything.size(0) - at));
      const auto columns = everything.t().contiguous();  // EXPECT: torch-noncontiguous-operand
      auto s = torch::mm(rows, columns);
      s.diagonal(at).zero_();
      most.narrow(0, at, rows.size(0)).copy_(s.amax(1));
    }
    return most;
  }

  Tensor centroid() const { return centroid_; }

 private:
  Tensor embed(const Tensor& ids) {
    auto v = heads_->project(encoder_(ids).pooled);
    return v / v.norm(2, 1, /*keepdim=*/true);
  }

  Tensor calibrate(const Tensor& scores) const {
    const auto local = scores.cpu();
    const auto spread = local.std(1, /*unbiased=*/true, /*keepdim=*/true);
    const auto z = (local - local.mean(1, /*keepdim=*/true)) / spread;
    return z.to(scores.device());  // EXPECT: torch-device-round-trip
  }

  Encoder encoder_;
  Heads heads_;
  torch::Device device_;
  Tensor vectors_, centroid_;
  int64_t count_ = 0;
};

// Counts per document over all answers, the most popular first.
std::unordered_map<int64_t, int> popularity(const std::vector<Answers>& answers) {
  std::unordered_map<int64_t, int> seen;
  for (const auto& a : answers) {
    const auto d = a.document.contiguous();  // RIGHT: torch-noncontiguous-operand
    const int64_t* p = d.data_ptr<int64_t>();
    for (int64_t i = 0; i < d.numel(); ++i) ++seen[p[i]];
  }
  return seen;
}

// Rewrites scores by rules that only the host knows, and hands them back.
Tensor boost(const Answers& a, const std::unordered_map<int64_t, int>& seen, torch::Device device) {
  auto factor = torch::ones_like(a.score);
  const int64_t* d = a.document.data_ptr<int64_t>();
  float* f = factor.data_ptr<float>();
  for (int64_t i = 0; i < factor.numel(); ++i) {
    const auto it = seen.find(d[i]);
    if (it != seen.end() && it->second > 3) f[i] = 0.5f;
  }
  return a.score.mul(factor).to(device);  // RIGHT: torch-device-round-trip
}

}  // namespace retrieval

int main(int argc, char** argv) {
  using namespace retrieval;
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    flags.amp_heads |= !std::strcmp(argv[i], "--amp-heads");
    flags.refresh |= !std::strcmp(argv[i], "--refresh");
    flags.save_memory |= !std::strcmp(argv[i], "--save-memory");
  }
  torch::manual_seed(41);
  const Params p;
  const torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
  flags.save_memory = flags.save_memory && device.is_cuda();

  const Corpus corpus(p, 1), fresh(p, 2);
  Encoder encoder(p);
  Heads heads(p.width, 3);
  encoder->to(device);
  heads->to(device);

  {
    FineTuning tuning(encoder, heads, device, flags);
    std::cout << "contrastive loss " << tuning.pretrain(corpus, p) << '\n';
    std::cout << "tagging loss " << tuning.tag(corpus, p) << '\n';
  }

  Index index(encoder, heads, device);
  index.build(corpus, 512);
  if (flags.refresh) index.follow(fresh, 256);

  std::vector<Tensor> questions;
  for (int64_t i = 0; i < 8; ++i) questions.push_back(fresh.rows(i * 64, 64).to(device).to(torch::kInt64));
  Times times;
  const auto answers = index.search(questions, 10, times);
  for (const auto& [what, ms] : times) std::cout << what << ' ' << (ms > 0 ? "measured" : "missing") << '\n';

  const auto seen = popularity(answers);
  std::vector<Tensor> boosted;
  for (const auto& a : answers) boosted.push_back(boost(a, seen, device));
  const auto best = torch::cat(boosted).softmax(1).max().item<double>();
  std::cout << seen.size() << " documents answered, best " << best << ", redundancy " << index.redundancy(1024).mean().item<double>()
            << ", centroid " << index.centroid().norm().item<double>() << '\n';
  return 0;
}
