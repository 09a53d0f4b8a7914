// RUN: %check_torch %s torch-repeated-transfer %t
//
// The elements of a batch are moved one by one, and then put together.

#include <torch/torch.h>

using torch::Tensor;
using torch::data::Example;

void stacked(const std::vector<std::vector<Example<>>> &batches,
             torch::Device device) {
  for (const auto &batch : batches) {
    std::vector<Tensor> images, labels;
    for (const auto &sample : batch) {
      images.push_back(sample.data.to(device));
      // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: each sample is copied by itself by '.to(device)'; put the batch together first and transfer it once [torch-repeated-transfer]
      labels.push_back(sample.target.to(device));
      // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: each sample is copied by itself by '.to(device)'; put the batch together first and transfer it once
    }
    auto x = torch::stack(images);
    auto y = torch::stack(labels);
    std::cout << (x.sum() + y.sum()).item<float>() << '\n';
  }
}

void byIndex(const std::vector<Example<>> &batch,
             const torch::TensorOptions &options) {
  std::vector<Tensor> images = {};
  for (size_t i = 0; i < batch.size(); ++i)
    images.push_back(batch[i].data.to(options));
  // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: each sample is copied by itself by '.to(options)'; put the batch together first and transfer it once
  auto data = torch::stack(images).div(255.0);
  std::cout << data.mean().item<float>() << '\n';
}

void concatenated(const std::vector<Tensor> &samples) {
  std::vector<Tensor> onDevice;
  onDevice.reserve(samples.size());
  for (const auto &sample : samples)
    onDevice.emplace_back(sample.cuda());
  // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: each sample is copied by itself by '.cuda()'; put the batch together first and transfer it once
  std::cout << torch::cat(onDevice).mean().item<float>() << '\n';
}

// Under a name of its own.
void named(const std::vector<Tensor> &samples, torch::Device device) {
  std::vector<Tensor> onDevice;
  for (const auto &sample : samples) {
    auto moved = sample.to(device);
    // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: each sample is copied by itself by '.to(device)'; put the batch together first and transfer it once
    onDevice.push_back(moved);
  }
  std::cout << torch::stack(onDevice, 0).mean().item<float>() << '\n';
}

void intoElements(const std::vector<Tensor> &samples, torch::Device device) {
  std::vector<Tensor> onDevice(samples.size());
  for (size_t i = 0; i < samples.size(); ++i)
    onDevice[i] = samples[i].to(device);
  // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: each sample is copied by itself by '.to(device)'; put the batch together first and transfer it once
  std::cout << torch::stack(onDevice).mean().item<float>() << '\n';
}

// ----- quiet -----

// Each is used by itself.
void oneByOne(const std::vector<Tensor> &samples, torch::nn::Linear net,
              torch::Device device) {
  std::vector<Tensor> outputs;
  for (const auto &sample : samples)
    outputs.push_back(net->forward(sample.to(device)).argmax());
  std::cout << outputs.size() << '\n';
}

// They are kept as they are: their sizes differ.
void kept(const std::vector<Tensor> &samples, torch::Device device) {
  std::vector<Tensor> onDevice;
  for (const auto &sample : samples)
    onDevice.push_back(sample.to(device));
  for (const auto &sample : onDevice)
    std::cout << sample.mean().item<float>() << '\n';
}

// As the check wants it.
void stackedFirst(const std::vector<std::vector<Example<>>> &batches,
                  torch::Device device) {
  for (const auto &batch : batches) {
    std::vector<Tensor> images;
    for (const auto &sample : batch)
      images.push_back(sample.data);
    auto x = torch::stack(images).to(device);
    std::cout << x.sum().item<float>() << '\n';
  }
}

// What a loader gives is a batch, which it has put together.
void allOfThem(const std::string &folder, torch::Device device) {
  auto loader = torch::data::make_data_loader(
      torch::data::datasets::MNIST(folder).map(torch::data::transforms::Stack<>()), 64);
  std::vector<Tensor> targets;
  for (auto &batch : *loader)
    targets.push_back(batch.target.to(device));
  std::cout << torch::cat(targets).size(0) << '\n';
}
