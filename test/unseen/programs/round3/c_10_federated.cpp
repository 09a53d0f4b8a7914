// STD: c++20
// Federated averaging (C++20): clients train on data of their own and send what they have
// learnt; aggregators are looked up by name. A client may fail, and says why.
#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace {
constexpr int64_t kIn = 16, kHidden = 32, kOut = 2;

struct ModelImpl : torch::nn::Cloneable<ModelImpl> {
  ModelImpl() { ModelImpl::reset(); }
  void reset() override {
    body = register_module("body", torch::nn::Linear(kIn, kHidden));
    head = register_module("head", torch::nn::Linear(kHidden, kOut));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head(torch::relu(body(x))); }
  torch::nn::Linear body{nullptr}, head{nullptr};
};
TORCH_MODULE(Model);

Model copy_of(const Model& model) { return Model(std::dynamic_pointer_cast<ModelImpl>(model->clone())); }

torch::Tensor flat(const Model& model) { return torch::nn::utils::parameters_to_vector(model->parameters()).detach(); }

struct Update {
  torch::Tensor weights;  // all parameters in a row, in double precision
  double samples, loss;
};
struct Failure { std::string reason; };
using Answer = std::variant<Update, Failure>;
struct Client {
  virtual ~Client() = default;
  virtual Answer train(Model global, int64_t round) = 0;
};

class LocalClient : public Client {
 public:
  LocalClient(int64_t samples, double shift) : x_(torch::randn({samples, kIn}) + shift), y_(x_.slice(1, 0, kOut).sin()) {}

  Answer train(Model global, int64_t) override {
    auto local = copy_of(global);
    auto anchors = global->parameters();
    torch::optim::SGD optimizer(local->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));  // RIGHT: torch-optimizer-in-loop one for each client and round, for many steps on a fresh copy
    double last = 0;
    for (int64_t step = 0; step < 8; ++step) {
      global->zero_grad();
      auto loss = torch::mse_loss(local->forward(x_), y_);
      auto parameters = local->parameters();
      for (size_t i = 0; i < parameters.size(); ++i)
        loss = loss + 0.01 * (parameters[i] - anchors[i]).pow(2).sum();
      loss.backward();
      optimizer.step();  // EXPECT: torch-missing-zero-grad
      last = loss.item<double>();
    }
    return Update{flat(local).to(torch::kDouble), double(x_.size(0)), last};
  }

 private:
  torch::Tensor x_, y_;
};

class FlakyClient : public LocalClient {
 public:
  using LocalClient::LocalClient;
  Answer train(Model global, int64_t round) override {
    if (round % 2 == 0)
      return Failure{"no connection in round " + std::to_string(round)};
    return LocalClient::train(std::move(global), round);
  }
};
using Aggregator = std::function<torch::Tensor(std::span<const Update>, const torch::Tensor&)>;

torch::Tensor average(std::span<const Update> updates, const torch::Tensor& reference) {
  auto sum = torch::zeros(reference.sizes(), torch::kDouble);
  double samples = 0;
  for (const auto& update : updates) {
    sum += update.samples * (update.weights - reference.to(torch::kDouble));  // EXPECT: torch-repeated-transfer
    samples += update.samples;
  }
  return reference + (sum / samples).to(reference.dtype());
}

torch::Tensor newest(std::span<const Update> updates, const torch::Tensor& reference) {
  return updates.back().weights.to(reference.dtype());
}

std::optional<double> run_round(Model& global, std::vector<std::unique_ptr<Client>>& clients, const Aggregator& aggregate, int64_t round) {
  std::vector<Update> updates;
  for (auto& client : clients) {
    auto answer = client->train(global, round);
    if (auto* failure = std::get_if<Failure>(&answer))
      std::printf("  %s\n", failure->reason.c_str());
    else
      updates.push_back(std::get<Update>(std::move(answer)));  // RIGHT: torch-retained-graph the weights are detached, the loss is a number
  }
  if (updates.empty())
    return std::nullopt;
  torch::nn::utils::vector_to_parameters(aggregate(updates, flat(global)), global->parameters());
  return updates.front().loss;
}

// A site with other labels keeps the body and gets a head of its own.
Model personalise(const Model& global, int64_t labels) {
  auto model = copy_of(global);
  model->head = torch::nn::Linear(kHidden, labels);  // EXPECT: torch-reassigned-member
  return model;
}

Model restart_head(const Model& global) {
  auto model = copy_of(global);
  model->head = model->replace_module("head", torch::nn::Linear(kHidden, kOut));  // RIGHT: torch-reassigned-member registered as well
  return model;
}

double evaluate(Model& model, int64_t batches) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (int64_t i = 0; i < batches; ++i) {
    auto x = torch::randn({64, kIn});
    auto y = model->forward(x);  // RIGHT: torch-missing-no-grad guard above
    sum += torch::mse_loss(y, x.slice(1, 0, kOut).sin()).item<double>();
  }
  return sum / double(batches);
}

}  // namespace
int main(int argc, char** argv) {
  torch::manual_seed(9);
  torch::set_num_threads(1);
  const std::map<std::string, Aggregator> aggregators{{"average", average}, {"newest", newest}};
  const auto& aggregate = aggregators.at(argc > 1 ? argv[1] : "average");
  std::vector<std::unique_ptr<Client>> clients;
  for (int64_t i = 0; i < 3; ++i)
    clients.push_back(std::make_unique<LocalClient>(40 + 20 * i, 0.1 * double(i)));
  clients.push_back(std::make_unique<FlakyClient>(50, -0.2));

  Model global;
  for (int64_t round = 0; round < 4; ++round)
    if (auto loss = run_round(global, clients, aggregate, round))
      std::printf("round %ld: local %.4f, global %.4f\n", long(round), *loss, evaluate(global, 3));
  auto fresh = restart_head(global), site = personalise(global, 5);
  std::printf("new head %.4f, %zu parameters at the site\n", evaluate(fresh, 3), site->parameters().size());
}
