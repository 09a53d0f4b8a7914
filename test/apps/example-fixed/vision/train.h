#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace vision {

namespace F = torch::nn::functional;

struct Metrics {
  double loss = 0;
  double accuracy = 0;
};

constexpr int64_t kBatch = 32;

// One epoch; returns the mean loss. Rare classes count more.
template <typename Net, typename Loader>
double train(
    Net& net,
    Loader& loader,
    torch::optim::Optimizer& optimizer,
    const torch::Tensor& class_weights,
    torch::Device device) {
  net->train();
  auto total = torch::zeros({}, torch::device(device));
  auto weights = class_weights.to(device);
  auto noise = torch::empty({kBatch, 1, 32, 32}, torch::device(device));
  int64_t batches = 0;
  for (auto& batch : loader) {
    auto images = batch.data.to(device);
    auto labels = batch.target.to(device);

    // Augment with noise.
    noise.normal_(0, 0.05);
    images = images + noise;

    auto output = net->forward(images);
    auto loss = F::cross_entropy(
        output, labels, F::CrossEntropyFuncOptions().weight(weights));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.detach();
    ++batches;
  }
  return total.template item<double>() / static_cast<double>(batches);
}

template <typename Net, typename Loader>
Metrics evaluate(Net& net, Loader& loader, torch::Device device) {
  torch::NoGradGuard no_grad;
  net->eval();
  Metrics metrics;
  int64_t count = 0;
  for (const auto& batch : loader) {
    auto labels = batch.target.to(device);
    auto output = net->forward(batch.data.to(device));
    metrics.loss +=
        F::cross_entropy(
            output,
            labels,
            F::CrossEntropyFuncOptions().reduction(torch::kSum))
            .template item<double>();
    metrics.accuracy +=
        output.argmax(1).eq(labels).sum().template item<double>();
    count += labels.size(0);
  }
  metrics.loss /= static_cast<double>(count);
  metrics.accuracy /= static_cast<double>(count);
  return metrics;
}

// The logits of all images, in order. The caller decides about gradients.
template <typename Net, typename Loader>
torch::Tensor predict(Net& net, Loader& loader, torch::Device device) {
  net->eval();
  std::vector<torch::Tensor> outputs;
  for (const auto& batch : loader) {
    outputs.push_back(net->forward(batch.data.to(device)));
  }
  return torch::cat(outputs);
}

// Accuracy on images moved a small step against the network (FGSM): it needs
// the gradient of the loss by the image, in evaluation too.
template <typename Net, typename Loader>
double robustness(Net& net, Loader& loader, double epsilon, torch::Device device) {
  net->eval();
  double correct = 0;
  int64_t count = 0;
  for (const auto& batch : loader) {
    auto images = batch.data.to(device).requires_grad_();
    auto labels = batch.target.to(device);
    auto loss = F::cross_entropy(net->forward(images), labels);
    auto gradient = torch::autograd::grad({loss}, {images})[0];

    torch::NoGradGuard no_grad;
    auto attacked = images + epsilon * gradient.sign();
    auto hits = net->forward(attacked).argmax(1).eq(labels);
    correct += hits.sum().template item<double>();
    count += labels.size(0);
  }
  return correct / static_cast<double>(count);
}

}  // namespace vision
