// A siamese network with a contrastive loss, and a gallery of embeddings to search.
#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using torch::Device;
using torch::NoGradGuard;
using torch::Tensor;
namespace nn = torch::nn;

struct Tower : nn::Module {
  explicit Tower(int64_t width) {
    body = register_module(
        "body", nn::Sequential(nn::Linear(256, width), nn::BatchNorm1d(width), nn::ReLU(),
                               nn::Linear(width, 64)));
  }
  Tensor forward(Tensor x) {
    return nn::functional::normalize(body->forward(x),
                                     nn::functional::NormalizeFuncOptions().dim(1));
  }
  nn::Sequential body{nullptr};
};

struct Pair {
  Tensor left, right, same;
};

static Pair draw(const Tensor& features, const Tensor& labels, int64_t n) {
  auto numbers = features.options().dtype(torch::kInt64);
  Tensor a = torch::randint(features.size(0), {n}, numbers);
  Tensor b = torch::randint(features.size(0), {n}, numbers);
  return {features.index_select(0, a), features.index_select(0, b),
          labels.index_select(0, a).eq(labels.index_select(0, b)).to(torch::kFloat32)};
}

static Tensor contrastive(const Tensor& a, const Tensor& b, const Tensor& same,
                          const Tensor& margin) {
  Tensor distance = (a - b).pow(2).sum(1).add(1e-9).sqrt();
  return (same * distance.pow(2) + (1 - same) * torch::relu(margin - distance).pow(2)).mean();
}

static double train(const std::shared_ptr<Tower>& tower, const Tensor& features,
                    const Tensor& labels, Device device, int steps) {
  torch::optim::RMSprop optimizer(tower->parameters(), torch::optim::RMSpropOptions(1e-3));
  tower->train();
  Tensor x = features.to(device);
  Tensor y = labels.to(device);
  Tensor margin = torch::full({512}, 1.0, torch::TensorOptions().device(device));
  std::vector<double> losses;
  std::map<int, double> milestones;
  for (int step = 0; step < steps; ++step) {
    Pair pair = draw(x, y, 512);
    Tensor loss = contrastive(tower->forward(pair.left), tower->forward(pair.right),
                              pair.same, margin);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    losses.push_back(loss.item<double>());
    if (step % 500 == 0)
      milestones[step] = loss.item<double>();
  }
  for (auto& entry : milestones)
    std::cout << entry.first << ": " << entry.second << "\n";
  double sum = 0;
  for (double loss : losses)
    sum += loss;
  return sum / losses.size();
}

class Gallery {
 public:
  Gallery(std::shared_ptr<Tower> tower, Device device)
      : tower_(std::move(tower)), device_(device) {}

  void add(const std::string& name, const Tensor& features) {
    NoGradGuard no_grad;
    tower_->eval();
    names_.push_back(name);
    embeddings_.push_back(tower_->forward(features.to(device_).unsqueeze(0)));
  }

  std::string nearest(const Tensor& features) {
    torch::InferenceMode guard;
    tower_->eval();
    Tensor query = tower_->forward(features.to(device_).unsqueeze(0));
    return names_[torch::cdist(query, torch::cat(embeddings_)).argmin().item<int64_t>()];
  }

  // How many of the queries find their own name.
  int score(const std::vector<std::pair<std::string, Tensor>>& queries) {
    return static_cast<int>(
        std::count_if(queries.begin(), queries.end(),
                      [this](const auto& query) { return nearest(query.second) == query.first; }));
  }

 private:
  std::shared_ptr<Tower> tower_;
  Device device_;
  std::vector<std::string> names_;
  std::vector<Tensor> embeddings_;
};

int main() {
  Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Tensor features = torch::randn({4096, 256});
  Tensor labels = torch::randint(32, {4096}, torch::kInt64);
  auto tower = std::make_shared<Tower>(128);
  tower->to(device);
  std::cout << "loss " << train(tower, features, labels, device, 5000) << "\n";

  Gallery gallery(tower, device);
  std::vector<std::pair<std::string, Tensor>> queries;
  for (int64_t i = 0; i < 32; ++i) {
    gallery.add("item " + std::to_string(i), features[i]);
    queries.emplace_back("item " + std::to_string(i), features[i] + 0.01 * torch::randn({256}));
  }
  std::cout << gallery.score(queries) << " of 32\n";
}
