// A trainer class with callbacks: trains for some epochs, validates after each.

#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

namespace {

struct NetImpl : torch::nn::Module {
  NetImpl()
      : body(register_module("body", torch::nn::Sequential(torch::nn::Linear(8, 32), torch::nn::Tanh(),
                                                           torch::nn::Dropout(0.1), torch::nn::Linear(32, 1)))) {}
  torch::Tensor forward(const torch::Tensor& x) { return body->forward(x); }

  torch::nn::Sequential body;
};
TORCH_MODULE(Net);

struct Batch {
  torch::Tensor data;
  torch::Tensor target;
};

std::vector<Batch> makeBatches(int count, const torch::Device& device) {
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) {
    auto data = torch::randn({16, 8}, device);
    batches.push_back({data, data.sum(1, true).tanh()});
  }
  return batches;
}

class Evaluating {
 public:
  explicit Evaluating(torch::nn::Module& module) : module_(module), was_training_(module.is_training()) {
    // PLANT innocent torch-eval-mode-not-restored/trained-in-eval: the destructor sets the mode of before
    module_.eval();
  }
  ~Evaluating() { module_.train(was_training_); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  torch::nn::Module& module_;
  bool was_training_;
};

class Trainer {
 public:
  using Callback = std::function<void(const torch::Tensor& loss)>;

  explicit Trainer(const torch::Device& device) : optimizer_(net_->parameters(), 0.05) { net_->to(device); }

  void onBatch(Callback callback) { callbacks_.push_back(std::move(callback)); }

  double epoch(const std::vector<Batch>& batches) {
    double sum = 0;
    for (const auto& batch : batches) {  // AT T
      // PLANT true torch-zero-grad-in-place/zeros loop=T: the gradients stay and are filled with zeros
      optimizer_.zero_grad(/*set_to_none=*/false);
      auto loss = lossOf(batch);
      loss.backward();
      optimizer_.step();
      record(loss);
      // PLANT true torch-sync-in-loop/reads-number loop=T: the number is only added up
      sum += loss.item<double>();
      for (const auto& callback : callbacks_)
        callback(loss);
    }
    return sum / static_cast<double>(batches.size());
  }

  double validate(const std::vector<Batch>& batches) {
    Evaluating evaluating(*net_);
    torch::NoGradGuard no_grad;
    double worst = 0;
    for (const auto& batch : batches) {
      auto loss = lossOf(batch);
      record(loss);
      worst = std::max(worst, loss.item<double>());
    }
    return worst;
  }

  size_t recorded() const { return history_.size(); }
  double last() const { return history_.back().item<double>(); }

 private:
  torch::Tensor lossOf(const Batch& batch) {
    // PLANT innocent torch-missing-no-grad/unused-graph: trained on without a guard, evaluated under one
    auto output = net_->forward(batch.data);
    return torch::mse_loss(output, batch.target);  // AT G
  }

  void record(const torch::Tensor& loss) {
    // PLANT true torch-retained-graph/grows loop=T built=G: the losses of training are kept with their graphs
    history_.push_back(loss);
  }

  Net net_;
  torch::optim::SGD optimizer_;
  std::vector<Callback> callbacks_;
  std::vector<torch::Tensor> history_;
};

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  const auto training = makeBatches(40, device);
  const auto validation = makeBatches(10, device);
  Trainer trainer(device);
  double largest = 0;
  int batches = 0;
  trainer.onBatch([&](const torch::Tensor& loss) { largest = std::max(largest, loss.item<double>()); });
  trainer.onBatch([&](const torch::Tensor&) { ++batches; });
  for (int epoch = 0; epoch < 4; ++epoch) {
    const double mean = trainer.epoch(training);
    std::cout << "epoch " << epoch << " training " << mean << " validation " << trainer.validate(validation) << '\n';
  }
  std::cout << batches << " batches, " << trainer.recorded() << " records, largest " << largest << ", last "
            << trainer.last() << '\n';
  return 0;
}
