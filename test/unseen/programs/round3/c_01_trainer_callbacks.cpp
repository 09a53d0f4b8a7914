// Sorts camera frames by defect class from 32 hand-made features. The trainer owns the
// optimisation; everything that is only watched is a callback.
#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

namespace {

constexpr int64_t kFeatures = 32, kClasses = 4, kBatch = 64, kBuckets = 8192;

struct Frames : torch::data::datasets::Dataset<Frames> {
  explicit Frames(int64_t n) : x(torch::randn({n, kFeatures})), y(x.slice(1, 0, kClasses).argmax(1)) {}
  torch::data::Example<> get(size_t i) override { return {x[int64_t(i)], y[int64_t(i)]}; }
  std::optional<size_t> size() const override { return static_cast<size_t>(x.size(0)); }
  torch::Tensor x, y;
};

struct DefectNetImpl : torch::nn::Module {
  explicit DefectNetImpl(double p)
      : in(register_module("in", torch::nn::Linear(kFeatures, 64))),
        out(register_module("out", torch::nn::Linear(64, kClasses))),
        drop(register_module("drop", torch::nn::Dropout(p))) {}
  torch::Tensor forward(const torch::Tensor& x) { return out(drop(torch::relu(in(x)))); }
  torch::nn::Linear in, out;
  torch::nn::Dropout drop;
};
TORCH_MODULE(DefectNet);

struct StepInfo {
  int64_t epoch, step;
  torch::Tensor loss, logits;
};

class Trainer {
 public:
  using Callback = std::function<void(const StepInfo&)>;

  Trainer(DefectNet net, torch::Device device, double lr)
      : net_(std::move(net)), device_(device), class_weights_(torch::tensor({1.0f, 1.0f, 2.5f, 4.0f})),
        optimizer_(net_->parameters(), torch::optim::SGDOptions(lr).momentum(0.9)) {
    net_->to(device_);
  }

  void on_step(Callback callback) { callbacks_.push_back(std::move(callback)); }

  template <class Loader>
  void fit(Loader& loader, int64_t epochs) {
    int64_t step = 0;
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      net_->train();
      optimizer_.zero_grad();
      auto coverage = torch::zeros({kBuckets}, torch::kLong);  // RIGHT: torch-allocation-in-loop the training loop is inside: once for each epoch
      for (auto& batch : loader) {
        auto x = batch.data.to(device_);  // RIGHT: torch-repeated-transfer the iteration's own batch
        auto y = batch.target.to(device_);
        coverage += torch::bincount(x.abs().sum(1).mul(997).to(torch::kLong).remainder(kBuckets).cpu(), {}, kBuckets);
        auto logits = net_->forward(x);
        auto weights = class_weights_.to(device_);  // EXPECT: torch-repeated-transfer
        auto loss = F::cross_entropy(logits, y, F::CrossEntropyFuncOptions().weight(weights));
        loss.backward();
        optimizer_.step();  // EXPECT: torch-missing-zero-grad
        for (auto& callback : callbacks_)
          callback({epoch, step, loss, logits});
        ++step;
      }
      std::printf("epoch %ld: %ld buckets seen\n", long(epoch), long(coverage.gt(0).sum().item<int64_t>()));
    }
  }

  // The head alone, on batches that are too small for a step of their own.
  template <class Loader>
  void finetune_head(Loader& loader, int64_t accumulate) {
    torch::optim::AdamW head(net_->out->parameters(), torch::optim::AdamWOptions(1e-4));
    head.zero_grad();
    int64_t seen = 0;
    for (auto& batch : loader) {
      auto logits = net_->forward(batch.data.to(device_));
      auto loss = F::cross_entropy(logits, batch.target.to(device_)) / accumulate;
      loss.backward();
      if (++seen % accumulate == 0) {
        head.step();  // RIGHT: torch-missing-zero-grad accumulation: cleared after each step
        head.zero_grad();
      }
    }
  }

  template <class Loader>
  double validate(Loader& loader) {
    net_->eval();
    int64_t correct = 0, total = 0;
    for (auto& batch : loader) {
      auto scores = net_->forward(batch.data.to(device_));  // EXPECT: torch-missing-no-grad
      correct += scores.argmax(1).eq(batch.target.to(device_)).sum().template item<int64_t>();
      total += batch.target.size(0);
    }
    return double(correct) / double(total);
  }

  std::vector<float> confidences(const torch::Tensor& frames) {
    torch::NoGradGuard no_grad;
    net_->eval();
    std::vector<float> result;
    for (const auto& part : frames.split(kBatch)) {
      auto p = net_->forward(part.to(device_)).softmax(1);  // RIGHT: torch-missing-no-grad guard at the top of the method
      result.push_back(p.amax(1).mean().item<float>());
    }
    return result;
  }

 private:
  DefectNet net_;
  torch::Device device_;
  torch::Tensor class_weights_;
  torch::optim::SGD optimizer_;
  std::vector<Callback> callbacks_;
};

}  // namespace

int main() {
  torch::manual_seed(7);
  torch::set_num_threads(1);
  using Sampler = torch::data::samplers::SequentialSampler;
  auto train = torch::data::make_data_loader<Sampler>(Frames(512).map(torch::data::transforms::Stack<>()), kBatch);
  auto held_out = torch::data::make_data_loader<Sampler>(Frames(256).map(torch::data::transforms::Stack<>()), kBatch);

  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Trainer trainer(DefectNet(0.1), device, 0.01);
  std::vector<torch::Tensor> curve, entropy;
  trainer.on_step([&curve](const StepInfo& info) {
    if (info.step % 2 == 0)
      curve.push_back(info.loss);  // EXPECT: torch-retained-graph
  });
  trainer.on_step([&entropy](const StepInfo& info) {
    auto p = info.logits.detach().softmax(1);
    entropy.push_back(-(p * p.log()).sum(1).mean());  // RIGHT: torch-retained-graph computed from detached logits
  });
  trainer.fit(*train, 3);
  trainer.finetune_head(*train, 4);
  std::printf("loss %.3f -> %.3f, entropy %.3f\n", curve.front().item<double>(), curve.back().item<double>(),
              entropy.back().item<double>());
  std::printf("accuracy %.3f, confidence %.3f\n", trainer.validate(*held_out),
              trainer.confidences(torch::randn({128, kFeatures})).front());
}
