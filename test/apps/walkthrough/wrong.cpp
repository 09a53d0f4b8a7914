// A training loop with the mistakes that docs/walkthrough.md goes through. It compiles without
// a warning, it runs, and its loss falls.
#include <torch/torch.h>

#include <cstdio>
#include <vector>

struct Batch {
  torch::Tensor inputs, targets;
};

struct ForecasterImpl : torch::nn::Module {
  ForecasterImpl()
      : rnn(register_module("rnn", torch::nn::GRU(torch::nn::GRUOptions(4, 32).batch_first(true)))),
        dropout(register_module("dropout", torch::nn::Dropout(0.2))), head(32, 1) {}

  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor inputs, torch::Tensor state) {
    auto [outputs, next] = rnn->forward(inputs, state);
    return {head->forward(dropout->forward(outputs)), next};
  }

  torch::nn::GRU rnn;
  torch::nn::Dropout dropout;
  torch::nn::Linear head;
};
TORCH_MODULE(Forecaster);

// Four phases of a wave, and what the first of them will be.
std::vector<Batch> waves(int64_t count, torch::Device device) {
  std::vector<Batch> batches;
  for (int64_t i = 0; i < count; ++i) {
    auto time = torch::arange(25).mul(0.4).add(9.6 * i).view({1, 25, 1}) +
                torch::rand({64, 1, 1}) * 0.1;
    auto wave = torch::sin(time + torch::arange(4) * 0.5) + torch::randn({64, 25, 4}) * 0.1;
    batches.push_back({wave.slice(1, 0, 24).contiguous().to(device),
                       wave.slice(1, 1, 25).slice(2, 0, 1).contiguous().to(device)});
  }
  return batches;
}

float evaluate(Forecaster &net, const std::vector<Batch> &batches, torch::Device device) {
  net->eval();
  auto state = torch::zeros({1, 64, 32}, device);
  torch::Tensor errors;
  for (const Batch &batch : batches) {
    auto [outputs, next] = net->forward(batch.inputs, state);
    auto error = (outputs - batch.targets).abs().mean(1);
    errors = errors.defined() ? torch::cat({errors, error}) : error;
  }
  return errors.mean().item<float>();
}

int main() {
  torch::manual_seed(0);
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  Forecaster net;
  net->to(device);
  std::printf("%zu parameters\n", net->parameters().size());
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  auto training = waves(12, device), validation = waves(12, device);
  // The end of a sequence counts for more than its beginning.
  auto weights = torch::linspace(0.5, 1.5, 24, torch::kDouble).view({1, 24, 1});

  std::vector<torch::Tensor> history;
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto state = torch::zeros({1, 64, 32}, device);
    torch::Tensor total = torch::zeros({}, device);
    for (const Batch &batch : training) {
      auto noise = torch::zeros({64, 24, 4}, device);
      noise.normal_(0, 0.05);
      auto [outputs, next] = net->forward(batch.inputs + noise, state);
      state = next;
      auto errors = (outputs - batch.targets).pow(2) * weights.to(device, torch::kFloat);
      auto loss = errors.mean();
      // Without the argument it throws "Trying to backward through the graph a second time".
      loss.backward({}, /*retain_graph=*/true);
      optimizer.step();
      total += loss;
      history.push_back(loss);
    }
    std::printf("epoch %d: training %.4f, validation %.4f\n", epoch,
                total.item<float>() / training.size(), evaluate(net, validation, device));
  }
  std::printf("first loss %.4f, last %.4f\n", history.front().item<float>(),
              history.back().item<float>());
}
