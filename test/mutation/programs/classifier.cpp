// Trains a small convolutional network on MNIST, one function for each phase.
#include <torch/torch.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

constexpr int64_t kTrainBatch = 64;
constexpr int64_t kTestBatch = 1000;
constexpr int64_t kEpochs = 10;
constexpr int64_t kLogInterval = 10;

struct Net : torch::nn::Module {
  Net()
      : conv1(torch::nn::Conv2dOptions(1, 10, 5)),
        conv2(torch::nn::Conv2dOptions(10, 20, 5)), fc1(320, 50), fc2(50, 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc1", fc1);
    register_module("fc2", fc2);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1->forward(x), 2));
    x = torch::relu(torch::max_pool2d(drop->forward(conv2->forward(x)), 2));
    x = torch::relu(fc1->forward(x.view({-1, 320})));
    x = torch::dropout(x, 0.5, is_training());
    return torch::log_softmax(fc2->forward(x), 1);
  }

  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Dropout2d drop;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

template <typename DataLoader>
void train(size_t epoch, Net& model, torch::Device device, DataLoader& loader,
           torch::optim::Optimizer& optimizer, const torch::Tensor& class_weights,
           std::vector<float>& history) {
  model.train();
  const auto weights = class_weights.to(device);
  auto jitter = torch::empty({kTrainBatch, 1, 28, 28}, device);
  size_t batch_idx = 0;
  float running = 0;
  for (auto& batch : loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    jitter.uniform_(-0.02, 0.02);
    data = data + jitter.narrow(0, 0, data.size(0));
    optimizer.zero_grad();
    auto output = model.forward(data);
    auto loss = torch::nll_loss(output, targets, weights);
    AT_ASSERT(!std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
    running += loss.template item<float>();
    if (batch_idx++ % kLogInterval == 0) {
      std::printf("\rTrain Epoch: %ld [%5ld] Loss: %.4f", long(epoch),
                  long(batch_idx * batch.data.size(0)), loss.template item<float>());
    }
  }
  history.push_back(running / batch_idx);
}

template <typename DataLoader>
void test(Net& model, torch::Device device, DataLoader& loader, size_t dataset_size) {
  torch::NoGradGuard no_grad;
  model.eval();
  double test_loss = 0;
  int32_t correct = 0;
  for (const auto& batch : loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    test_loss += torch::nll_loss(output, targets, {}, torch::Reduction::Sum)
                     .template item<double>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  test_loss /= dataset_size;
  std::printf("\nTest set: Average loss: %.4f | Accuracy: %.3f\n", test_loss,
              static_cast<double>(correct) / dataset_size);
}

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const std::string root = argc > 1 ? argv[1] : "./data";
  torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);

  Net model;
  model.to(device);

  auto train_dataset = torch::data::datasets::MNIST(root)
                           .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                           .map(torch::data::transforms::Stack<>());
  auto train_loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
          std::move(train_dataset), kTrainBatch);
  auto test_dataset =
      torch::data::datasets::MNIST(root, torch::data::datasets::MNIST::Mode::kTest)
          .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
          .map(torch::data::transforms::Stack<>());
  const size_t test_size = test_dataset.size().value();
  auto test_loader =
      torch::data::make_data_loader(std::move(test_dataset), kTestBatch);

  const auto class_weights = torch::linspace(0.8, 1.2, 10);
  torch::optim::SGD optimizer(model.parameters(),
                              torch::optim::SGDOptions(0.01).momentum(0.5));
  std::vector<float> history;
  for (size_t epoch = 1; epoch <= kEpochs; ++epoch) {
    train(epoch, model, device, *train_loader, optimizer, class_weights, history);
    test(model, device, *test_loader, test_size);
  }
  for (float value : history)
    std::cout << value << ' ';
  std::cout << std::endl;
}
