// Anomaly scores for service logs: a recurrent model over token windows.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace loganomaly {

struct Options {
  int64_t vocabulary = 64;
  int64_t embedding = 16;
  int64_t hidden = 24;
  int64_t layers = 2;
  int64_t window = 16;
  int64_t batch = 8;
  int64_t epochs = 2;
  int64_t lines = 80;
  int64_t hosts = 4;
  bool stateful = false;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
};

// ---------------------------------------------------------------------------
// Corpus
// ---------------------------------------------------------------------------

class Corpus {
 public:
  explicit Corpus(const Options& options) : options_(options) {}

  void readTraining() {
    tokens_ = torch::empty({0}, torch::kLong);
    for (int64_t i = 0; i < options_.lines; ++i) {
      const auto line = tokenize(i);
      tokens_ = torch::cat({tokens_, line});  // EXPECT: torch-cat-in-loop
    }
  }

  torch::Tensor readHeldOut() const {
    std::vector<torch::Tensor> lines;
    for (int64_t i = 0; i < options_.lines / 4; ++i) lines.push_back(tokenize(10000 + i));
    return torch::cat(lines);  // RIGHT: torch-cat-in-loop
  }

  const torch::Tensor& tokens() const { return tokens_; }

  torch::Tensor frequencies() const {
    return torch::bincount(tokens_, {}, options_.vocabulary).to(torch::kFloat);
  }

 private:
  torch::Tensor tokenize(int64_t line) const {
    std::vector<int64_t> ids;
    uint64_t x = 88172645463325252ull + static_cast<uint64_t>(line) * 7919;
    for (int i = 0; i < 20; ++i) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      ids.push_back(static_cast<int64_t>(x % static_cast<uint64_t>(options_.vocabulary)));
    }
    return torch::tensor(ids, torch::kLong);
  }

  Options options_;
  torch::Tensor tokens_;
};

// Windows decoded up front into plain vectors, as the collector delivers them.
class RecordDataset : public torch::data::datasets::Dataset<RecordDataset> {
 public:
  RecordDataset(const torch::Tensor& tokens, int64_t window) : window_(window) {
    const auto* p = tokens.data_ptr<int64_t>();
    records_.assign(p, p + tokens.numel());
  }

  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index) * window_;
    auto x = torch::empty({window_}, torch::kLong);
    auto y = torch::empty({window_}, torch::kLong);
    std::copy_n(records_.begin() + at, window_, x.data_ptr<int64_t>());
    std::copy_n(records_.begin() + at + 1, window_, y.data_ptr<int64_t>());
    return {x, y};
  }

  torch::optional<size_t> size() const override { return (records_.size() - 1) / window_; }

 private:
  int64_t window_;
  std::vector<int64_t> records_;
};

// The same windows over one tensor.
class WindowDataset : public torch::data::datasets::Dataset<WindowDataset> {
 public:
  WindowDataset(torch::Tensor tokens, int64_t window) : window_(window), tokens_(std::move(tokens)) {}

  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index) * window_;
    return {tokens_.narrow(0, at, window_), tokens_.narrow(0, at + 1, window_)};
  }

  torch::optional<size_t> size() const override { return (tokens_.numel() - 1) / window_; }

 private:
  int64_t window_;
  torch::Tensor tokens_;
};

// ---------------------------------------------------------------------------
// Model
// ---------------------------------------------------------------------------

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct Output {
  torch::Tensor logits;
  torch::Tensor hidden;
  State state;
};

class LogModelImpl : public torch::nn::Module {
 public:
  explicit LogModelImpl(const Options& o)
      : embed_(register_module("embed", torch::nn::Embedding(o.vocabulary, o.embedding))),
        lstm_(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(o.embedding, o.hidden).num_layers(o.layers).batch_first(true)))),
        head_(register_module("head", torch::nn::Linear(o.hidden, o.vocabulary))) {
    prior_ = register_buffer("prior", torch::zeros({o.vocabulary}));
    rarity_ = register_buffer("rarity", torch::ones({o.vocabulary}));
  }

  void setFrequencies(const torch::Tensor& counts) {
    const auto p = (counts + 1) / (counts + 1).sum();
    rarity_.copy_(p.reciprocal() / counts.numel());  // RIGHT: torch-reassigned-member
    prior_ = p.log().to(rarity_.device());  // EXPECT: torch-reassigned-member
  }

  Output forward(const torch::Tensor& ids, const torch::optional<State>& state = {}) {
    auto [hidden, next] = lstm_->forward(embed_(ids), state);
    return {head_(hidden) + prior_, hidden, next};
  }

  const torch::Tensor& rarity() const { return rarity_; }

 private:
  torch::nn::Embedding embed_;
  torch::nn::LSTM lstm_;
  torch::nn::Linear head_;
  torch::Tensor prior_, rarity_;
};
TORCH_MODULE(LogModel);

torch::Tensor tokenLoss(const Output& out, const torch::Tensor& target, const torch::Tensor& weight) {
  return torch::nn::functional::cross_entropy(
      out.logits.flatten(0, 1), target.flatten(),
      torch::nn::functional::CrossEntropyFuncOptions().weight(weight));
}

// ---------------------------------------------------------------------------
// Training
// ---------------------------------------------------------------------------

struct Hard {
  torch::Tensor loss;
  int64_t batch;
};

class Trainer {
 public:
  Trainer(LogModel model, const Options& options) : model_(std::move(model)), options_(options) {}

  void fit(RecordDataset records) {
    auto loader = torch::data::make_data_loader(std::move(records).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(options_.batch).workers(2).drop_last(true));  // EXPECT: torch-dataset-copied
    for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      auto optimizer = makeOptimizer(2e-3 * std::pow(0.5, epoch));  // EXPECT: torch-optimizer-in-loop
      auto total = torch::zeros({}, options_.device);
      int64_t index = 0;
      for (auto& batch : *loader) {
        auto out = model_->forward(batch.data.to(options_.device));
        auto loss = tokenLoss(out, batch.target.to(options_.device), model_->rarity());
        optimizer->zero_grad();
        loss.backward();
        optimizer->step();
        total += loss.detach();
        activity_.push_back(out.hidden.abs().mean());  // EXPECT: torch-retained-graph
        hard_.push_back({loss.detach(), index});  // RIGHT: torch-retained-graph
        ++index;
      }
      std::cout << "epoch " << epoch << " loss " << total.item<float>() / index << "\n";
    }
  }

  // Truncated back-propagation over one long stream.
  void fitStream(const torch::Tensor& tokens) {
    auto optimizer = makeOptimizer(1e-3);
    const auto steps = (tokens.numel() - 1) / options_.window;
    const auto onDevice = tokens.to(options_.device);
    torch::optional<State> carried;
    for (int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      for (auto& group : optimizer->param_groups()) static_cast<torch::optim::AdamOptions&>(group.options()).lr(1e-3 / (epoch + 1));  // RIGHT: torch-optimizer-in-loop
      for (int64_t s = 0; s < steps; ++s) {
        auto x = onDevice.narrow(0, s * options_.window, options_.window).unsqueeze(0);
        auto y = onDevice.narrow(0, s * options_.window + 1, options_.window).unsqueeze(0);
        auto out = model_->forward(x, carried);
        auto loss = tokenLoss(out, y, model_->rarity());
        optimizer->zero_grad();
        loss.backward();
        optimizer->step();
        if (options_.stateful) {
          carried = out.state;  // EXPECT: torch-undetached-hidden-state
        } else {
          auto& [h, c] = out.state;
          carried = State{h.detach(), c.detach()};  // RIGHT: torch-undetached-hidden-state
        }
      }
      carried.reset();
    }
  }

  float activity() const {
    return activity_.empty() ? 0.f : torch::stack(activity_).mean().item<float>();
  }

  int64_t hardest() const {
    if (hard_.empty()) return -1;
    std::vector<torch::Tensor> all;
    for (const auto& h : hard_) all.push_back(h.loss);
    return hard_[torch::stack(all).argmax().item<int64_t>()].batch;
  }

 private:
  std::unique_ptr<torch::optim::Adam> makeOptimizer(double lr) {
    return std::make_unique<torch::optim::Adam>(model_->parameters(), torch::optim::AdamOptions(lr));
  }

  LogModel model_;
  Options options_;
  std::vector<torch::Tensor> activity_;
  std::vector<Hard> hard_;
};

// ---------------------------------------------------------------------------
// Evaluation and scoring
// ---------------------------------------------------------------------------

double perplexity(LogModel& model, const torch::Tensor& held, const Options& o) {
  model->eval();
  auto loader = torch::data::make_data_loader(WindowDataset(held, o.window).map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(o.batch).workers(2));  // RIGHT: torch-dataset-copied
  auto sum = torch::zeros({}, torch::dtype(torch::kDouble).device(o.device));
  int64_t count = 0;
  for (auto& batch : *loader) {
    const auto out = model->forward(batch.data.to(o.device));  // EXPECT: torch-missing-no-grad
    const auto best = out.logits.detach().log_softmax(-1);
    sum -= best.gather(-1, batch.target.to(o.device).unsqueeze(-1)).sum();
    count += batch.target.numel();
  }
  model->train();
  return std::exp(sum.item<double>() / count);
}

// Keeps a running profile of each host and a fingerprint of every window.
class Profiler {
 public:
  Profiler(LogModel model, const Options& o)
      : model_(std::move(model)),
        options_(o),
        means_(o.hosts, torch::zeros({o.hidden}, o.device)) {  // EXPECT: torch-fill-alias
    for (int64_t i = 0; i < o.hosts; ++i) spread_.push_back(torch::ones({o.hidden}, o.device));  // RIGHT: torch-fill-alias
    last_.assign(o.hosts, torch::Tensor());  // RIGHT: torch-fill-alias
  }

  void observe(int64_t host, const torch::Tensor& window) {
    torch::NoGradGuard guard;
    model_->eval();
    const auto out = model_->forward(window.unsqueeze(0).to(options_.device));  // RIGHT: torch-missing-no-grad
    const auto mean = out.hidden.mean(1).squeeze(0);
    means_[host].mul_(0.9).add_(mean, 0.1);
    spread_[host].mul_(0.9).add_((mean - means_[host]).abs(), 0.1);
    fingerprints_.push_back(out.hidden[0][-1]);  // EXPECT: torch-view-pins-storage
    last_[host] = out.logits[0][-1].clone();  // RIGHT: torch-view-pins-storage
  }

  void report() const {
    for (int64_t i = 0; i < options_.hosts; ++i) {
      std::cout << "host " << i << " centre " << means_[i].norm().item<float>() << " spread "
                << spread_[i].mean().item<float>();
      if (last_[i].defined()) std::cout << " next " << last_[i].argmax().item<int64_t>();
      std::cout << "\n";
    }
    std::cout << "drift " << (fingerprints_.back() - fingerprints_.front()).norm().item<float>() << "\n";
  }

 private:
  LogModel model_;
  Options options_;
  std::vector<torch::Tensor> means_, spread_, last_;
  std::vector<torch::Tensor> fingerprints_;
};

}  // namespace loganomaly

int main(int argc, char** argv) {
  using namespace loganomaly;
  torch::manual_seed(11);
  torch::set_num_threads(1);
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--stateful")) options.stateful = true;
    if (!std::strcmp(argv[i], "--full")) {
      options.lines = 200000;
      options.window = 256;
      options.hidden = 512;
      options.batch = 64;
    }
  }

  Corpus corpus(options);
  corpus.readTraining();
  const auto held = corpus.readHeldOut();

  LogModel model(options);
  model->setFrequencies(corpus.frequencies());
  model->to(options.device);

  Trainer trainer(model, options);
  trainer.fit(RecordDataset(corpus.tokens(), options.window));
  trainer.fitStream(held);
  std::cout << "activity " << trainer.activity() << " hardest " << trainer.hardest() << "\n";
  std::cout << "perplexity " << perplexity(model, held, options) << "\n";

  Profiler profiler(model, options);
  for (int64_t i = 0; i < 8; ++i) profiler.observe(i % options.hosts, held.narrow(0, i * 16, options.window));
  profiler.report();
  return 0;
}
