// Classifies Gaussian blobs; everything around the network sits in a Trainer.
#include <torch/torch.h>

#include <iomanip>
#include <iostream>
#include <vector>

class BlobDataset : public torch::data::datasets::Dataset<BlobDataset> {
 public:
  BlobDataset(int64_t n, int64_t classes, int64_t dim, uint64_t seed) {
    torch::manual_seed(seed);
    auto centers = torch::randn({classes, dim}) * 2;
    labels_ = torch::randint(classes, {n}, torch::kLong);
    points_ = centers.index_select(0, labels_) + torch::randn({n, dim});
  }

  torch::data::Example<> get(size_t index) override {
    return {points_[static_cast<int64_t>(index)], labels_[static_cast<int64_t>(index)]};
  }

  torch::optional<size_t> size() const override { return static_cast<size_t>(points_.size(0)); }

 private:
  torch::Tensor points_, labels_;
};

struct BlobNetImpl : torch::nn::Module {
  BlobNetImpl(int64_t dim, int64_t classes)
      : hidden(register_module("hidden", torch::nn::Linear(dim, 64))),
        dropout(register_module("dropout", torch::nn::Dropout(0.2))),
        out(register_module("out", torch::nn::Linear(64, classes))) {}

  torch::Tensor forward(torch::Tensor x) {
    return out->forward(dropout->forward(torch::relu(hidden->forward(x))));
  }

  torch::nn::Linear hidden;
  torch::nn::Dropout dropout;
  torch::nn::Linear out;
};
TORCH_MODULE(BlobNet);

class Trainer {
 public:
  Trainer(BlobNet model, double lr, torch::Device device)
      : model_(std::move(model)), optimizer_(model_->parameters(), torch::optim::AdamOptions(lr)), device_(device) {
    model_->to(device_);
  }

  template <typename Loader>
  void fit(Loader& loader, int epochs) {
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      model_->train();
      running_ = torch::zeros({}, device_);
      int64_t batches = 0;
      for (auto& batch : *loader) {
        beginStep();
        auto data = batch.data.to(device_);      // RIGHT: torch-repeated-transfer (each batch is another tensor)
        auto target = batch.target.to(device_);
        auto loss = torch::nll_loss(torch::log_softmax(model_->forward(data), 1), target);
        loss.backward();
        optimizer_.step();                       // RIGHT: torch-missing-zero-grad (beginStep() clears)
        running_ += loss;                        // EXPECT: torch-retained-graph
        history_.push_back(loss.template item<double>()); // RIGHT: torch-retained-graph (a number is kept)
        ++batches;
      }
      std::cout << "epoch " << epoch << " loss " << std::fixed << std::setprecision(4)
                << running_.item<double>() / static_cast<double>(batches) << '\n';
    }
  }

  template <typename Loader>
  double validate(Loader& loader) {
    model_->eval();
    int64_t hits = 0, total = 0;
    for (auto& batch : *loader) {
      auto guess = model_->forward(batch.data.to(device_)).argmax(1);  // EXPECT: torch-missing-no-grad
      hits += guess.eq(batch.target.to(device_)).sum().template item<int64_t>();
      total += batch.data.size(0);
    }
    return static_cast<double>(hits) / static_cast<double>(total);
  }

  const std::vector<double>& history() const { return history_; }

 private:
  void beginStep() { optimizer_.zero_grad(); }

  BlobNet model_;
  torch::optim::Adam optimizer_;
  torch::Device device_;
  torch::Tensor running_;
  std::vector<double> history_;
};

int main() {
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  auto train_set = BlobDataset(1200, 5, 12, 1).map(torch::data::transforms::Stack<>());
  auto valid_set = BlobDataset(300, 5, 12, 1).map(torch::data::transforms::Stack<>());
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(train_set), 64);
  auto valid_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(valid_set), 100);

  Trainer trainer(BlobNet(12, 5), 3e-3, device);
  trainer.fit(train_loader, 4);
  std::cout << "accuracy " << trainer.validate(valid_loader) << " after " << trainer.history().size() << " steps\n";
  return 0;
}
