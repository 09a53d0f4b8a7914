// Patch classifier: the whole training lives in a class, the device is chosen at start-up.
#include <torch/torch.h>

#include <iostream>
#include <optional>
#include <vector>

namespace {

constexpr int64_t kClasses = 5;
constexpr int64_t kPixels = 64;

class Patches : public torch::data::datasets::Dataset<Patches> {
 public:
  explicit Patches(int64_t count)
      : pixels_(torch::randn({count, kPixels})), labels_(torch::randint(kClasses, {count}, torch::kLong)) {
    pixels_.add_(labels_.unsqueeze(1), 0.3);
  }
  torch::data::Example<> get(size_t index) override { return {pixels_[index], labels_[index]}; }
  std::optional<size_t> size() const override { return labels_.size(0); }

 private:
  torch::Tensor pixels_, labels_;
};

using Stacked = torch::data::datasets::MapDataset<Patches, torch::data::transforms::Stack<>>;
using Loader = torch::data::StatelessDataLoader<Stacked, torch::data::samplers::RandomSampler>;

std::unique_ptr<Loader> loader_over(int64_t count) {
  return torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Patches(count).map(torch::data::transforms::Stack<>()), 32);
}

struct PatchNetImpl : torch::nn::Module {
  PatchNetImpl()
      : widen(register_module("widen", torch::nn::Linear(kPixels, 128))),
        norm(register_module("norm", torch::nn::BatchNorm1d(128))),
        drop(register_module("drop", torch::nn::Dropout(0.3))),
        head(register_module("head", torch::nn::Linear(128, kClasses))) {}
  torch::Tensor forward(torch::Tensor x) {
    return torch::log_softmax(head(drop(torch::relu(norm(widen(x))))), 1);
  }
  torch::nn::Linear widen;
  torch::nn::BatchNorm1d norm;
  torch::nn::Dropout drop;
  torch::nn::Linear head;
};
TORCH_MODULE(PatchNet);

class Trainer {
 public:
  Trainer(PatchNet net, torch::Device device) : net_(std::move(net)), device_(device) {
    net_->to(device_);
    optimizer_ = std::make_unique<torch::optim::Adam>(net_->parameters(), torch::optim::AdamOptions(2e-3));
    class_weights_ = torch::linspace(0.5, 1.5, kClasses);
  }

  void fit(Loader& train, Loader& held_out, int epochs) {
    net_->train();
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const double loss = run_epoch(train);
      const double accuracy = validate(held_out);
      std::cout << "epoch " << epoch << ": " << loss << ", " << accuracy << '\n';
    }
    std::cout << "first and last: " << curve_.front().item<float>() << ' ' << curve_.back().item<float>() << '\n';
  }

  // A few careful rounds with large effective batches.
  void polish(Loader& train, Loader& held_out, int rounds) {
    torch::optim::SGD slow(net_->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
    const auto weights = class_weights_.to(device_);  // RIGHT: torch-repeated-transfer once, before the loops
    for (int round = 0; round < rounds; ++round) {
      net_->train();
      int64_t seen = 0;
      torch::Tensor last;
      for (auto& batch : train) {
        auto output = net_->forward(batch.data.to(device_));
        auto loss = torch::nll_loss(output, batch.target.to(device_), weights);  // RIGHT: torch-device-mismatch all three are there
        (loss / 4).backward();
        last = loss.detach();  // RIGHT: torch-retained-graph detached
        if (++seen % 4 != 0) continue;
        slow.step();  // RIGHT: torch-missing-zero-grad gradients of four batches are gathered
        slow.zero_grad();
      }
      net_->eval();  // RIGHT: torch-eval-mode-not-restored each round begins with train()
      torch::NoGradGuard no_grad;
      for (auto& batch : held_out) {
        auto output = net_->forward(batch.data.to(device_));
        last = last + output.amax(1).mean();
      }
      std::cout << "round " << round << ": " << last.item<float>() << '\n';  // RIGHT: torch-sync-in-loop once for each round
    }
  }

 private:
  double run_epoch(Loader& loader) {
    double sum = 0;
    int64_t batches = 0;
    for (auto& batch : loader) {
      auto weights = class_weights_.to(device_);  // EXPECT: torch-repeated-transfer
      auto input = batch.data.to(device_);        // RIGHT: torch-repeated-transfer the batch is another each time
      auto output = net_->forward(input);
      auto loss = torch::nll_loss(output, batch.target, weights);  // EXPECT: torch-device-mismatch
      optimizer_->zero_grad();
      loss.backward();
      optimizer_->step();
      sum += loss.item<double>();  // EXPECT: torch-sync-in-loop
      curve_.push_back(loss);      // EXPECT: torch-retained-graph
      ++batches;
    }
    return sum / batches;
  }

  double validate(Loader& loader) {
    net_->eval();  // EXPECT: torch-eval-mode-not-restored
    torch::NoGradGuard no_grad;
    int64_t hits = 0, seen = 0;
    double certainty = 0;
    for (auto& batch : loader) {
      auto output = net_->forward(batch.data.to(device_));  // RIGHT: torch-missing-no-grad the guard is above
      output.exp();  // EXPECT: torch-discarded-result
      certainty += output.amax(1).sum().item<double>();  // RIGHT: torch-sync-in-loop nothing is trained in this loop
      hits += output.argmax(1).eq(batch.target.to(device_)).sum().item<int64_t>();
      seen += batch.target.size(0);
    }
    std::cout << "certainty " << certainty / seen << '\n';
    return double(hits) / seen;
  }

  PatchNet net_;
  torch::Device device_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
  torch::Tensor class_weights_;
  std::vector<torch::Tensor> curve_;
};

}  // namespace

int main() {
  torch::manual_seed(3);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto train = loader_over(512), held_out = loader_over(128);
  Trainer trainer(PatchNet(), device);
  trainer.fit(*train, *held_out, 4);
  trainer.polish(*train, *held_out, 2);
  return 0;
}
