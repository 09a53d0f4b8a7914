// Surface defect inspection: a small CNN that is trained on patches of a conveyor camera.
#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <vector>

namespace {
struct Patch {
  std::vector<float> pixels;
  int64_t kind;
};
std::vector<Patch> synthesize(size_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> noise(0.f, 0.4f);
  std::vector<Patch> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i].kind = static_cast<int64_t>(i % 3);
    out[i].pixels.resize(144);
    for (auto& v : out[i].pixels) v = noise(rng) + 0.3f * out[i].kind;
  }
  return out;
}

class PatchSet : public torch::data::datasets::Dataset<PatchSet> {
 public:
  explicit PatchSet(std::vector<Patch> patches) : patches_(std::move(patches)) {}
  torch::data::Example<> get(size_t index) override {
    const auto& p = patches_[index];
    return {torch::tensor(p.pixels).view({1, 12, 12}), torch::tensor(p.kind)};
  }
  std::optional<size_t> size() const override { return patches_.size(); }
 private:
  std::vector<Patch> patches_;
};

class SharedPatchSet : public torch::data::datasets::Dataset<SharedPatchSet> {
 public:
  explicit SharedPatchSet(std::shared_ptr<const std::vector<Patch>> patches) : patches_(std::move(patches)) {}
  torch::data::Example<> get(size_t index) override {
    const auto& p = (*patches_)[index];
    return {torch::tensor(p.pixels).view({1, 12, 12}), torch::tensor(p.kind)};
  }
  std::optional<size_t> size() const override { return patches_->size(); }
 private:
  std::shared_ptr<const std::vector<Patch>> patches_;
};

struct InspectorImpl : torch::nn::Module {
  InspectorImpl() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 6, 3)));
    norm = register_module("norm", torch::nn::BatchNorm2d(6));
    drop = register_module("drop", torch::nn::Dropout(0.25));
    head = register_module("head", torch::nn::Linear(600, 3));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm(conv(x)));
    return head(drop(x.flatten(1)));
  }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Dropout drop{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Inspector);
using Batch = torch::data::Example<>;
class InspectorTrainer {
 public:
  explicit InspectorTrainer(Inspector net) : net_(net), sgd_(net_->parameters(), torch::optim::SGDOptions(0.02)) {
    sgd_.zero_grad();
  }
  template <typename Loader>
  void fit(Loader& train, const Batch& holdout, int epochs) {
    net_->train();
    for (int e = 0; e < epochs; ++e) {
      for (auto& batch : train) {
        auto loss = descend(batch);
        worst_ = std::max(worst_, loss.template item<double>());  // RIGHT: torch-retained-graph (a number)
        curve_.push_back(loss);  // EXPECT: torch-retained-graph
      }
      std::cout << "epoch " << e << " accuracy " << score(holdout) << '\n';
    }
  }
  // Four small batches make one step.
  template <typename Loader>
  void polish(Loader& train) {
    net_->train();
    sgd_.zero_grad();
    int seen = 0;
    for (auto& batch : train) {
      auto loss = torch::cross_entropy_loss(net_->forward(batch.data), batch.target) / 4;
      loss.backward();
      if (++seen % 4 == 0) {
        sgd_.step();  // RIGHT: torch-missing-zero-grad (accumulation over four batches)
        sgd_.zero_grad();
      }
    }
  }
  int64_t countOf(const torch::Tensor& images, int64_t kind) {
    net_->eval();  // RIGHT: torch-eval-mode-not-restored (nothing is trained after it)
    auto logits = net_->forward(images);  // EXPECT: torch-missing-no-grad
    return logits.argmax(1).eq(kind).sum().item<int64_t>();
  }
  double meanLoss() const {
    double sum = 0;
    for (const auto& l : curve_) sum += l.item<double>();
    return sum / std::max<size_t>(1, curve_.size());
  }

 private:
  torch::Tensor descend(const Batch& batch) {
    auto loss = torch::cross_entropy_loss(net_->forward(batch.data), batch.target);
    loss.backward();
    sgd_.step();  // EXPECT: torch-missing-zero-grad
    return loss;
  }

  double score(const Batch& holdout) {
    torch::NoGradGuard quiet;
    net_->eval();  // EXPECT: torch-eval-mode-not-restored
    auto guess = net_->forward(holdout.data).argmax(1);  // RIGHT: torch-missing-no-grad (under a guard)
    return guess.eq(holdout.target).to(torch::kFloat).mean().item<double>();
  }

  Inspector net_;
  torch::optim::SGD sgd_;
  std::vector<torch::Tensor> curve_;
  double worst_ = 0;
};

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(3);
  using torch::data::DataLoaderOptions;
  using torch::data::transforms::Stack;
  auto opts = DataLoaderOptions().batch_size(16).workers(2);
  auto loader = torch::data::make_data_loader(PatchSet(synthesize(192, 1)).map(Stack<>()), DataLoaderOptions().batch_size(16).workers(2));  // EXPECT: torch-dataset-copied
  auto shared = std::make_shared<const std::vector<Patch>>(synthesize(128, 2));
  auto second = torch::data::make_data_loader(SharedPatchSet(shared).map(Stack<>()), opts);  // RIGHT: torch-dataset-copied (a shared pointer)
  auto single = torch::data::make_data_loader(PatchSet(synthesize(64, 5)).map(Stack<>()), DataLoaderOptions().batch_size(64).workers(1));  // RIGHT: torch-dataset-copied (one worker)
  const Batch holdout = *single->begin();
  InspectorTrainer trainer{Inspector()};
  trainer.fit(*loader, holdout, 2);
  trainer.polish(*second);
  std::cout << "kind 1: " << trainer.countOf(holdout.data, 1) << ", loss " << trainer.meanLoss() << '\n';
}
