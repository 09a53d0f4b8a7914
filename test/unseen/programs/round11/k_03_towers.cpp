// Recommender with two towers: one network for users, one for items, trained
// with the other items of the batch as negatives. Written against any pair of
// towers that turn ids and side features into unit vectors.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Config {
  int64_t users = 600;
  int64_t items = 400;
  int64_t dim = 24;
  int64_t features = 12;
  int64_t batch = 128;
  int warmup_steps = 60;
  int epochs = 3;
  int workers = 3;
  double decay = 0.98;
  bool renormalize = false;
  torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);
};

template <typename Id>
struct Interaction {
  Id user;
  Id item;
  float weight;
};

template <typename Id>
class InteractionStore {
 public:
  using value_type = Interaction<Id>;

  void add(Id user, Id item, float weight) { rows_.push_back({user, item, weight}); }
  size_t size() const { return rows_.size(); }
  const value_type& operator[](size_t i) const { return rows_[i]; }

  template <typename Rng>
  void shuffle(Rng& rng) { std::shuffle(rows_.begin(), rows_.end(), rng); }

 private:
  std::vector<value_type> rows_;
};

template <typename Id>
InteractionStore<Id> simulate_store(const Config& config, size_t count, std::mt19937& rng) {
  std::uniform_int_distribution<Id> user(0, static_cast<Id>(config.users - 1));
  std::uniform_int_distribution<Id> noise(0, 19);
  InteractionStore<Id> store;
  for (size_t i = 0; i < count; ++i) {
    const Id u = user(rng);
    const Id item = static_cast<Id>((u * 7 + noise(rng)) % config.items);
    store.add(u, item, 1.0f);
  }
  return store;
}

// How often each item was bought, counted by several threads over one store.
template <typename Id>
std::vector<int64_t> count_items(const std::shared_ptr<InteractionStore<Id>>& store, const Config& config) {
  std::vector<std::vector<int64_t>> partial(config.workers, std::vector<int64_t>(config.items, 0));
  std::vector<std::thread> threads;
  for (int w = 0; w < config.workers; ++w) {
    threads.emplace_back([store, &partial, &config, w] {  // RIGHT: torch-dataset-copied
      for (size_t i = w; i < store->size(); i += config.workers) ++partial[w][(*store)[i].item];
    });
  }
  for (auto& thread : threads) thread.join();
  for (int w = 1; w < config.workers; ++w) {
    for (int64_t i = 0; i < config.items; ++i) partial[0][i] += partial[w][i];
  }
  return partial[0];
}
struct Batch {
  torch::Tensor users;
  torch::Tensor items;
};

template <typename Id>
std::vector<Batch> assemble_epoch(const InteractionStore<Id>& store, const Config& config) {
  const int64_t batches = static_cast<int64_t>(store.size()) / config.batch;
  std::vector<Batch> epoch(static_cast<size_t>(batches));
  auto fill = [&epoch, &config, batches](InteractionStore<Id> rows, int worker) {  // EXPECT: torch-dataset-copied
    for (int64_t b = worker; b < batches; b += config.workers) {
      auto users = torch::empty({config.batch}, torch::kLong);  // RIGHT: torch-allocation-in-loop
      auto items = torch::empty({config.batch}, torch::kLong);
      auto u = users.accessor<int64_t, 1>();
      auto v = items.accessor<int64_t, 1>();
      for (int64_t i = 0; i < config.batch; ++i) {
        const auto& row = rows[static_cast<size_t>(b * config.batch + i)];
        u[i] = row.user;  // RIGHT: torch-element-access-in-loop
        v[i] = row.item;
      }
      epoch[static_cast<size_t>(b)] = {users, items};
    }
  };
  std::vector<std::thread> threads;
  for (int w = 0; w < config.workers; ++w) threads.emplace_back(fill, std::cref(store), w);
  for (auto& thread : threads) thread.join();
  return epoch;
}

struct UserTowerImpl : torch::nn::Module {
  explicit UserTowerImpl(const Config& config)
      : embedding(register_module("embedding", torch::nn::Embedding(config.users, config.dim))),
        project(register_module("project", torch::nn::Linear(config.dim, config.dim))) {}

  torch::Tensor forward(const torch::Tensor& ids) {
    return torch::nn::functional::normalize(project->forward(torch::relu(embedding->forward(ids))));
  }

  torch::nn::Embedding embedding;
  torch::nn::Linear project;
};
TORCH_MODULE(UserTower);

struct ItemTowerImpl : torch::nn::Module {
  explicit ItemTowerImpl(const Config& config)
      : embedding(register_module("embedding", torch::nn::Embedding(config.items, config.dim))),
        side(register_module("side", torch::nn::Linear(config.features, config.dim))) {}

  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& features) {
    return torch::nn::functional::normalize(embedding->forward(ids) + side->forward(features));
  }

  torch::nn::Embedding embedding;
  torch::nn::Linear side;
};
TORCH_MODULE(ItemTower);

template <typename User, typename Item>
struct TwoTowers {
  User user;
  Item item;
  double temperature = 0.1;

  void to(const torch::Device& device) {
    user->to(device);
    item->to(device);
  }

  std::vector<torch::Tensor> parameters() const {
    auto list = user->parameters();
    for (auto& p : item->parameters()) list.push_back(p);
    return list;
  }
};

// In-batch softmax: the item of the same row is the right one.
struct SoftmaxObjective {
  torch::Tensor labels;

  explicit SoftmaxObjective(const Config& config)
      : labels(torch::arange(config.batch, torch::TensorOptions().dtype(torch::kLong).device(config.device))) {}

  torch::Tensor operator()(const torch::Tensor& users, const torch::Tensor& items, double temperature) const {
    return torch::nn::functional::cross_entropy(torch::mm(users, items.t()) / temperature, labels);
  }
};

// Average of the weights over the steps, used for serving.
class WeightAverage {
 public:
  template <typename Towers>
  WeightAverage(const Towers& towers, double decay) : decay_(decay) {
    for (const auto& p : towers.parameters()) shadow_.push_back(p.detach().clone());  // RIGHT: torch-redundant-transfer
  }

  template <typename Towers>
  void update(const Towers& towers) {
    torch::NoGradGuard no_grad;
    const auto current = towers.parameters();
    for (size_t i = 0; i < current.size(); ++i) {
      auto shadow = shadow_[i];
      shadow = torch::lerp(current[i], shadow, decay_);  // EXPECT: torch-parameter-copy
    }
  }

  template <typename Towers>
  void apply(Towers& towers) const {
    torch::NoGradGuard no_grad;
    auto current = towers.parameters();
    for (size_t i = 0; i < current.size(); ++i) {
      auto weight = current[i];
      weight.copy_(shadow_[i]);  // RIGHT: torch-parameter-copy
    }
  }

 private:
  double decay_;
  std::vector<torch::Tensor> shadow_;
};

template <typename Towers>
struct Catalog {
  torch::Tensor features;
  torch::Tensor popularity;

  torch::Tensor embed_all(Towers& towers, const torch::Device& device) const {
    auto ids = torch::arange(features.size(0), torch::TensorOptions().dtype(torch::kLong).device(device));
    return towers.item->forward(ids, features.to(device));
  }
};

// One step of the first phase, when the side features are not used yet.
template <typename Towers, typename Objective>
torch::Tensor warmup_step(Towers& towers, const Objective& objective, const torch::Tensor& users,
                          const torch::Tensor& items, const torch::Tensor& blank) {
  torch::optim::Adam optimizer(towers.parameters(), torch::optim::AdamOptions(5e-3));  // EXPECT: torch-optimizer-in-loop
  optimizer.zero_grad();
  auto loss = objective(towers.user->forward(users), towers.item->forward(items, blank), towers.temperature);
  loss.backward();
  optimizer.step();
  return loss.detach();
}

template <typename Towers, typename Objective>
void warm_up(Towers& towers, const Objective& objective, const Config& config) {
  auto blank = torch::zeros({config.batch, config.features}).to(config.device);  // EXPECT: torch-allocate-on-device
  const auto longs = torch::TensorOptions().dtype(torch::kLong).device(config.device);
  torch::Tensor last;
  for (int step = 0; step < config.warmup_steps; ++step) {
    auto users = torch::randint(config.users, {config.batch}, longs);
    auto items = users.mul(7).remainder_(config.items);
    last = warmup_step(towers, objective, users, items, blank);
  }
  std::printf("warm-up loss %.4f\n", last.item<double>());
}

template <typename Towers, typename Objective>
void train_jointly(Towers& towers, const Objective& objective, const Catalog<Towers>& catalog,
                   InteractionStore<int32_t>& store, WeightAverage& average, std::mt19937& rng, const Config& config) {
  torch::optim::Adam optimizer(towers.parameters(), torch::optim::AdamOptions(2e-3));
  auto sum = torch::zeros({}, torch::TensorOptions().device(config.device));
  for (int epoch = 0; epoch < config.epochs; ++epoch) {
    store.shuffle(rng);
    const auto batches = assemble_epoch(store, config);
    sum.zero_();
    for (const auto& batch : batches) {
      auto users = batch.users.to(config.device);  // RIGHT: torch-repeated-transfer
      auto items = batch.items.to(config.device);
      auto features = catalog.features.to(config.device).index_select(0, items);  // EXPECT: torch-repeated-transfer
      optimizer.zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
      auto loss = objective(towers.user->forward(users), towers.item->forward(items, features), towers.temperature);
      loss.backward();
      optimizer.step();
      average.update(towers);
      sum.add_(loss.detach());
    }
    std::printf("epoch %d  loss %.4f\n", epoch, sum.item<double>() / batches.size());  // RIGHT: torch-sync-in-loop
    if (config.renormalize) towers.user->embedding->weight.renorm_(2, 0, 1.0);  // EXPECT: torch-leaf-inplace
  }
}

// New users only: the item side stays as it is.
template <typename Towers, typename Objective>
void adapt_users(Towers& towers, const Objective& objective, const torch::Tensor& features, const Config& config) {
  torch::optim::Adam optimizer(towers.user->parameters(), torch::optim::AdamOptions(1e-3));
  const auto longs = torch::TensorOptions().dtype(torch::kLong).device(config.device);
  for (int step = 0; step < 40; ++step) {
    auto users = torch::randint(config.users, {config.batch}, longs);
    auto items = users.mul(7).add_(3).remainder_(config.items);
    auto right = towers.item->forward(items, features.index_select(0, items));  // EXPECT: torch-unused-gradients
    optimizer.zero_grad();
    objective(towers.user->forward(users), right, towers.temperature).backward();
    optimizer.step();
  }
}

// The other way round for new items; the users stay as they are.
template <typename Towers, typename Objective>
void adapt_items(Towers& towers, const Objective& objective, const torch::Tensor& features, const Config& config) {
  for (auto& p : towers.user->parameters()) p.requires_grad_(false);
  torch::optim::Adam optimizer(towers.item->parameters(), torch::optim::AdamOptions(1e-3));
  const auto longs = torch::TensorOptions().dtype(torch::kLong).device(config.device);
  for (int step = 0; step < 40; ++step) {
    auto users = torch::randint(config.users, {config.batch}, longs);
    auto items = users.mul(7).add_(5).remainder_(config.items);
    auto left = towers.user->forward(users);  // RIGHT: torch-unused-gradients
    optimizer.zero_grad();
    objective(left, towers.item->forward(items, features.index_select(0, items)), towers.temperature).backward();
    optimizer.step();
  }
  for (auto& p : towers.user->parameters()) p.requires_grad_(true);
}

// Tries several rates from the same start, each with a model of its own.
template <typename Objective>
double best_rate(const Objective& objective, const torch::Tensor& features, const Config& config) {
  double best = 0.0, lowest = 1e30;
  for (double rate : {1e-3, 3e-3, 1e-2}) {
    TwoTowers<UserTower, ItemTower> towers{UserTower(config), ItemTower(config)};
    towers.to(config.device);
    torch::optim::Adam optimizer(towers.parameters(), torch::optim::AdamOptions(rate));  // RIGHT: torch-optimizer-in-loop
    const auto& ids = objective.labels;
    const auto side = features.index_select(0, ids);
    torch::Tensor loss;
    for (int step = 0; step < 10; ++step) {
      optimizer.zero_grad();
      loss = objective(towers.user->forward(ids), towers.item->forward(ids, side), 0.1);
      loss.backward();
      optimizer.step();
    }
    const double value = loss.item<double>();
    if (value < lowest) { lowest = value; best = rate; }
  }
  return best;
}

// The best items of every user that are neither known to him nor sold out.
template <typename Towers>
torch::Tensor recommend(Towers& towers, const Catalog<Towers>& catalog, const torch::Tensor& users,
                        const torch::Tensor& known, const torch::Tensor& sold_out, int64_t k) {
  torch::NoGradGuard no_grad;
  auto scores = torch::mm(towers.user->forward(users), catalog.embed_all(towers, users.device()).t());
  scores.masked_fill_(known, -1e9);  // RIGHT: torch-discarded-result
  scores.masked_fill(sold_out, -1e9);  // EXPECT: torch-discarded-result
  return std::get<1>(scores.topk(k, 1));
}

int main(int argc, char** argv) {
  Config config;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--renormalize") config.renormalize = true;
    if (flag == "--epochs" && i + 1 < argc) config.epochs = std::atoi(argv[++i]);
  }
  using Towers = TwoTowers<UserTower, ItemTower>;
  torch::set_num_threads(1);
  torch::manual_seed(5);
  std::mt19937 rng(5);

  auto store = std::make_shared<InteractionStore<int32_t>>(simulate_store<int32_t>(config, 20000, rng));
  auto counts = count_items(store, config);
  Catalog<Towers> catalog;
  catalog.features = torch::randn({config.items, config.features});
  auto bought = torch::from_blob(counts.data(), {config.items}, torch::kLong);
  catalog.popularity = bought.to(torch::kFloat32).to(config.device);  // RIGHT: torch-blob-lifetime

  SoftmaxObjective objective(config);
  Towers towers{UserTower(config), ItemTower(config)};
  towers.to(config.device);
  warm_up(towers, objective, config);
  WeightAverage average(towers, config.decay);
  train_jointly(towers, objective, catalog, *store, average, rng, config);
  average.apply(towers);
  const auto features = catalog.features.to(config.device);
  std::printf("best rate %.4f\n", best_rate(objective, features, config));
  adapt_users(towers, objective, features, config);
  adapt_items(towers, objective, features, config);

  const auto bools = torch::TensorOptions().dtype(torch::kBool).device(config.device);
  // Drawn on the host, to have the same users whatever the device.
  auto users = torch::randperm(config.users).slice(0, 0, 32).to(config.device);  // RIGHT: torch-allocate-on-device
  auto known = torch::zeros({32, config.items}, bools);
  auto sold_out = catalog.popularity.lt(catalog.popularity.mean());
  auto top = recommend(towers, catalog, users, known, sold_out, 10);
  auto unavailable = sold_out.index_select(0, top.flatten()).sum();
  std::printf("%ld recommendations, %ld of them sold out\n", static_cast<long>(top.numel()),
              static_cast<long>(unavailable.item<int64_t>()));
  return 0;
}
