// Federated averaging: clients train in threads, a server puts their networks together.
#include <torch/torch.h>
#include <future>
#include <iostream>
#include <thread>
#include <vector>

namespace fed {

constexpr int kClients = 3;
constexpr int64_t kLabels = 10, kInputs = 32;

using Net = torch::nn::Sequential;

struct Shard {
  torch::Tensor x, y;
};

Net make() { return Net(torch::nn::Linear(kInputs, 256), torch::nn::ReLU(), torch::nn::Linear(256, kLabels)); }

struct Client {
  Shard shard;
  Net net = make();

  // Local training with a proximal term: not too far from what the server sent (as doubles).
  void round(const std::vector<torch::Tensor>& sent, int steps) {
    {
      torch::NoGradGuard g;
      auto own = net->parameters();
      for (size_t i = 0; i < own.size(); ++i) own[i].copy_(sent[i]);  // RIGHT: torch-leaf-inplace (under a guard)
    }
    torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));  // RIGHT: torch-optimizer-in-loop (one for each round, which makes several steps)
    for (int s = 0; s < steps; ++s) {
      auto loss = torch::cross_entropy_loss(net->forward(shard.x), shard.y);
      const auto own = net->parameters();
      for (size_t i = 0; i < own.size(); ++i)
        loss = loss + 0.01 * (own[i] - sent[i].to(torch::kFloat32)).pow(2).sum();  // EXPECT: torch-repeated-transfer
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
  }
};

class Server {
 public:
  std::vector<torch::Tensor> publish() const {
    std::vector<torch::Tensor> out;
    for (const auto& p : net_->parameters()) out.push_back(p.detach().to(torch::kFloat64));  // RIGHT: torch-repeated-transfer (each parameter once)
    return out;
  }

  void merge(std::vector<Client>& clients) {
    size_t index = 0;
    for (auto p : net_->parameters()) {
      torch::Tensor sum = torch::zeros_like(p);
      for (auto& c : clients) sum += c.net->parameters()[index].detach();
      sum.div(static_cast<double>(clients.size()));  // EXPECT: torch-discarded-result
      p = sum;  // EXPECT: torch-parameter-copy
      ++index;
    }
  }

  void mergeInPlace(std::vector<Client>& clients) {
    torch::NoGradGuard g;
    size_t index = 0;
    for (auto p : net_->parameters()) {
      p.zero_();
      for (auto& c : clients) p.add_(c.net->parameters()[index], 1.0 / clients.size());  // RIGHT: torch-parameter-copy (in place, the handle may be a copy)
      ++index;
    }
  }

  Net& net() { return net_; }

 private:
  Net net_ = make();
};

// How many samples of each label a client has.
std::vector<torch::Tensor> histograms(const std::vector<Client>& clients) {
  std::vector<torch::Tensor> out;
  out.resize(clients.size(), torch::zeros({kLabels}));  // EXPECT: torch-fill-alias
  for (size_t c = 0; c < clients.size(); ++c) {
    auto labels = clients[c].shard.y;
    out[c].index_add_(0, labels, torch::ones_like(labels, torch::kFloat32));
  }
  return out;
}

}  // namespace fed

int main() {
  torch::manual_seed(23);
  using namespace fed;
  auto centers = torch::randn({kLabels, kInputs});
  auto shard = [&](int64_t n, int64_t from, int64_t to) {
    auto y = torch::randint(from, to, {n}, torch::kLong);
    return Shard{centers.index_select(0, y) + 0.5 * torch::randn({n, kInputs}), y};
  };
  std::vector<Client> clients(kClients);
  for (int i = 0; i < kClients; ++i) clients[i].shard = shard(100, 3 * i, 3 * i + 4);
  auto test = shard(200, 0, kLabels);
  for (auto& h : histograms(clients)) std::cout << h.sum().item<float>() << ' ';
  std::cout << '\n';

  Server server;
  for (int round = 0; round < 6; ++round) {
    auto sent = server.publish();
    std::vector<std::thread> threads;
    for (auto& c : clients) threads.emplace_back([&c, &sent] { c.round(sent, 5); });
    for (auto& t : threads) t.join();
    if (round == 0) server.merge(clients);
    server.mergeInPlace(clients);

    torch::NoGradGuard no_grad;
    auto loss = std::async(std::launch::async, [&] {
      return torch::cross_entropy_loss(server.net()->forward(test.x), test.y).item<double>();  // EXPECT: torch-missing-no-grad
    });
    auto right = server.net()->forward(test.x).argmax(1).eq(test.y).sum().item<int64_t>();  // RIGHT: torch-missing-no-grad (in the thread of the guard)
    std::cout << "round " << round << ": " << right << " of 200, loss " << loss.get() << '\n';
  }
  return 0;
}
