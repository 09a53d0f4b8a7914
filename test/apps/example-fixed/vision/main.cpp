#include "net.h"
#include "shapes.h"
#include "train.h"

#include <iostream>

namespace {

using vision::ConvNet;
using vision::Shapes;

void descend(torch::optim::Optimizer& optimizer, const torch::Tensor& loss) {
  optimizer.zero_grad();
  loss.backward();
  optimizer.step();
}

// The temperature by which the logits are to be divided so that the softmax of
// them says how often the network is right.
double calibrate(const torch::Tensor& logits, const torch::Tensor& labels) {
  auto log_temperature =
      torch::zeros({1}, logits.options().requires_grad(true));
  torch::optim::SGD optimizer({log_temperature}, 0.1);
  for (int i = 0; i < 50; ++i) {
    auto scaled = logits / log_temperature.exp();
    descend(optimizer, torch::nn::functional::cross_entropy(scaled, labels));
  }
  return log_temperature.exp().item<double>();
}

// How often each class is taken for each other.
torch::Tensor confusion(const torch::Tensor& logits, const torch::Tensor& labels) {
  auto pairs = labels * Shapes::kClasses + logits.argmax(1);
  return torch::bincount(pairs, {}, Shapes::kClasses * Shapes::kClasses)
      .view({Shapes::kClasses, Shapes::kClasses});
}

}  // namespace

int main() {
  torch::manual_seed(1);
  const torch::Device device =
      torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;

  Shapes training(20 * vision::kBatch, 1);
  Shapes validation(200, 2);
  const auto frequency =
      torch::bincount(training.labels(), {}, Shapes::kClasses).to(torch::kFloat32);
  const auto class_weights = frequency.mean() / frequency;
  const auto labels = validation.labels().to(device);

  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      training.map(torch::data::transforms::Stack<>()), vision::kBatch);
  auto validation_loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
          validation.map(torch::data::transforms::Stack<>()), 50);

  ConvNet net(Shapes::kClasses);
  net->to(device);
  torch::optim::SGD optimizer(
      net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  for (int epoch = 0; epoch < 4; ++epoch) {
    const double loss =
        vision::train(net, *loader, optimizer, class_weights, device);
    const auto metrics = vision::evaluate(net, *validation_loader, device);
    std::cout << "epoch " << epoch << " training " << loss << " validation "
              << metrics.loss << " accuracy " << metrics.accuracy << '\n';
  }

  torch::Tensor logits;
  {
    torch::NoGradGuard no_grad;
    logits = vision::predict(net, *validation_loader, device);
  }
  std::cout << "temperature " << calibrate(logits, labels) << '\n'
            << "accuracy under attack "
            << vision::robustness(net, *validation_loader, 0.1, device) << '\n'
            << confusion(logits, labels) << '\n';
  return 0;
}
