// Evaluation of a small segmentation network: metrics, scores, a temperature.

#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <chrono>
#include <iostream>
#include <vector>

namespace {

constexpr int64_t kClasses = 3;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 8, 3).padding(1)));
    second = register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(8, kClasses, 3).padding(1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return second(torch::relu(first(x))); }

  torch::nn::Conv2d first{nullptr}, second{nullptr};
};
TORCH_MODULE(Net);

struct Batch {
  torch::Tensor image;
  torch::Tensor target;
};

double accuracy(const torch::Tensor& output, const torch::Tensor& target) {
  return output.argmax(1).eq(target).to(torch::kFloat).mean().item<double>();
}

const auto foreground = [](const torch::Tensor& output, const torch::Tensor&) {
  return output.argmax(1).gt(0).to(torch::kFloat).mean().item<double>();
};

template <class Metric>
double evaluate(Net& net, const std::vector<Batch>& batches, Metric metric) {
  net->eval();
  double sum = 0;
  for (const auto& batch : batches) {  // AT E
    // PLANT true torch-missing-no-grad/unused-graph loop=E: only numbers are taken from the output
    const auto output = net->forward(batch.image);
    sum += metric(output, batch.target);
  }
  return sum / static_cast<double>(batches.size());
}

torch::Tensor join(const torch::Tensor& all, const torch::Tensor& more) {
  return all.defined() ? torch::cat({all, more}) : more;
}

int64_t rowsOf(const torch::Tensor& scores) {
  // PLANT true torch-transfer-for-metadata/metadata loop=C: all scores are converted for the number of rows
  return scores.to(torch::kDouble).size(0);
}

class Collector {
 public:
  void add(const torch::Tensor& scores) {
    // PLANT true torch-cat-in-loop/grows loop=C: all scores so far are copied with each batch
    scores_ = join(scores_, scores);
    rows_ += rowsOf(scores);
  }
  double largest() const { return scores_.max().item<double>(); }
  bool complete() const { return rowsOf(scores_) == rows_; }

 private:
  torch::Tensor scores_;
  int64_t rows_ = 0;
};

double meanLoss(Net& net, const std::vector<Batch>& batches) {
  torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> losses;
  for (const auto& batch : batches)
    losses.push_back(torch::cross_entropy_loss(net->forward(batch.image), batch.target));
  double sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) {  // AT R
    // PLANT innocent torch-element-access-in-loop/reads loop=R: each loss is a tensor of its own
    sum += losses[i].item<double>();
  }
  return sum / static_cast<double>(losses.size());
}

double seconds(Net& net, const std::vector<Batch>& batches) {
  const auto start = std::chrono::steady_clock::now();
  const double loss = meanLoss(net, batches);
  // PLANT innocent torch-timing-without-sync/enqueued-only: meanLoss() has read all losses, which waits
  const auto end = std::chrono::steady_clock::now();
  return loss > 0 ? std::chrono::duration<double>(end - start).count() : 0;
}

torch::Tensor halfPass(Net& net, const torch::Tensor& image) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  auto output = net->forward(image);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  return output.to(torch::kFloat);
}

int calibrate(Net& net, const std::vector<Batch>& batches) {
  torch::optim::SGD optimizer(net->parameters(), 1e-3);
  int refused = 0;
  for (const auto& batch : batches) {  // AT H
    const auto wanted = torch::one_hot(batch.target, kClasses).permute({0, 3, 1, 2}).to(torch::kFloat);
    optimizer.zero_grad();
    const auto output = halfPass(net, batch.image.size(2) > 16 ? batch.image.slice(2, 0, 11) : batch.image);
    try {
      // PLANT innocent torch-autocast-boundary/loss loop=H also=D: halfPass() returns floats
      const auto loss = torch::mse_loss(output, wanted);
      loss.backward();  // AT D
      optimizer.step();
    } catch (const c10::Error&) {
      ++refused;
    }
  }
  return refused;
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  Net net;
  net->to(device);
  std::vector<Batch> batches;
  for (int i = 0; i < 80; ++i) {
    const int64_t size = i % 20 == 7 ? 18 : 16;
    batches.push_back({torch::randn({4, 1, size, size}, device),
                       torch::randint(kClasses, {4, size, size}, torch::TensorOptions(device).dtype(torch::kLong))});
  }

  std::cout << "accuracy " << evaluate(net, batches, accuracy) << " foreground "
            << evaluate(net, batches, foreground) << '\n';
  Collector collector;
  for (const auto& batch : batches) {  // AT C
    torch::NoGradGuard no_grad;
    collector.add(net->forward(batch.image).flatten().unsqueeze(1));
  }
  std::cout << collector.complete() << " complete, largest " << collector.largest() << '\n';
  std::cout << "loss " << meanLoss(net, batches) << ", in time " << (seconds(net, batches) < 60) << '\n';
  std::cout << "refused " << calibrate(net, batches) << '\n';
  return 0;
}
