// Fine-tuning in half precision: an encoder and a decoder, tasks of few examples, a prompt.

#include <torch/torch.h>

#include <ATen/autocast_mode.h>

#include <iostream>
#include <memory>
#include <utility>
#include <vector>

namespace {

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl() {
    conv = register_module("conv", torch::nn::Conv1d(torch::nn::Conv1dOptions(2, 6, 3).padding(1)));
    drop = register_module("drop", torch::nn::Dropout(0.5));
  }
  torch::Tensor forward(const torch::Tensor& x) { return head(drop(torch::relu(conv(x)).mean(2))); }

  torch::nn::Conv1d conv{nullptr};
  torch::nn::Dropout drop{nullptr};
  // PLANT innocent torch-unregistered-module/submodule: makeClassifier() registers it
  torch::nn::Linear head{6, 3};
};
TORCH_MODULE(Classifier);

Classifier makeClassifier() {
  Classifier classifier;
  classifier->register_module("head", classifier->head);
  return classifier;
}

void setMode(torch::nn::Module& module, bool training) { module.train(training); }

double restore(const torch::Tensor& data) {
  torch::nn::Sequential encoder(torch::nn::Linear(6, 4), torch::nn::Dropout(0.5));
  torch::nn::Sequential decoder(torch::nn::Linear(4, 6), torch::nn::Dropout(0.5));
  encoder->eval();
  setMode(*decoder, false);
  // PLANT innocent torch-partial-eval-mode/left-out: setMode() has set the decoder to eval mode
  encoder->eval();
  torch::NoGradGuard no_grad;
  return torch::mse_loss(decoder->forward(encoder->forward(data)), data).item<double>();
}

struct Task {
  torch::Tensor data;
  torch::Tensor target;
};

Task makeTask() {
  auto data = torch::randn({24, 2, 12});
  auto target = (data.mean(2).select(1, 0) > 0).to(torch::kLong) + (data.mean(2).select(1, 1) > 0).to(torch::kLong);
  return {data, target};
}

double trainInHalf(Classifier& classifier, const std::vector<Task>& tasks) {
  torch::optim::SGD optimizer(classifier->parameters(), 0.1);
  double last = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const auto& task : tasks) {  // AT H
      optimizer.zero_grad();
      at::autocast::set_autocast_enabled(at::kCPU, true);
      const auto output = classifier->forward(task.data);
      at::autocast::set_autocast_enabled(at::kCPU, false);
      const auto loss = torch::cross_entropy_loss(output.to(torch::kFloat), task.target);
      loss.backward();
      // PLANT true torch-autocast-cache/stale loop=H: all passes have the first weights of the convolution
      optimizer.step();
      last = loss.item<double>();
    }
  }
  at::autocast::clear_cache();
  return last;
}

template <class Optimizer>
double learnOnce(Classifier& classifier, const Task& task, double rate) {
  // PLANT true torch-optimizer-in-loop/made-anew loop=O: each step is the first of its optimizer
  Optimizer optimizer(classifier->parameters(), rate);
  optimizer.zero_grad();
  const auto loss = torch::cross_entropy_loss(classifier->forward(task.data), task.target);
  loss.backward();
  optimizer.step();
  return loss.template item<double>();
}

std::unique_ptr<torch::optim::Optimizer> optimizerOf(const torch::Tensor& prompt) {
  // PLANT true torch-non-leaf-parameter/throws: the first prompt is a product
  auto optimizer = std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{prompt}, 0.01);
  return optimizer;
}

double tunePrompt(Classifier& classifier, const Task& task) {
  auto prompt = torch::randn({2, 1}, torch::requires_grad()) * 0.1;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  try {
    optimizer = optimizerOf(prompt);
  } catch (const c10::Error&) {
    prompt = prompt.detach().requires_grad_();
    optimizer = optimizerOf(prompt);
  }
  for (int step = 0; step < 10; ++step) {
    optimizer->zero_grad();
    torch::cross_entropy_loss(classifier->forward(task.data + prompt), task.target).backward();
    optimizer->step();
  }
  return prompt.norm().item<double>();
}

}  // namespace

int main() {
  torch::set_num_threads(1);
  torch::manual_seed(0);

  std::vector<Task> tasks;
  for (int i = 0; i < 20; ++i)
    tasks.push_back(makeTask());
  auto classifier = makeClassifier();
  std::cout << classifier->parameters().size() << " parameters, in half " << trainInHalf(classifier, tasks) << '\n';

  double loss = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const auto& task : tasks) {  // AT O
      loss += learnOnce<torch::optim::AdamW>(classifier, task, 1e-3);
    }
  }
  classifier->eval();
  std::cout << "in single " << loss / 40 << ", prompt " << tunePrompt(classifier, tasks[0]) << ", restored "
            << restore(torch::ones({5, 6})) << '\n';
  return 0;
}
