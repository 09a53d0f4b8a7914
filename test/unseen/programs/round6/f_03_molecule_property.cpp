// Regression of molecular properties from small molecular graphs.
//
// A graph attention network is pre-trained on a cheap surrogate property and then used for
// the measured one, either with a new head or through a correction on top of the old one.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace molecules {

constexpr int64_t kElements = 8;

struct Config {
  int64_t width = 32;
  int64_t layers = 2;
  int64_t max_atoms = 10;
  int64_t batch = 16;
  int64_t steps = 12;
  int64_t cache_bytes = 8192;
  double learning_rate = 3e-3;
  bool bonded_only = false;      // attention restricted to bonded atoms
  bool element_offsets = false;  // additive energy per element, learned with the network
  std::string checkpoint = "/tmp/molecules.pt";
};

struct Molecule {
  std::vector<int64_t> elements;
  std::vector<std::pair<int64_t, int64_t>> bonds;
  float target = 0.0f;
};

std::vector<Molecule> make_molecules(int64_t count, const Config& cfg) {
  std::vector<Molecule> out;
  for (int64_t i = 0; i < count; ++i) {
    Molecule m;
    const int64_t atoms = 4 + (i * 5) % (cfg.max_atoms - 3);
    for (int64_t a = 0; a < atoms; ++a) {
      m.elements.push_back((i * 3 + a * a) % kElements);
      if (a > 0) m.bonds.emplace_back(a - 1, a);
      m.target += 0.1f * static_cast<float>(m.elements.back()) - 0.05f * static_cast<float>(a % 3);
    }
    out.push_back(std::move(m));
  }
  return out;
}

struct GraphBatch {
  torch::Tensor elements;   // [B, N] int64
  torch::Tensor adjacency;  // [B, N, N] float
  torch::Tensor padding;    // [B, N] bool
  torch::Tensor targets;    // [B]
};

GraphBatch collate(const std::vector<Molecule>& all, size_t first, const Config& cfg) {
  const size_t last = std::min(all.size(), first + static_cast<size_t>(cfg.batch));
  const auto n = cfg.max_atoms;
  std::vector<int64_t> elements;
  std::vector<float> adjacency((last - first) * n * n, 0.0f);
  std::vector<float> targets;
  std::vector<int64_t> counts;
  for (size_t i = first; i < last; ++i) {
    const auto& m = all[i];
    elements.insert(elements.end(), m.elements.begin(), m.elements.end());
    elements.resize((i - first + 1) * n, 0);
    for (const auto& [a, b] : m.bonds) {
      adjacency[((i - first) * n + a) * n + b] = adjacency[((i - first) * n + b) * n + a] = 1.0f;
    }
    targets.push_back(m.target);
    counts.push_back(static_cast<int64_t>(m.elements.size()));
  }
  const auto rows = static_cast<int64_t>(last - first);
  GraphBatch batch;
  batch.elements = torch::tensor(elements).view({rows, n});
  batch.adjacency = torch::from_blob(adjacency.data(), {rows, n, n}).clone();  // RIGHT: torch-blob-lifetime (cloned), torch-blob-dtype (float memory)
  batch.padding = torch::arange(n).unsqueeze(0) >= torch::tensor(counts).unsqueeze(1);
  batch.targets = torch::tensor(targets);
  return batch;
}

void damp(torch::Tensor weight, double factor) {
  torch::NoGradGuard no_grad;
  weight.mul_(factor);  // RIGHT: torch-parameter-copy (in place through the handle), torch-leaf-inplace (no grad here)
}

void center_rows(torch::Tensor weight) {
  torch::NoGradGuard no_grad;
  weight = weight - weight.mean(1, /*keepdim=*/true);  // EXPECT: torch-parameter-copy
}

class AttentionLayerImpl : public torch::nn::Module {
 public:
  explicit AttentionLayerImpl(const Config& cfg)
      : bonded_only_(cfg.bonded_only),
        scale_(1.0 / std::sqrt(static_cast<double>(cfg.width))),
        query_(register_module("query", torch::nn::Linear(cfg.width, cfg.width))),
        key_(register_module("key", torch::nn::Linear(cfg.width, cfg.width))),
        value_(register_module("value", torch::nn::Linear(cfg.width, cfg.width))),
        norm_(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({cfg.width})))) {
    bond_bias_ = register_parameter("bond_bias", torch::randn({1}) * 0.5);  // RIGHT: torch-non-leaf-parameter (randn has no grad, the product is a leaf)
    damp(value_->weight, 0.8);
    center_rows(query_->weight);
  }

  torch::Tensor forward(const torch::Tensor& atoms, const GraphBatch& batch) {
    auto scores = torch::bmm(query_(atoms), key_(atoms).transpose(1, 2)) * scale_;
    scores = scores + batch.adjacency * bond_bias_;
    scores.masked_fill_(batch.padding.unsqueeze(1), -1e9);  // RIGHT: torch-inplace-saved (an addition saves no output)
    auto attention = torch::softmax(scores, -1);
    if (bonded_only_) {
      attention.masked_fill_(batch.adjacency == 0, 0.0);  // EXPECT: torch-inplace-saved
    }
    return norm_(atoms + torch::bmm(attention, value_(atoms)));
  }

 private:
  bool bonded_only_;
  double scale_;
  torch::nn::Linear query_, key_, value_;
  torch::nn::LayerNorm norm_;
  torch::Tensor bond_bias_;
};
TORCH_MODULE(AttentionLayer);

class EncoderImpl : public torch::nn::Module {
 public:
  explicit EncoderImpl(const Config& cfg)
      : embed_(register_module("embed", torch::nn::Embedding(kElements, cfg.width))),
        layers_(register_module("layers", torch::nn::ModuleList())) {
    for (int64_t i = 0; i < cfg.layers; ++i) layers_->push_back(AttentionLayer(cfg));
  }

  torch::Tensor forward(const GraphBatch& batch) {
    auto atoms = embed_(batch.elements);
    for (const auto& layer : *layers_) {
      atoms = layer->as<AttentionLayer>()->forward(atoms, batch);
    }
    auto present = batch.padding.logical_not().to(torch::kFloat).unsqueeze(-1);
    return (atoms * present).sum(1) / present.sum(1);
  }

 private:
  torch::nn::Embedding embed_;
  torch::nn::ModuleList layers_;
};
TORCH_MODULE(Encoder);

class PropertyHeadImpl : public torch::nn::Module {
 public:
  explicit PropertyHeadImpl(int64_t width)
      : readout_(register_module("readout", torch::nn::Linear(width, 1))),
        mean_(register_buffer("mean", torch::zeros({}))),
        spread_(register_buffer("spread", torch::ones({}))) {}

  void calibrate(const torch::Tensor& targets) {
    torch::NoGradGuard no_grad;
    mean_.copy_(targets.mean());
    spread_ = targets.std().clamp_min(1e-3);  // EXPECT: torch-reassigned-member
  }

  void start_over(int64_t width) {
    readout_ = replace_module("readout", torch::nn::Linear(width, 1));  // RIGHT: torch-reassigned-member (replace_module updates the registry)
  }

  torch::Tensor forward(const torch::Tensor& pooled) {
    last_pooled_ = pooled.detach();  // RIGHT: torch-reassigned-member (never registered, only for diagnostics), torch-retained-graph (detached, one at a time)
    return readout_(pooled).squeeze(-1) * spread_ + mean_;
  }

  double pooled_norm() const { return last_pooled_.defined() ? last_pooled_.norm().item<double>() : 0.0; }

 private:
  torch::nn::Linear readout_;
  torch::Tensor mean_, spread_;
  torch::Tensor last_pooled_;
};
TORCH_MODULE(PropertyHead);

// Keeps pooled fingerprints of molecules that are asked for again and again.
class FingerprintCache {
 public:
  explicit FingerprintCache(int64_t budget) : budget_(budget) {}

  void put(int64_t key, const torch::Tensor& fingerprint) {
    const auto bytes = fingerprint.numel() * static_cast<int64_t>(sizeof(torch::kFloat));  // EXPECT: torch-sizeof-dtype
    if (used_ + bytes > budget_) {
      entries_.clear();
      used_ = 0;
    }
    entries_[key] = fingerprint.clone();
    used_ += bytes;
  }

  int64_t stored_bytes() const {
    int64_t total = 0;
    for (const auto& [key, tensor] : entries_) {
      total += tensor.numel() * static_cast<int64_t>(tensor.element_size());  // RIGHT: torch-sizeof-dtype (asked of the tensor)
    }
    return total;
  }

 private:
  int64_t budget_;
  int64_t used_ = 0;
  std::unordered_map<int64_t, torch::Tensor> entries_;
};

torch::Tensor residuals(const torch::Tensor& predicted, const GraphBatch& batch) {
  return (predicted - batch.targets).abs();
}

std::vector<size_t> worst_first(const torch::Tensor& predicted, const GraphBatch& batch) {
  const float* errors = residuals(predicted, batch).data_ptr<float>();  // EXPECT: torch-dangling-data
  std::vector<size_t> order(static_cast<size_t>(batch.targets.size(0)));
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [errors](size_t a, size_t b) { return errors[a] > errors[b]; });
  return order;
}

std::vector<float> to_vector(const torch::Tensor& values) {
  std::vector<float> out(static_cast<size_t>(values.numel()));
  std::copy_n(values.to(torch::kFloat).contiguous().data_ptr<float>(), out.size(), out.begin());  // RIGHT: torch-dangling-data (the temporary lasts to the end of the statement)
  return out;
}

void set_trainable(torch::nn::Module& module, bool trainable) {
  for (auto& parameter : module.parameters()) parameter.set_requires_grad(trainable);
}

torch::Tensor initial_offsets(const std::vector<Molecule>& molecules) {
  auto histogram = torch::zeros({kElements});
  for (const auto& m : molecules) {
    histogram += torch::bincount(torch::tensor(m.elements), {}, kElements).to(torch::kFloat);
  }
  auto start = torch::zeros({kElements}, torch::requires_grad());
  return start + 0.01 * histogram / histogram.sum();
}

class Experiment {
 public:
  Experiment(const Config& cfg, std::vector<Molecule> molecules)
      : cfg_(cfg), molecules_(std::move(molecules)), encoder_(cfg), head_(cfg.width), cache_(cfg.cache_bytes) {
    std::vector<float> targets;
    for (const auto& m : molecules_) targets.push_back(m.target);
    head_->calibrate(torch::tensor(targets));
  }

  double pretrain() {
    auto parameters = encoder_->parameters();
    for (const auto& p : head_->parameters()) parameters.push_back(p);
    if (cfg_.element_offsets) {
      offsets_ = initial_offsets(molecules_);
      parameters.push_back(offsets_);  // EXPECT: torch-non-leaf-parameter
    }
    torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(cfg_.learning_rate));
    return run(optimizer, [this](const GraphBatch& batch) {
      auto predicted = head_->forward(encoder_->forward(batch));
      return offsets_.defined() ? predicted + element_term(batch) : predicted;
    });
  }

  // A fresh head over the encoder as it is.
  double probe() {
    head_->start_over(cfg_.width);
    torch::optim::Adam optimizer(head_->parameters(), torch::optim::AdamOptions(cfg_.learning_rate));
    return run(optimizer, [this](const GraphBatch& batch) {
      auto pooled = encoder_->forward(batch);  // EXPECT: torch-unused-gradients
      return head_->forward(pooled);
    });
  }

  // Keeps the head and learns a correction over the pooled atoms.
  double refine(PropertyHead& correction) {
    set_trainable(*encoder_, false);
    set_trainable(*head_, false);
    torch::optim::Adam optimizer(correction->parameters(), torch::optim::AdamOptions(cfg_.learning_rate));
    const double loss = run(optimizer, [&](const GraphBatch& batch) {
      auto pooled = encoder_->forward(batch);  // RIGHT: torch-unused-gradients (set_trainable switched the encoder's gradients off)
      return head_->forward(pooled) + correction->forward(pooled);
    });
    set_trainable(*encoder_, true);
    set_trainable(*head_, true);
    return loss;
  }

  void report() {
    torch::NoGradGuard no_grad;
    for (size_t first = 0; first < molecules_.size(); first += static_cast<size_t>(cfg_.batch)) {
      const auto batch = collate(molecules_, first, cfg_);
      const auto pooled = encoder_->forward(batch);
      const auto predicted = head_->forward(pooled);
      const auto order = worst_first(predicted, batch);
      const auto values = to_vector(predicted);
      cache_.put(static_cast<int64_t>(first + order.front()), pooled[static_cast<int64_t>(order.front())]);  // RIGHT: torch-view-pins-storage (put clones)
      std::cout << "  worst " << first + order.front() << " predicted " << values[order.front()] << "\n";
    }
    std::cout << "  cache bytes " << cache_.stored_bytes() << ", pooled norm " << head_->pooled_norm() << "\n";
  }

  void save() const {
    torch::serialize::OutputArchive archive;
    encoder_->save(archive);
    archive.save_to(cfg_.checkpoint);
    torch::save(head_, cfg_.checkpoint + ".head");
  }

 private:
  using Model = std::function<torch::Tensor(const GraphBatch&)>;

  double run(torch::optim::Optimizer& optimizer, const Model& model) {
    auto total = torch::zeros({});
    for (int64_t step = 0; step < cfg_.steps; ++step) {
      const size_t first = static_cast<size_t>(step * cfg_.batch) % molecules_.size();
      const auto batch = collate(molecules_, first, cfg_);
      auto loss = torch::mse_loss(model(batch), batch.targets);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.detach();
    }
    return total.item<double>() / static_cast<double>(cfg_.steps);
  }

  torch::Tensor element_term(const GraphBatch& batch) const {
    auto present = batch.padding.logical_not().to(torch::kFloat);
    return (offsets_.index({batch.elements}) * present).sum(1);
  }

  Config cfg_;
  std::vector<Molecule> molecules_;
  Encoder encoder_;
  PropertyHead head_;
  FingerprintCache cache_;
  torch::Tensor offsets_;
};

void run_variant(const std::string& name, const Config& cfg) {
  try {
    Experiment experiment(cfg, make_molecules(64, cfg));
    std::cout << name << " pretrain " << experiment.pretrain() << "\n";
    std::cout << name << " probe " << experiment.probe() << "\n";
    PropertyHead correction(cfg.width);
    std::cout << name << " refine " << experiment.refine(correction) << "\n";
    experiment.report();
    experiment.save();
  } catch (const c10::Error& error) {
    std::cerr << name << " failed: " << error.what_without_backtrace() << "\n";
  }
}

}  // namespace molecules

int main() {
  torch::manual_seed(3);
  molecules::Config cfg;
  molecules::run_variant("base", cfg);
  cfg.bonded_only = true;
  molecules::run_variant("bonded", cfg);
  cfg.bonded_only = false;
  cfg.element_offsets = true;
  molecules::run_variant("offsets", cfg);
  return 0;
}
