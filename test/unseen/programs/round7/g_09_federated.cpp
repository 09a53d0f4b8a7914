// Simulation of federated training: skewed clients, compressed uploads, pluggable aggregation.
#include <torch/torch.h>

#include <ATen/DeviceAccelerator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fed {

using torch::Tensor;

struct Settings {
  size_t clients = 5;
  int rounds = 4;
  int local_epochs = 2;
  int64_t batch = 32;
  int64_t features = 12;
  int64_t classes = 4;
  double lr = 0.1;
  double prox = 0.01;
  double clip = 1.0;
  std::string strategy = "weighted";
};

struct Shard {
  int64_t width = 0;
  std::vector<float> x;
  std::vector<int64_t> y;
  size_t rows() const { return y.size(); }
};

Shard draw_shard(const Settings& s, size_t rows, int favourite, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> noise(0.f, 1.f);
  std::uniform_int_distribution<int64_t> label(0, s.classes - 1);
  std::bernoulli_distribution skew(favourite >= 0 ? 0.4 : 0.0);
  Shard shard;
  shard.width = s.features;
  for (size_t r = 0; r < rows; ++r) {
    const int64_t y = skew(rng) ? favourite % s.classes : label(rng);
    for (int64_t f = 0; f < s.features; ++f) {
      shard.x.push_back(noise(rng) + (f % s.classes == y ? 1.1f : 0.f));
    }
    shard.y.push_back(y);
  }
  return shard;
}

std::pair<Tensor, Tensor> gather(const Shard& shard, const size_t* rows, int64_t n, torch::Device device) {  // RIGHT: torch-dataset-copied
  auto x = torch::empty({n, shard.width});
  auto y = torch::empty({n}, torch::kLong);
  auto* px = x.data_ptr<float>();
  auto* py = y.data_ptr<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    const auto from = shard.x.begin() + static_cast<long>(rows[i]) * shard.width;
    std::copy(from, from + shard.width, px + i * shard.width);
    py[i] = shard.y[rows[i]];
  }
  return {x.to(device), y.to(device)};
}

struct Classifier : torch::nn::Module {
  Classifier(int64_t features, int64_t classes)
      : body(register_module("body", torch::nn::Sequential(torch::nn::Linear(features, 32), torch::nn::Tanh(),
                                                           torch::nn::Dropout(0.2)))),
        out(register_module("out", torch::nn::Linear(32, classes))) {}
  Tensor forward(const Tensor& x) { return out->forward(body->forward(x)); }
  torch::nn::Sequential body;
  torch::nn::Linear out;
};

Tensor flatten(const torch::nn::Module& m) {
  std::vector<Tensor> parts;
  for (const auto& p : m.parameters()) parts.push_back(p.detach().reshape(-1));  // RIGHT: torch-parameter-copy
  return torch::cat(parts);
}

void assign(torch::nn::Module& m, const Tensor& flat) {
  torch::NoGradGuard no_grad;
  int64_t at = 0;
  for (auto& p : m.parameters()) {
    p.copy_(flat.narrow(0, at, p.numel()).view_as(p));  // RIGHT: torch-leaf-inplace
    at += p.numel();
  }
}

// Puts a module in evaluation mode for the life of the scope.
class EvalScope {
 public:
  explicit EvalScope(torch::nn::Module& m) : module_(m), was_training_(m.is_training()) { module_.eval(); }  // RIGHT: torch-eval-mode-not-restored
  ~EvalScope() { module_.train(was_training_); }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  torch::nn::Module& module_;
  bool was_training_;
};

struct Upload {
  size_t client = 0;
  double weight = 0.0;
  Tensor packed;
};

class Meter {
 public:
  void upload(const Tensor& packed) { up_ += packed.numel() * static_cast<int64_t>(sizeof(float)); }  // EXPECT: torch-sizeof-dtype
  void download(const Tensor& flat) { down_ += flat.numel() * static_cast<int64_t>(flat.element_size()); }  // RIGHT: torch-sizeof-dtype
  void print() const {
    std::printf("traffic: up %lld bytes, down %lld bytes\n", static_cast<long long>(up_), static_cast<long long>(down_));
  }

 private:
  int64_t up_ = 0, down_ = 0;
};

using Aggregate = std::function<Tensor(const std::vector<Upload>&)>;

Aggregate make_aggregate(const std::string& name) {
  static const std::map<std::string, Aggregate> known = {
      {"weighted",
       [](const std::vector<Upload>& ups) {
         auto sum = torch::zeros_like(ups.front().packed, torch::kFloat32);
         double total = 0.0;
         for (const auto& u : ups) {
           sum.add_(u.packed, u.weight);
           total += u.weight;
         }
         return sum.div_(total);
       }},
      {"median",
       [](const std::vector<Upload>& ups) {
         std::vector<Tensor> rows(ups.size());
         std::transform(ups.begin(), ups.end(), rows.begin(),
                        [](const Upload& u) { return u.packed.to(torch::kFloat32); });
         return std::get<0>(torch::stack(rows).median(0));
       }},
  };
  return known.at(name);
}

class Server;

class Client {
 public:
  Client(size_t id, const Settings& s, torch::Device device, Shard shard)
      : id_(id), settings_(s), device_(device), shard_(std::move(shard)),
        model_(std::make_shared<Classifier>(s.features, s.classes)), rng_(static_cast<uint32_t>(31 + id)) {
    model_->to(device_);
    const double clip = s.clip;
    model_->out->bias.register_hook([clip](Tensor g) { return g.clamp(-clip, clip); });  // RIGHT: torch-hook-in-loop
  }

  void join(const std::shared_ptr<Server>& server) { server_ = server; }
  Upload work(const Tensor& global);
  size_t rows() const { return shard_.rows(); }

 private:
  void local_epochs(Shard shard) {  // EXPECT: torch-dataset-copied
    std::vector<Tensor> anchor;
    for (const auto& p : model_->parameters()) anchor.push_back(p.detach());  // EXPECT: torch-parameter-copy
    model_->out->weight.register_hook(  // EXPECT: torch-hook-in-loop
        [limit = settings_.clip](Tensor g) { return g.clamp(-limit, limit); });
    torch::optim::SGD optimizer(model_->parameters(), settings_.lr);  // RIGHT: torch-optimizer-in-loop
    const size_t train_rows = shard.rows() * 4 / 5;
    std::vector<size_t> order(train_rows);
    std::iota(order.begin(), order.end(), size_t{0});
    model_->train();
    for (int epoch = 0; epoch < settings_.local_epochs; ++epoch) {
      std::shuffle(order.begin(), order.end(), rng_);
      size_t at = 0;
      while (at + static_cast<size_t>(settings_.batch) <= train_rows) {
        const auto [x, y] = gather(shard, order.data() + at, settings_.batch, device_);
        optimizer.zero_grad(/*set_to_none=*/false);  // EXPECT: torch-zero-grad-in-place
        auto loss = torch::cross_entropy_loss(model_->forward(x), y);
        const auto params = model_->parameters();
        for (size_t i = 0; i < params.size(); ++i) {
          loss = loss + 0.5 * settings_.prox * torch::mse_loss(params[i], anchor[i], torch::Reduction::Sum);  // RIGHT: torch-inplace-opportunity
        }
        loss.backward();
        optimizer.step();
        at += static_cast<size_t>(settings_.batch);
      }
      last_accuracy_ = holdout_accuracy(shard, train_rows);
    }
  }

  double holdout_accuracy(const Shard& shard, size_t from) {
    torch::NoGradGuard no_grad;
    model_->eval();  // EXPECT: torch-eval-mode-not-restored
    std::vector<size_t> rows(shard.rows() - from);
    std::iota(rows.begin(), rows.end(), from);
    const auto [x, y] = gather(shard, rows.data(), static_cast<int64_t>(rows.size()), device_);
    return model_->forward(x).argmax(1).eq(y).to(torch::kFloat32).mean().item<double>();
  }

  size_t id_;
  Settings settings_;
  torch::Device device_;
  Shard shard_;
  std::shared_ptr<Classifier> model_;
  std::mt19937 rng_;
  std::weak_ptr<Server> server_;  // RIGHT: torch-reference-cycle
  double last_accuracy_ = 0.0;
};

class Server : public std::enable_shared_from_this<Server> {
 public:
  Server(const Settings& s, torch::Device device)
      : settings_(s), device_(device), aggregate_(make_aggregate(s.strategy)),
        model_(std::make_shared<Classifier>(s.features, s.classes)) {
    model_->to(device_);
    const auto size = flatten(*model_).numel();
    drift_ = std::vector<Tensor>(s.clients, torch::zeros({size}, torch::device(device_)));  // EXPECT: torch-fill-alias
    recent_.reserve(s.clients);
    std::generate_n(std::back_inserter(recent_), s.clients,
                    [&] { return torch::zeros({size}, torch::device(device_)); });  // RIGHT: torch-fill-alias
  }

  void enlist(std::unique_ptr<Client> client) {
    client->join(shared_from_this());
    clients_.push_back(std::move(client));
  }

  void run(const Shard& test) {
    for (int round = 0; round < settings_.rounds; ++round) {
      const auto global = flatten(*model_);
      std::vector<Upload> uploads;
      for (auto& client : clients_) {
        meter_.download(global);
        uploads.push_back(client->work(global));
        meter_.upload(uploads.back().packed);
        if (device_.is_cuda()) at::accelerator::emptyCache();  // EXPECT: torch-empty-cache-in-loop
      }
      for (const auto& u : uploads) {
        drift_[u.client].add_(u.packed);
        recent_[u.client].copy_(u.packed);
      }
      assign(*model_, global + aggregate_(uploads));
      std::printf("round %d accuracy %.3f\n", round, evaluate(test));
    }
    if (device_.is_cuda()) at::accelerator::emptyCache();  // RIGHT: torch-empty-cache-in-loop
  }

  void on_progress(size_t client, double accuracy) { progress_[client] = accuracy; }

  void report() const {
    meter_.print();
    std::vector<Tensor> norms;
    for (size_t c = 0; c < clients_.size(); ++c) norms.push_back(torch::stack({drift_[c].norm(), recent_[c].norm()}));
    const auto table = torch::stack(norms).cpu();
    const auto rows = table.accessor<float, 2>();
    for (const auto& [client, accuracy] : progress_) {
      const auto i = static_cast<int64_t>(client);
      std::printf("client %zu local %.3f drift %.3f recent %.3f\n", client, accuracy, rows[i][0], rows[i][1]);
    }
  }

 private:
  double evaluate(const Shard& test) {
    EvalScope scope(*model_);
    const size_t workers = 2;
    std::vector<int64_t> right(workers, 0);
    std::vector<std::thread> pool;
    for (size_t w = 0; w < workers; ++w) {
      pool.emplace_back([&, w] {
        torch::NoGradGuard no_grad;  // RIGHT: torch-thread-local-guard
        std::vector<size_t> rows;
        for (size_t r = w; r < test.rows(); r += workers) rows.push_back(r);
        const auto [x, y] = gather(test, rows.data(), static_cast<int64_t>(rows.size()), device_);
        right[w] = model_->forward(x).argmax(1).eq(y).sum().item<int64_t>();
      });
    }
    for (auto& t : pool) t.join();
    const auto hits = std::accumulate(right.begin(), right.end(), int64_t{0});
    return static_cast<double>(hits) / static_cast<double>(test.rows());
  }

  Settings settings_;
  torch::Device device_;
  Aggregate aggregate_;
  std::shared_ptr<Classifier> model_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Tensor> drift_, recent_;
  std::map<size_t, double> progress_;
  Meter meter_;
};

Upload Client::work(const Tensor& global) {
  assign(*model_, global);
  local_epochs(shard_);
  if (auto server = server_.lock()) server->on_progress(id_, last_accuracy_);
  const auto delta = flatten(*model_) - global;
  return {id_, static_cast<double>(shard_.rows()), delta.to(torch::kHalf)};
}

}  // namespace fed

int main(int argc, char** argv) {
  torch::manual_seed(3);
  fed::Settings settings;
  if (argc > 1) settings.strategy = argv[1];
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto server = std::make_shared<fed::Server>(settings, device);
  for (size_t c = 0; c < settings.clients; ++c) {
    auto shard = fed::draw_shard(settings, 200 + 40 * c, static_cast<int>(c), static_cast<uint32_t>(50 + c));
    server->enlist(std::make_unique<fed::Client>(c, settings, device, std::move(shard)));
  }
  server->run(fed::draw_shard(settings, 400, -1, 4242));
  server->report();
  return 0;
}
