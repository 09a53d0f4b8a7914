// Sequence embeddings of proteins: a small transformer trained with masked
// residues and an in-batch contrastive term, judged by family retrieval.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace prot {

using torch::Tensor;

constexpr int64_t kLength = 32;
constexpr int64_t kPad = 0;
constexpr int64_t kMask = 1;
const std::string kResidues = "ACDEFGHIKLMNPQRSTVWY";
constexpr int64_t kFirstResidue = 2;

struct Settings {
  int64_t dim = 32;
  int64_t heads = 4;
  int64_t layers = 2;
  int64_t families = 6;
  int64_t per_family = 16;
  int64_t batch = 24;
  int epochs = 3;
  double learning_rate = 2e-3;
  double temperature = 0.1;
};

struct Protein {
  std::string id;
  std::string sequence;
  int64_t family;
};

struct Sample {
  Tensor tokens;
  int64_t family;
};

struct Batch {
  Tensor tokens;    // [N, kLength]
  Tensor families;  // [N]
};

class Corpus : public torch::data::datasets::Dataset<Corpus, Sample> {
 public:
  static Corpus simulate(const Settings& s, unsigned seed) {
    std::mt19937 rng(seed);
    std::uniform_int_distribution<size_t> residue(0, kResidues.size() - 1), length(20, static_cast<size_t>(kLength));
    std::bernoulli_distribution mutate(0.2);
    Corpus corpus;
    for (int64_t f = 0; f < s.families; ++f) {
      std::mt19937 ancestor_rng(static_cast<unsigned>(f) + 1000u);
      std::string ancestor;
      for (int64_t i = 0; i < kLength; ++i) ancestor.push_back(kResidues[residue(ancestor_rng)]);
      for (int64_t k = 0; k < s.per_family; ++k) {
        auto sequence = ancestor.substr(0, length(rng));
        for (auto& c : sequence) {
          if (mutate(rng)) c = kResidues[residue(rng)];
        }
        corpus.proteins_.push_back({"P" + std::to_string(f) + "_" + std::to_string(k), sequence, f});
      }
    }
    return corpus;
  }

  Sample get(size_t index) override { return encode(proteins_.at(index)); }
  torch::optional<size_t> size() const override { return proteins_.size(); }
  const std::vector<Protein>& proteins() const { return proteins_; }

  static Sample encode(const Protein& protein) {
    std::array<int64_t, kLength> ids{};
    const auto n = std::min<size_t>(protein.sequence.size(), ids.size());
    std::transform(protein.sequence.begin(), protein.sequence.begin() + static_cast<std::ptrdiff_t>(n), ids.begin(),
                   [](char c) { return kFirstResidue + static_cast<int64_t>(kResidues.find(c)); });
    return {torch::from_blob(ids.data(), {kLength}, torch::kInt64).clone(), protein.family};  // RIGHT: torch-blob-lifetime
  }

 private:
  std::vector<Protein> proteins_;
};

class Collate : public torch::data::transforms::Collation<Batch, std::vector<Sample>> {
 public:
  Batch apply_batch(std::vector<Sample> samples) override {
    std::vector<Tensor> tokens;
    std::vector<int64_t> families;
    for (auto& sample : samples) {
      tokens.push_back(std::move(sample.tokens));
      families.push_back(sample.family);
    }
    return {torch::stack(tokens), torch::tensor(families)};
  }
};

class AttentionBlockImpl : public torch::nn::Module {
 public:
  AttentionBlockImpl(int64_t dim, int64_t heads) : heads_(heads) {
    before_ = register_module("before", torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim})));
    after_ = register_module("after", torch::nn::LayerNorm(torch::nn::LayerNormOptions({dim})));
    qkv_ = register_module("qkv", torch::nn::Linear(dim, 3 * dim));
    out_ = register_module("out", torch::nn::Linear(dim, dim));
    mlp_ = register_module("mlp", torch::nn::Sequential(torch::nn::Linear(dim, 2 * dim), torch::nn::GELU(),
                                                        torch::nn::Dropout(0.1), torch::nn::Linear(2 * dim, dim)));
  }

  Tensor forward(const Tensor& x, const Tensor& keep) {
    const auto n = x.size(0), l = x.size(1), d = x.size(2);
    auto parts = qkv_->forward(before_->forward(x)).view({n, l, 3, heads_, d / heads_}).permute({2, 0, 3, 1, 4});
    auto mixed = torch::scaled_dot_product_attention(parts.select(0, 0), parts.select(0, 1), parts.select(0, 2), keep);
    auto h = x + out_->forward(mixed.transpose(1, 2).reshape({n, l, d}));
    return h + mlp_->forward(after_->forward(h));
  }

 private:
  int64_t heads_;
  torch::nn::LayerNorm before_{nullptr}, after_{nullptr};
  torch::nn::Linear qkv_{nullptr}, out_{nullptr};
  torch::nn::Sequential mlp_{nullptr};
};
TORCH_MODULE(AttentionBlock);

class ResidueEncoderImpl : public torch::nn::Module {
 public:
  explicit ResidueEncoderImpl(const Settings& s)
      : embedding_(register_module("embedding", torch::nn::Embedding(vocabulary(), s.dim))),
        blocks_(register_module("blocks", torch::nn::ModuleList())),
        norm_(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({s.dim})))),
        projection_(register_module("projection", torch::nn::Linear(s.dim, s.dim))) {
    for (int64_t i = 0; i < s.layers; ++i) blocks_->push_back(AttentionBlock(s.dim, s.heads));
    auto place = torch::arange(kLength, torch::kFloat32).unsqueeze(1);
    auto rate = torch::arange(0, s.dim, 2, torch::kFloat32).mul_(-std::log(10000.0) / static_cast<double>(s.dim)).exp_();
    positions_ = torch::cat({torch::sin(place * rate), torch::cos(place * rate)}, 1);
    scale_ = register_buffer("scale", torch::full({1}, std::sqrt(static_cast<double>(s.dim))));
  }

  static int64_t vocabulary() { return kFirstResidue + static_cast<int64_t>(kResidues.size()); }

  // Adds rows for residues outside the standard twenty (U, O, X, ...).
  void extend_alphabet(int64_t extra) {
    const auto& old = embedding_->weight;
    torch::nn::Embedding wider(old.size(0) + extra, old.size(1));
    {
      torch::NoGradGuard no_grad;
      wider->weight.narrow(0, 0, old.size(0)).copy_(old);  // RIGHT: torch-leaf-inplace
    }
    embedding_ = replace_module("embedding", wider);  // RIGHT: torch-reassigned-member
  }

  Tensor hidden(const Tensor& tokens) {
    const auto keep = tokens.ne(kPad).view({tokens.size(0), 1, 1, tokens.size(1)});
    auto scaled = embedding_->forward(tokens) * scale_;  // RIGHT: torch-device-mismatch
    auto x = scaled + positions_;  // EXPECT: torch-device-mismatch
    for (const auto& block : *blocks_) x = block->as<AttentionBlock>()->forward(x, keep);
    return norm_->forward(x);
  }

  Tensor residue_logits(const Tensor& tokens) {
    return torch::linear(hidden(tokens), embedding_->weight);  // RIGHT: torch-parameter-copy
  }

  Tensor embed(const Tensor& tokens) {
    const auto keep = tokens.ne(kPad).unsqueeze(-1);
    auto pooled = (hidden(tokens) * keep).sum(1) / keep.sum(1);
    return torch::nn::functional::normalize(projection_->forward(pooled),
                                            torch::nn::functional::NormalizeFuncOptions().dim(1));
  }

 private:
  torch::nn::Embedding embedding_;
  torch::nn::ModuleList blocks_;
  torch::nn::LayerNorm norm_;
  torch::nn::Linear projection_;
  Tensor positions_, scale_;
};
TORCH_MODULE(ResidueEncoder);

// Puts a module into evaluation mode and back into whatever it was in.
class Evaluating {
 public:
  explicit Evaluating(torch::nn::Module& module) : module_(module), training_(module.is_training()) {
    module_.eval();  // RIGHT: torch-eval-mode-not-restored
  }
  ~Evaluating() { module_.train(training_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  torch::nn::Module& module_;
  bool training_;
};

// Similar residues share probability, in the spirit of a BLOSUM matrix.
Tensor substitution_matrix(int64_t vocabulary) {
  static const std::vector<std::string> groups{"AVLIMC", "FWYH", "STNQ", "KR", "DE", "GP"};
  auto matrix = torch::eye(vocabulary);
  auto cell = matrix.accessor<float, 2>();
  for (const auto& group : groups) {
    for (const char a : group) {
      for (const char b : group) {
        if (a == b) continue;
        cell[kFirstResidue + static_cast<int64_t>(kResidues.find(a))]
            [kFirstResidue + static_cast<int64_t>(kResidues.find(b))] = 0.05f;
      }
    }
  }
  return matrix / matrix.sum(1, true);
}

Tensor embed_all(ResidueEncoder& model, const Corpus& corpus, torch::Device device) {  // RIGHT: torch-dataset-copied
  Evaluating evaluating(*model);
  std::vector<Tensor> parts, pending;
  for (const auto& protein : corpus.proteins()) {
    pending.push_back(Corpus::encode(protein).tokens);
    if (pending.size() == 32) {
      parts.push_back(model->embed(torch::stack(pending).to(device)));
      pending.clear();
    }
  }
  if (!pending.empty()) parts.push_back(model->embed(torch::stack(pending).to(device)));
  return torch::cat(parts);  // RIGHT: torch-cat-in-loop
}

Tensor families_of(const Corpus& corpus, torch::Device device) {
  std::vector<int64_t> families;
  for (const auto& protein : corpus.proteins()) families.push_back(protein.family);
  return torch::tensor(families, torch::TensorOptions().dtype(torch::kInt64).device(device));
}

// Share of proteins whose nearest neighbour belongs to the same family.
double retrieval_accuracy(ResidueEncoder& model, Corpus corpus, torch::Device device) {  // EXPECT: torch-dataset-copied
  const auto embeddings = embed_all(model, corpus, device);  // EXPECT: torch-missing-no-grad
  const auto families = families_of(corpus, device);
  auto similarity = embeddings.mm(embeddings.t());
  similarity.fill_diagonal_(-2.0);
  const auto nearest = similarity.argmax(1);
  const auto hits = families.index_select(0, nearest).eq(families).sum();
  const auto count = embeddings.cpu().size(0);  // EXPECT: torch-transfer-for-metadata
  return static_cast<double>(hits.item<int64_t>()) / static_cast<double>(count);
}

class Pretrainer {
 public:
  Pretrainer(const Settings& settings, ResidueEncoder model, torch::Device device, int64_t vocabulary)
      : settings_(settings),
        model_(std::move(model)),
        device_(device),
        substitution_(substitution_matrix(vocabulary)),
        pairs_(torch::arange(settings.batch, torch::TensorOptions().dtype(torch::kInt64).device(device))) {}

  template <typename Loader>
  void fit(Loader& loader, const Corpus& held_out) {
    model_->train();
    for (int epoch = 0; epoch < settings_.epochs; ++epoch) {
      torch::optim::AdamW optimizer(model_->parameters(),  // EXPECT: torch-optimizer-in-loop
                                    torch::optim::AdamWOptions(settings_.learning_rate).weight_decay(0.01));
      auto running = torch::zeros({2}, device_);
      int64_t steps = 0;
      for (auto& batch : loader) {
        const auto tokens = batch.tokens.to(device_);
        auto masked = masked_residue_loss(tokens);
        auto contrast = contrastive_loss(tokens);
        optimizer.zero_grad();
        masked.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
        contrast.backward();  // RIGHT: torch-missing-zero-grad
        optimizer.step();
        running += torch::stack({masked.detach(), contrast.detach()});
        ++steps;
      }
      const auto mean = (running / static_cast<double>(std::max<int64_t>(steps, 1))).cpu();
      const auto* losses = mean.data_ptr<float>();
      const auto accuracy = retrieval_accuracy(model_, held_out, device_);
      std::cout << "epoch " << epoch << " masked " << losses[0] << " contrast " << losses[1] << " retrieval " << accuracy << '\n';
      if (accuracy > best_accuracy_) {
        best_accuracy_ = accuracy;
        remember();
      }
    }
    restore();
  }

  std::string checkpoint() const {
    std::ostringstream buffer;
    torch::save(model_, buffer);
    return buffer.str();
  }

 private:
  Tensor masked_residue_loss(const Tensor& tokens) {
    const auto chosen = torch::rand(tokens.sizes(), device_).lt(0.15).logical_and_(tokens.ne(kPad));
    auto logits = model_->residue_logits(tokens.masked_fill(chosen, kMask));
    auto log_probability = torch::log(torch::softmax(logits, -1));  // EXPECT: torch-unfused-operation
    auto wanted = torch::embedding(substitution_.to(device_), tokens);  // EXPECT: torch-repeated-transfer
    auto per_residue = torch::linalg_vecdot(wanted, log_probability);
    return -(per_residue * chosen).sum() / chosen.sum().clamp_min(1);
  }

  Tensor contrastive_loss(const Tensor& tokens) {
    // Two passes differ by their dropout masks only.
    auto anchor = model_->embed(tokens);
    auto positive = model_->embed(tokens);
    auto logits = anchor.mm(positive.t()) / settings_.temperature;
    return torch::cross_entropy_loss(logits, pairs_);
  }

  void remember() {
    for (const auto& item : model_->named_parameters()) {
      best_[item.key()] = item.value().detach().clone();  // RIGHT: torch-parameter-copy
    }
  }

  void restore() {
    torch::NoGradGuard no_grad;
    for (auto& item : model_->named_parameters()) {
      if (auto it = best_.find(item.key()); it != best_.end()) item.value().copy_(it->second);
    }
  }

  Settings settings_;
  ResidueEncoder model_;
  torch::Device device_;
  Tensor substitution_;
  Tensor pairs_;
  std::unordered_map<std::string, Tensor> best_;
  double best_accuracy_ = -1.0;
};

// Linear probe on frozen embeddings, best of a few learning rates.
double probe(const Tensor& features, const Tensor& families, int64_t classes) {
  double best = std::numeric_limits<double>::infinity();
  for (const double rate : {0.3, 0.03}) {
    torch::nn::Linear classifier(features.size(1), classes);
    classifier->to(features.device());
    torch::optim::Adam optimizer(classifier->parameters(), torch::optim::AdamOptions(rate));  // RIGHT: torch-optimizer-in-loop
    Tensor loss;
    for (int step = 0; step < 20; ++step) {
      loss = torch::cross_entropy_loss(classifier->forward(features), families);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    best = std::min(best, loss.item<double>());
  }
  return best;
}

}  // namespace prot

int main() {
  using namespace prot;
  torch::manual_seed(33);
  const Settings settings;
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto training = Corpus::simulate(settings, 1);
  const auto held_out = Corpus::simulate(settings, 2);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(training).map(Collate()), torch::data::DataLoaderOptions().batch_size(settings.batch).drop_last(true));

  ResidueEncoder model(settings);
  model->extend_alphabet(2);
  model->to(device);
  Pretrainer pretrainer(settings, model, device, ResidueEncoderImpl::vocabulary() + 2);
  pretrainer.fit(*loader, held_out);

  ResidueEncoder deployed(settings);
  deployed->extend_alphabet(2);
  std::istringstream saved(pretrainer.checkpoint());
  torch::load(deployed, saved, device);
  deployed->to(device);
  deployed->eval();
  Tensor features;
  {
    torch::NoGradGuard no_grad;
    features = embed_all(deployed, held_out, device);  // RIGHT: torch-missing-no-grad
  }
  const auto families = families_of(held_out, device);
  std::cout << "embeddings " << features.sizes() << " probe loss " << probe(features, families, settings.families)
            << '\n';
  return 0;
}
