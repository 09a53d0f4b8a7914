// Next-item recommendation for a web shop: trains a session encoder on the click log, ranks the
// catalogue for live sessions, and blends in what the thumbnails look like.
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace shop {

constexpr int64_t kWindow = 10;
constexpr int64_t kCatalogue = 600;
constexpr int64_t kDim = 48;
constexpr int64_t kThumb = 24;

// ------------------------------------------------------------------ data

struct Columns {
  std::vector<int64_t> items;
  std::vector<int64_t> shoppers;
};

Columns simulate(size_t clicks, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::geometric_distribution<int64_t> skip(0.2);
  Columns c;
  int64_t at = 0;
  for (size_t i = 0; i < clicks; ++i) {
    at = (at + 1 + skip(rng)) % kCatalogue;
    c.items.push_back(at);
    c.shoppers.push_back(static_cast<int64_t>(i / 16));
  }
  return c;
}

torch::data::Example<> window_at(const std::vector<int64_t>& items, size_t index) {
  const c10::ArrayRef<int64_t> history(items.data() + index, static_cast<size_t>(kWindow));
  return {torch::tensor(history, torch::kLong), torch::tensor(items[index + kWindow], torch::kLong)};
}

// Straight from the CSV export of the warehouse.
class ClickLog : public torch::data::datasets::Dataset<ClickLog> {
 public:
  explicit ClickLog(Columns columns) : columns_(std::move(columns)) {}
  torch::data::Example<> get(size_t index) override { return window_at(columns_.items, index); }
  std::optional<size_t> size() const override { return columns_.items.size() - kWindow; }

 private:
  Columns columns_;
};

// The part that was held out; several readers look at it.
class HeldOut : public torch::data::datasets::Dataset<HeldOut> {
 public:
  explicit HeldOut(std::shared_ptr<const Columns> columns) : columns_(std::move(columns)) {}
  torch::data::Example<> get(size_t index) override { return window_at(columns_->items, index); }
  std::optional<size_t> size() const override { return columns_->items.size() - kWindow; }

 private:
  std::shared_ptr<const Columns> columns_;
};

template <typename Dataset>
auto stacked(Dataset dataset) {
  return std::move(dataset).map(torch::data::transforms::Stack<>());
}

// ------------------------------------------------------------------ model

class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl()
      : items(register_module("items", torch::nn::Embedding(kCatalogue, kDim))),
        gru_(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(kDim, kDim).batch_first(true)))) {}

  // (batch, window) -> (batch, window, dim)
  torch::Tensor encode(const torch::Tensor& history) { return std::get<0>(gru_->forward(items->forward(history))); }
  torch::Tensor forward(const torch::Tensor& history) {
    return torch::mm(encode(history).select(1, kWindow - 1), items->weight.t());
  }

  torch::nn::Embedding items;

 private:
  torch::nn::GRU gru_;
};
TORCH_MODULE(Encoder);

// ------------------------------------------------------------------ training

void train(Encoder& net, Columns columns, torch::Device device, int epochs) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(  // EXPECT: torch-dataset-copied
      stacked(ClickLog(std::move(columns))), torch::data::DataLoaderOptions().batch_size(64).workers(2));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  net->train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    auto total = torch::zeros({}, torch::device(device));
    int64_t batches = 0;
    for (auto& batch : *loader) {
      const auto history = batch.data.to(device).clone();  // EXPECT: torch-redundant-transfer
      const auto next = batch.target.to(device);  // RIGHT: torch-repeated-transfer
      const auto loss = torch::nn::functional::cross_entropy(net->forward(history), next);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.detach();
      ++batches;
    }
    std::cout << "epoch " << epoch << ": " << total.item<float>() / static_cast<float>(batches) << "\n";
  }
  net->eval();
}

// ------------------------------------------------------------------ thumbnails

// Looks: a fixed random projection of the pictures, the same on every machine.
class Looks {
 public:
  explicit Looks(torch::Device device) : device_(device) {
    auto generator = torch::make_generator<at::CPUGeneratorImpl>(17);
    projection_ = torch::randn({3 * kThumb * kThumb, kDim}, generator).to(device_);  // RIGHT: torch-allocate-on-device
  }

  torch::Tensor describe(const torch::Tensor& thumbs) const {
    const auto scaled = thumbs.to(torch::kFloat32).div_(255.0);  // EXPECT: torch-convert-before-transfer
    return project(scaled.flatten(1).to(device_));
  }

  torch::Tensor describe_single(const torch::Tensor& thumb) const {
    const auto resident = thumb.to(device_).to(torch::kFloat32).div_(255.0);  // RIGHT: torch-convert-before-transfer
    return project(resident.flatten().unsqueeze(0));
  }

  // the photographer's colour profiles come in double precision
  torch::Tensor with_profile(const torch::Tensor& profile) const {
    return profile.to(torch::kFloat32).to(device_);  // RIGHT: torch-convert-before-transfer
  }

 private:
  torch::Tensor project(const torch::Tensor& flat) const {
    return torch::nn::functional::normalize(torch::mm(flat, projection_));
  }
  torch::Device device_;
  torch::Tensor projection_;
};

// ------------------------------------------------------------------ sessions

class SessionStore {
 public:
  void remember(const std::vector<int64_t>& shoppers, const torch::Tensor& encoded) {
    for (size_t i = 0; i < shoppers.size(); ++i) {
      const auto own = encoded.select(0, static_cast<int64_t>(i));
      last_[shoppers[i]] = own.select(0, kWindow - 1);  // EXPECT: torch-view-pins-storage
      mean_[shoppers[i]] = own.mean(0);  // RIGHT: torch-view-pins-storage
    }
  }

  torch::Tensor recall(const std::vector<int64_t>& shoppers) const {
    std::vector<torch::Tensor> rows;
    for (auto s : shoppers) rows.push_back(last_.at(s).add(mean_.at(s), 0.1));
    return torch::stack(rows);
  }

  size_t size() const { return last_.size(); }

 private:
  std::unordered_map<int64_t, torch::Tensor> last_;
  std::unordered_map<int64_t, torch::Tensor> mean_;
};

// ------------------------------------------------------------------ ranking

struct Ranking {
  torch::Tensor items;
  torch::Tensor weights;
};

class Ranker {
 public:
  Ranker(Encoder net, const Columns& columns, torch::Device device)
      : net_(std::move(net)),
        device_(device),
        shown_(torch::zeros({kCatalogue, kCatalogue}, torch::kFloat32).to(device)) {  // EXPECT: torch-allocate-on-device
    const auto all = torch::tensor(columns.items, torch::kLong);
    prior_ = torch::bincount(all, {}, kCatalogue).to(torch::kFloat32).add_(1.0).log_();
    seasonal_ = torch::sin(torch::arange(kCatalogue, torch::kFloat32)).to(device_);
  }

  // hit rate at ten over everything that the loader yields
  template <typename Loader>
  double hit_rate(Loader& loader) {
    torch::NoGradGuard no_grad;
    auto hits = torch::zeros({}, torch::device(device_).dtype(torch::kLong));
    int64_t asked = 0;
    for (auto& batch : loader) {
      const auto history = batch.data.to(device_);
      const auto state = net_->encode(history).select(1, kWindow - 1);
      const auto ids = torch::arange(kCatalogue, torch::device(device_).dtype(torch::kLong));  // EXPECT: torch-allocation-in-loop
      auto scores = torch::mm(state, net_->items->forward(ids).t());
      scores.add_(prior_.to(device_), 0.05);  // EXPECT: torch-repeated-transfer
      scores.add_(seasonal_, 0.01);
      const auto jitter = torch::rand({kCatalogue}, torch::device(device_));  // RIGHT: torch-allocation-in-loop
      scores.add_(jitter, 1e-4);
      const auto top = std::get<1>(scores.topk(10, 1));
      hits += top.eq(batch.target.to(device_).unsqueeze(1)).sum();
      asked += batch.data.size(0);  // RIGHT: torch-transfer-for-metadata
    }
    return hits.item<double>() / static_cast<double>(asked);
  }

  Ranking rank(const torch::Tensor& state, int64_t k) {
    torch::NoGradGuard no_grad;
    const auto scores = torch::mm(state, net_->items->weight.t());
    const auto calm = soften(scores, 0.7);
    auto [weights, items] = calm.topk(k, 1);
    shown_.index_add_(0, items.select(1, 0), calm);
    return {items, weights};
  }

  // no two articles of one family in a row; the families are only known to the host
  Ranking diversify(const Ranking& in) const {
    const auto host = in.items.cpu();
    auto mask = torch::ones_like(host, torch::kFloat32);
    auto ids = host.accessor<int64_t, 2>();
    auto keep = mask.accessor<float, 2>();
    for (int64_t r = 0; r < ids.size(0); ++r) {
      std::unordered_set<int64_t> families;
      for (int64_t c = 0; c < ids.size(1); ++c) {
        if (!families.insert(ids[r][c] / 7).second) keep[r][c] = 0.f;
      }
    }
    return {in.items, in.weights * mask.to(in.weights.device())};  // RIGHT: torch-device-round-trip
  }

  double coverage(const Ranking& ranking) const {
    const int64_t columns = ranking.items.cpu().size(1);  // EXPECT: torch-transfer-for-metadata
    const auto distinct = std::get<0>(at::_unique(ranking.items.flatten()));
    return static_cast<double>(distinct.numel()) / static_cast<double>(columns * ranking.items.size(0));
  }

  // what the night shift may edit; the live table stays as it is
  torch::Tensor editable_prior() const {
    auto own = prior_.to(device_, prior_.scalar_type(), /*non_blocking=*/false, /*copy=*/true);  // RIGHT: torch-redundant-transfer
    own.narrow(0, 0, 20).zero_();
    return own;
  }

 private:
  torch::Tensor soften(const torch::Tensor& scores, double temperature) const {
    return torch::softmax(scores.cpu() / temperature, 1).to(scores.device());  // EXPECT: torch-device-round-trip
  }

  Encoder net_;
  torch::Device device_;
  torch::Tensor shown_;
  torch::Tensor prior_;
  torch::Tensor seasonal_;
};

std::vector<std::vector<int64_t>> live_sessions(const Columns& columns, size_t count) {
  std::vector<std::vector<int64_t>> out;
  for (size_t i = 0; i < count; ++i) {
    const auto from = columns.items.begin() + static_cast<std::ptrdiff_t>(i * 13);
    out.emplace_back(from, from + kWindow);
  }
  return out;
}

torch::Tensor to_tensor(const std::vector<std::vector<int64_t>>& sessions, torch::Device device) {
  std::vector<torch::Tensor> rows;
  for (const auto& s : sessions) rows.push_back(torch::tensor(s, torch::kLong));
  return torch::stack(rows).to(device);  // RIGHT: torch-repeated-transfer
}

}  // namespace shop

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(29);
  const torch::Device device = torch::cuda::is_available() ? torch::Device(torch::kCUDA, 0) : torch::Device(torch::kCPU);

  const auto held_out = std::make_shared<const shop::Columns>(shop::simulate(900, 2));
  shop::Encoder net;
  net->to(device);
  shop::train(net, shop::simulate(2500, 1), device, 2);

  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(  // RIGHT: torch-dataset-copied
      shop::stacked(shop::HeldOut(held_out)), torch::data::DataLoaderOptions().batch_size(64).workers(2));
  shop::Ranker ranker(net, *held_out, device);
  std::cout << "hit rate " << ranker.hit_rate(*loader) << "\n";

  const auto sessions = shop::live_sessions(*held_out, 32);
  std::vector<int64_t> shoppers(sessions.size());
  std::iota(shoppers.begin(), shoppers.end(), 1000);
  shop::SessionStore store;
  {
    torch::NoGradGuard no_grad;
    store.remember(shoppers, net->encode(shop::to_tensor(sessions, device)));
  }
  const auto ranking = ranker.rank(store.recall(shoppers), 12);
  const auto mixed = ranker.diversify(ranking);
  std::cout << store.size() << " sessions, coverage " << ranker.coverage(mixed) << ", kept weight "
            << mixed.weights.sum().item<float>() << "\n";

  shop::Looks looks(device);
  const auto thumbs = torch::randint(256, {64, 3, shop::kThumb, shop::kThumb}, torch::kUInt8);
  const auto described = looks.describe(thumbs);
  const auto one = looks.describe_single(thumbs.select(0, 3));
  const auto profile = looks.with_profile(torch::rand({shop::kDim}, torch::kFloat64));
  std::cout << "nearest look " << torch::mm(described * profile, one.t()).argmax().item<int64_t>() << ", prior "
            << ranker.editable_prior().mean().item<float>() << "\n";
  return 0;
}
