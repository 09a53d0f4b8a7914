// RUN: %check_torch %s torch-repeated-transfer %t
//
// What is transferred is computed from something that the loop writes; or goes where
// it is wanted; or is moved once for all batches of an epoch. All is quiet.

#include <torch/torch.h>

using torch::Tensor;

// Non-maximum suppression: the best is taken out of the scores.
void suppress(Tensor scores, int64_t columns) {
  for (int64_t i = 0; i < 10; ++i) {
    auto row = (torch::argmax(scores) / columns).to(torch::kLong);
    scores.index_put_({row}, -1);
  }
}

// Filled on its device, then stacked.
Tensor fillEach(const std::vector<Tensor> &positions, torch::Device device) {
  std::vector<Tensor> filled;
  for (const auto &at : positions) {
    auto mask = torch::rand({64}).to(device);
    mask.index_put_({at.to(device)}, 1);
    filled.push_back(mask);
  }
  return torch::stack(filled);
}

// Made and moved: torch-allocate-on-device says to make it there.
Tensor levels(const std::vector<Tensor> &scores) {
  std::vector<Tensor> indices;
  for (size_t i = 0; i < scores.size(); ++i)
    indices.push_back(torch::full({scores[i].size(0)}, int64_t(i), torch::kLong).to(scores[i].device()));
  return torch::cat(indices);
}

Tensor readImage(const std::string &path);

// The reader lies elsewhere: its images may well be on the CPU.
Tensor readAll(const std::vector<std::string> &paths) {
  std::vector<Tensor> images;
  for (const auto &path : paths)
    images.push_back(readImage(path).to(torch::kCPU));
  return torch::stack(images);
}

// Once for each epoch, before the batches.
void epochs(torch::nn::Linear net, const Tensor &weights,
            const std::vector<Tensor> &batches, torch::Device device) {
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto moved = weights.to(device);
    auto noise = torch::zeros({64, 64});
    for (const auto &batch : batches)
      std::cout << (net->forward(batch) * moved + noise).sum().item<float>();
  }
}

// The statistics of a layer change with every forward pass.
void statistics(torch::nn::BatchNorm1d norm, const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    norm->forward(x);
    std::cout << norm->running_var.cpu() << '\n';
  }
}
