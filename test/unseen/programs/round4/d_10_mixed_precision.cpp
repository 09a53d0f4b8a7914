// Wave forms are classified in mixed precision; the rows of the data set live on the host.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>#include <iostream>
#include <memory>
#include <optional>
#include <vector>

namespace {
constexpr int64_t kSamples = 48, kKinds = 4;
using Rows = std::vector<std::vector<float>>;
Rows record(size_t count) {
  Rows rows(count, std::vector<float>(kSamples));
  for (size_t i = 0; i < count; ++i)
    for (int64_t t = 0; t < kSamples; ++t) rows[i][t] = float((t * (1 + i % kKinds)) % 12) / 12;
  return rows;
}

torch::Tensor kind(size_t i) { return torch::tensor(int64_t(i) % kKinds); }
struct Waves : torch::data::datasets::Dataset<Waves> {
  explicit Waves(Rows rows) : rows_(std::move(rows)) {}
  torch::data::Example<> get(size_t i) override { return {torch::tensor(rows_[i]).unsqueeze(0), kind(i)}; }
  std::optional<size_t> size() const override { return rows_.size(); }
  Rows rows_;
};
struct SharedWaves : torch::data::datasets::Dataset<SharedWaves> {
  explicit SharedWaves(std::shared_ptr<const Rows> rows) : rows_(std::move(rows)) {}
  torch::data::Example<> get(size_t i) override { return {torch::tensor((*rows_)[i]).unsqueeze(0), kind(i)}; }
  std::optional<size_t> size() const override { return rows_->size(); }
  std::shared_ptr<const Rows> rows_;
};

struct WaveNetImpl : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor& x) { return out(torch::relu(conv(x)).flatten(1)); }
  torch::nn::Conv1d conv{register_module("conv", torch::nn::Conv1d(torch::nn::Conv1dOptions(1, 8, 5)))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(8 * (kSamples - 4), kKinds))};
};
TORCH_MODULE(WaveNet);
struct HalfScope {
  HalfScope() { at::autocast::set_autocast_enabled(at::kCPU, true); }
  ~HalfScope() { at::autocast::set_autocast_enabled(at::kCPU, false), at::autocast::clear_cache(); }
};

template <class Loader>
void train(WaveNet& net, Loader& loader) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  for (auto& batch : loader) {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    auto loss = torch::cross_entropy_loss(net->forward(batch.data), batch.target);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();  // EXPECT: torch-autocast-cache
  }
}

torch::Tensor half_forward(WaveNet& net, const torch::Tensor& x) {
  HalfScope half;
  return net->forward(x);
}

template <class Loader>
void train_scoped(WaveNet& net, Loader& loader) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  for (auto& batch : loader) {
    auto output = half_forward(net, batch.data);
    optimizer.zero_grad();
    torch::cross_entropy_loss(output, batch.target).backward();  // RIGHT: torch-autocast-boundary this loss takes half precision
    optimizer.step();  // RIGHT: torch-autocast-cache the scope has emptied the cache
  }
}

void match(WaveNet& net, const torch::Tensor& x, const torch::Tensor& wanted) {
  torch::optim::SGD optimizer(net->parameters(), 1e-2);
  for (int step = 0; step < 10; ++step) {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    auto output = net->forward(x);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    optimizer.zero_grad();
    torch::mse_loss(output, wanted).backward();  // EXPECT: torch-autocast-boundary
    optimizer.step();
    at::autocast::clear_cache();
  }
}

float strongest(WaveNet& net, const torch::Tensor& x) {
  torch::NoGradGuard no_grad;
  at::autocast::set_autocast_enabled(at::kCPU, true);
  auto output = net->forward(x);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  auto cells = output.accessor<float, 2>();  // EXPECT: torch-autocast-boundary
  return cells[0][0];
}

torch::Tensor grid() {
  c10::InferenceMode fast;
  return torch::rand({64, 1});
}

void fit_line(const torch::Tensor& wanted) {
  torch::nn::Linear line(1, 1);
  torch::optim::SGD optimizer(line->parameters(), 1e-1);
  const auto x = grid(), points = grid().clone();
  for (int step = 0; step < 10; ++step) {
    auto near = line->forward(points);  // RIGHT: torch-inference-tensor a clone is an ordinary tensor
    auto far = line->forward(x);        // EXPECT: torch-inference-tensor
    optimizer.zero_grad();
    torch::mse_loss(near + far, wanted).backward();
    optimizer.step();
  }
}

void train_once(WaveNet& net, const torch::Tensor& x, const torch::Tensor& wanted, double rate) {
  torch::optim::SGD optimizer(net->parameters(), rate);
  torch::mse_loss(net->forward(x), wanted).backward();
  optimizer.step();
}

void calibrate_and_train(WaveNet& net, const torch::Tensor& x, const torch::Tensor& wanted) {
  [[maybe_unused]] auto* quiet = new torch::NoGradGuard;  // EXPECT: torch-grad-mode-not-restored
  const float range = net->forward(x).abs().max().item<float>();
  train_once(net, x, wanted, 1e-2 / (1 + range));
}

void calibrate_and_train_owned(WaveNet& net, const torch::Tensor& x, const torch::Tensor& wanted) {
  auto quiet = std::make_unique<torch::NoGradGuard>();  // RIGHT: torch-grad-mode-not-restored let go before the training
  const float range = net->forward(x).abs().max().item<float>();
  quiet.reset();
  train_once(net, x, wanted, 1e-2 / (1 + range));
}
}  // namespace

int main(int argc, char**) {
  torch::manual_seed(4);
  auto options = torch::data::DataLoaderOptions().batch_size(32).workers(3);
  auto heavy = torch::data::make_data_loader(Waves(record(256)).map(torch::data::transforms::Stack<>()), options);  // EXPECT: torch-dataset-copied
  auto light = torch::data::make_data_loader(  // RIGHT: torch-dataset-copied the workers share the rows
      SharedWaves(std::make_shared<const Rows>(record(256))).map(torch::data::transforms::Stack<>()), options);
  WaveNet net;
  train(net, *heavy);
  train_scoped(net, *light);
  const auto x = torch::rand({16, 1, kSamples}), wanted = torch::rand({16, kKinds});
  calibrate_and_train_owned(net, x, wanted);
  if (argc > 1) {
    std::cout << strongest(net, x) << '\n';
    match(net, x, wanted);
    fit_line(torch::rand({64, 1}));
    calibrate_and_train(net, x, wanted);
  }
  std::cout << net->forward(x).sum().item<float>() << '\n';
}
