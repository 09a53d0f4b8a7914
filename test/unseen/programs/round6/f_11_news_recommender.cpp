// News recommender with two towers: titles are pretrained, clicks ranked, dwell time is a
// second task, and a small student is distilled for the mobile client.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
namespace data = torch::data;

struct RecConfig {
  int64_t users = 300;
  int64_t items = 200;
  int64_t words = 500;
  int64_t titleWords = 4;
  int64_t width = 24;
  int64_t studentWidth = 8;
  int64_t batch = 64;
  int64_t epochs = 3;
  int64_t accumulate = 4;
  double lr = 5e-3;
  double clip = 0.5;
  double itemGain = 0.5;
  std::string checkpoint;
};

struct Click {
  int64_t user = 0;
  int64_t item = 0;
  double dwell = 0.0;
};

// Impressions with the dwell time; rows of user, item and the words of the title.
class ClickLog : public data::datasets::Dataset<ClickLog> {
 public:
  ClickLog(const RecConfig& cfg, int64_t count, uint32_t seed) : titleWords_(cfg.titleWords), titles_(cfg.items * cfg.titleWords) {
    std::mt19937 words(9), rng(seed);
    std::uniform_int_distribution<int64_t> word(0, cfg.words - 1), user(0, cfg.users - 1), item(0, cfg.items - 1);
    std::normal_distribution<double> noise(0.0, 0.3);
    for (auto& w : titles_) w = word(words);
    clicks_.reserve(count);
    for (int64_t i = 0; i < count; ++i) {
      Click click{user(rng), item(rng), 0.0};
      click.dwell = std::max(0.0, ((click.user + click.item) % 5 == 0 ? 2.0 : 0.2) + noise(rng));
      clicks_.push_back(click);
    }
  }

  data::Example<> get(size_t index) override {
    const auto& click = clicks_[index];
    std::vector<int64_t> row{click.user, click.item};
    const auto first = titles_.begin() + click.item * titleWords_;
    row.insert(row.end(), first, first + titleWords_);
    return {torch::tensor(row), torch::tensor(static_cast<float>(click.dwell))};
  }

  std::optional<size_t> size() const override { return clicks_.size(); }
  const std::vector<Click>& clicks() const { return clicks_; }

  // Words of all titles, one row per item.
  torch::Tensor titleTable() {
    const auto rows = static_cast<int64_t>(titles_.size()) / titleWords_;
    return torch::from_blob(titles_.data(), {rows, titleWords_}, torch::kLong).clone();  // RIGHT: torch-blob-dtype (the vector holds int64_t)
  }

 private:
  int64_t titleWords_;
  std::vector<int64_t> titles_;
  std::vector<Click> clicks_;
};

// Logarithm of how often each item was shown.
torch::Tensor popularity(const ClickLog& log, const RecConfig& cfg) {
  std::vector<double> shown(cfg.items, 1.0);
  for (const auto& click : log.clicks()) shown[click.item] += 1.0;
  return torch::from_blob(shown.data(), {cfg.items}).log();  // EXPECT: torch-blob-dtype
}

auto makeLoader(ClickLog& log, const RecConfig& cfg) {
  const auto options = data::DataLoaderOptions(cfg.batch).drop_last(true);
  return data::make_data_loader<data::samplers::RandomSampler>(log.map(data::transforms::Stack<>()), options);  // EXPECT: torch-dataset-copied
}

struct TowerOutput {
  torch::Tensor user, score, dwell;
};

struct TwoTowerImpl : nn::Module {
  TwoTowerImpl(const RecConfig& cfg, int64_t width) {
    users = register_module("users", nn::Embedding(cfg.users, width));
    items = register_module("items", nn::Embedding(cfg.items, width));
    words = register_module("words", nn::EmbeddingBag(nn::EmbeddingBagOptions(cfg.words, width).mode(torch::kMean)));
    dwell = register_module("dwell", nn::Linear(width, 1));
  }

  torch::Tensor title(const torch::Tensor& tokens) { return words(tokens); }

  TowerOutput forward(const torch::Tensor& rows) {
    const auto user = users(rows.select(1, 0));
    const auto item = items(rows.select(1, 1)) + title(rows.slice(1, 2));
    const auto match = user * item;
    return {user, match.sum(1), dwell(match).squeeze(1)};
  }

  nn::Embedding users{nullptr}, items{nullptr};
  nn::EmbeddingBag words{nullptr};
  nn::Linear dwell{nullptr};
};
TORCH_MODULE(TwoTower);

void scaleTable(torch::Tensor table, double gain) {
  torch::NoGradGuard noGrad;
  table = table * gain;  // EXPECT: torch-parameter-copy
}

void centreTable(torch::Tensor table) {
  torch::NoGradGuard noGrad;
  table.sub_(table.mean(0));  // RIGHT: torch-parameter-copy (in place: the handle sizes the storage of the caller's tensor)
}

torch::Tensor clickTarget(const torch::Tensor& dwell) { return dwell.gt(1.0).to(torch::kFloat32); }

// User vectors of unit length for the serving tier.
class ServingCache {
 public:
  ServingCache(int64_t users, int64_t width) : vectors_(torch::zeros({users, width})) {}

  void store(const torch::Tensor& ids, const torch::Tensor& vectors) {
    const auto length = vectors.detach().norm(2, 1, /*keepdim=*/true).clamp_min_(1e-6);
    vectors_.index_copy_(0, ids, vectors.data().div_(length));  // EXPECT: torch-saved-data
  }

  void refresh(const torch::Tensor& ids, const torch::Tensor& vectors) {
    auto unit = vectors.detach().clone();
    unit.div_(unit.norm(2, 1, /*keepdim=*/true).clamp_min_(1e-6));  // RIGHT: torch-saved-data (a clone is written)
    vectors_.index_copy_(0, ids, unit);
  }

  const torch::Tensor& vectors() const { return vectors_; }

 private:
  torch::Tensor vectors_;
};

struct GradientTrace {
  torch::Tensor total = torch::zeros({});
  int64_t count = 0;

  void add(const torch::Tensor& gradient) {
    total.add_(gradient.norm());
    ++count;
  }
  double mean() const { return count == 0 ? 0.0 : total.item<double>() / static_cast<double>(count); }
};

class RecTrainer {
 public:
  RecTrainer(const RecConfig& cfg, TwoTower model, ClickLog log)  // RIGHT: torch-dataset-copied (the caller moves it in and it is moved on)
      : cfg_(cfg),
        model_(std::move(model)),
        log_(std::move(log)),
        bias_(popularity(log_, cfg)),
        cache_(cfg.users, cfg.width),
        opt_(model_->parameters(), torch::optim::AdamOptions(cfg.lr)) {
    scaleTable(model_->items->weight, cfg.itemGain);
    centreTable(model_->users->weight);
  }

  void fit() {
    trainTitles();
    for (int64_t epoch = 0; epoch < cfg_.epochs; ++epoch) {
      std::cout << "epoch " << epoch << " loss " << runEpoch() << " score gradient " << scoreTrace_.mean() << "\n";
    }
  }

  // Clicks and dwell time together; the size of the gradient with the first task and with both.
  std::array<double, 2> fitTasks(int64_t steps) {
    std::array<GradientTrace, 2> sizes;
    auto loader = makeLoader(log_, cfg_);
    for (auto& batch : *loader) {
      if (steps-- <= 0) break;
      const auto out = model_->forward(batch.data);
      const auto click = F::binary_cross_entropy_with_logits(out.score, clickTarget(batch.target));
      const auto dwell = F::smooth_l1_loss(out.dwell, batch.target);
      cache_.refresh(batch.data.select(1, 0), out.user);
      opt_.zero_grad();
      click.backward({}, /*retain_graph=*/true);  // RIGHT: torch-retain-graph-in-loop (the dwell loss goes through the same graph)
      sizes[0].add(model_->users->weight.grad());
      dwell.backward();
      sizes[1].add(model_->users->weight.grad());
      opt_.step();
    }
    return {sizes[0].mean(), sizes[1].mean()};
  }

  // Small gradients from several batches make one step.
  void fitAccumulated() {
    auto loader = makeLoader(log_, cfg_);
    int64_t pending = 0;
    opt_.zero_grad();
    for (auto& batch : *loader) {
      const auto out = model_->forward(batch.data);
      auto loss = F::smooth_l1_loss(out.dwell, batch.target) / static_cast<double>(cfg_.accumulate);
      loss.backward();  // RIGHT: torch-missing-zero-grad (accumulated on purpose, zeroed after each step)
      if (++pending < cfg_.accumulate) continue;
      opt_.step();
      opt_.zero_grad();
      pending = 0;
    }
  }

  TwoTower distill() {
    TwoTower student(cfg_, cfg_.studentWidth);
    torch::optim::Adam opt(student->parameters(), torch::optim::AdamOptions(cfg_.lr));
    auto loader = makeLoader(log_, cfg_);
    for (auto& batch : *loader) {
      const auto wanted = teach(batch.data);
      const auto out = student->forward(batch.data);
      auto loss = F::mse_loss(out.score, wanted.score) + F::mse_loss(out.dwell, wanted.dwell);
      opt.zero_grad();
      loss.backward({}, /*retain_graph=*/true);  // EXPECT: torch-retain-graph-in-loop
      opt.step();
    }
    return student;
  }

  // Share of impressions whose click is predicted.
  double accuracy(ClickLog heldOut) {
    torch::NoGradGuard noGrad;
    const auto total = static_cast<double>(*heldOut.size());
    auto loader = data::make_data_loader(std::move(heldOut).map(data::transforms::Stack<>()), cfg_.batch);  // RIGHT: torch-dataset-copied (moved into the loader)
    auto hits = torch::zeros({}, torch::kLong);
    for (auto& batch : *loader) {
      const auto score = model_->forward(batch.data).score + bias_.index_select(0, batch.data.select(1, 1));
      hits.add_(score.gt(0).eq(batch.target.gt(1.0)).sum());
    }
    return hits.item<double>() / total;
  }

  const ServingCache& cache() const { return cache_; }

 private:
  void advance(const torch::Tensor& loss, torch::optim::Optimizer& opt) {
    loss.backward();
    opt.step();
  }

  // Steps and leaves the gradients empty for the next batch.
  void commit() {
    opt_.step();
    opt_.zero_grad();
    model_->users->weight.data().clamp_(-3.0, 3.0);  // RIGHT: torch-saved-data (the graph of this batch is used up)
  }

  void trainTitles() {
    const auto tokens = log_.titleTable();
    torch::optim::SGD opt(model_->words->parameters(), torch::optim::SGDOptions(0.5));
    const auto target = model_->items->weight.detach();
    for (int64_t pass = 0; pass < 40; ++pass) {
      advance(F::mse_loss(model_->title(tokens), target), opt);  // EXPECT: torch-missing-zero-grad
    }
  }

  double runEpoch() {
    auto total = torch::zeros({});
    int64_t steps = 0;
    const double limit = cfg_.clip;
    model_->items->weight.register_hook([limit](const torch::Tensor& g) { return g.clamp(-limit, limit); });  // EXPECT: torch-hook-in-loop
    opt_.zero_grad();
    auto loader = makeLoader(log_, cfg_);
    for (auto& batch : *loader) {
      const auto out = model_->forward(batch.data);
      const auto score = out.score + bias_.index_select(0, batch.data.select(1, 1));
      score.register_hook([this](const torch::Tensor& g) { scoreTrace_.add(g); });  // RIGHT: torch-hook-in-loop (a new tensor each time, its hook goes with it)
      const auto loss = F::binary_cross_entropy_with_logits(score, clickTarget(batch.target));
      cache_.store(batch.data.select(1, 0), out.user);
      loss.backward();  // RIGHT: torch-missing-zero-grad (commit() zeroes after the step)
      commit();
      total.add_(loss.detach());
      ++steps;
    }
    return steps == 0 ? 0.0 : total.item<double>() / static_cast<double>(steps);
  }

  TowerOutput teach(const torch::Tensor& rows) {
    torch::NoGradGuard noGrad;
    return model_->forward(rows);
  }

  const RecConfig cfg_;
  TwoTower model_;
  ClickLog log_;
  torch::Tensor bias_;
  ServingCache cache_;
  torch::optim::Adam opt_;
  GradientTrace scoreTrace_;
};

int main(int argc, char** argv) {
  torch::manual_seed(31);
  RecConfig cfg;
  if (argc > 1) cfg.checkpoint = argv[1];
  if (cfg.accumulate < 1 || cfg.batch < 1) {
    std::cerr << "the batch and the accumulation have to be positive\n";
    return 2;
  }
  ClickLog train(cfg, 4000, 51), heldOut(cfg, 800, 52);
  TwoTower model(cfg, cfg.width);
  RecTrainer trainer(cfg, model, std::move(train));
  try {
    trainer.fit();
    const auto sizes = trainer.fitTasks(20);
    std::cout << "gradient with clicks " << sizes[0] << ", with both tasks " << sizes[1] << "\n";
    trainer.fitAccumulated();
    auto student = trainer.distill();
    std::cout << "accuracy " << trainer.accuracy(std::move(heldOut)) << ", served users "
              << trainer.cache().vectors().norm(2, 1).gt(0).sum().item<int64_t>() << "\n";
    if (!cfg.checkpoint.empty()) {
      torch::save(model, cfg.checkpoint);
      torch::save(student, cfg.checkpoint + ".student");
    }
  } catch (const c10::Error& e) {
    std::cerr << "training failed: " << e.what_without_backtrace() << "\n";
    return 1;
  }
  return 0;
}
