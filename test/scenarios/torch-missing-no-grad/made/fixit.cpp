// A small convolutional network is trained, and then evaluated batch by batch.
// --size: that many times as large a batch of the evaluation.
#include "measure.h"

namespace {

constexpr int64_t classes = 4;
constexpr int64_t train_size = 32; // Images of a batch.
constexpr int64_t batches = 20;    // Of the evaluation.

struct ConvNetImpl : torch::nn::Module {
  ConvNetImpl() {
    features->push_back(conv(1, 8));
    for (int layer = 1; layer < 10; ++layer) {
      features->push_back(torch::nn::ReLU());
      features->push_back(conv(8, 8));
    }
    register_module("features", features);
    register_module("classifier", classifier);
  }

  torch::Tensor forward(const torch::Tensor &images) {
    return classifier->forward(features->forward(images).mean({2, 3}));
  }

  static torch::nn::Conv2d conv(int64_t in, int64_t out) {
    return torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).padding(1));
  }

  torch::nn::Sequential features;
  torch::nn::Linear classifier{8, classes};
};
TORCH_MODULE(ConvNet);

torch::Tensor make_labels(int64_t count, torch::Device device) {
  return torch::randint(classes, {count},
                        torch::dtype(torch::kInt64).device(device));
}

// Noise with a brightness for each class.
torch::Tensor make_images(const torch::Tensor &labels) {
  const auto noise = torch::randn({labels.size(0), 1, 16, 16}, labels.device());
  return noise + labels.view({-1, 1, 1, 1});
}

void train(ConvNet &net, torch::Device device) {
  torch::optim::Adam optimizer(net->parameters(), 1e-2);
  net->train();
  for (int step = 0; step < 60; ++step) {
    const auto labels = make_labels(train_size, device);
    const auto output = net->forward(make_images(labels));
    const auto loss = torch::nn::functional::cross_entropy(output, labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

double evaluate(ConvNet &net, const torch::Tensor &images,
                const torch::Tensor &labels) {
  torch::NoGradGuard no_grad;
  const int64_t batch_size = images.size(0) / batches;
  net->eval();
  int64_t correct = 0;
  measure::Loop loop("evaluation");
  for (int64_t first = 0; first < images.size(0); first += batch_size) {
    const auto batch = images.narrow(0, first, batch_size);
    const auto output = net->forward(batch);
    const auto hits = output.argmax(1).eq(labels.narrow(0, first, batch_size));
    correct += hits.sum().item<int64_t>();
    loop.iteration();
  }
  return static_cast<double>(correct) / static_cast<double>(images.size(0));
}

} // namespace

int main(int argc, char **argv) {
  const torch::Device device = measure::start(argc, argv);
  torch::manual_seed(1);
  ConvNet net;
  net->to(device);
  train(net, device);

  const auto labels =
      make_labels(batches * train_size * measure::size(), device);
  const auto images = make_images(labels);
  measure::value("accuracy", evaluate(net, images, labels));
  return measure::finish();
}
