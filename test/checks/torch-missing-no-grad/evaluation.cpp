// RUN: %check_torch %s torch-missing-no-grad %t
//
// A test or evaluation function: eval() is called, a guard is not.

#include <torch/torch.h>

#include <deque>
#include <memory>

using torch::Tensor;
using torch::nn::Linear;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    fc = register_module("fc", Linear(8, 2));
    drop = register_module("drop", torch::nn::Dropout(0.5));
  }
  Tensor forward(Tensor x) { return fc(drop(x)); }
  Linear fc{nullptr};
  torch::nn::Dropout drop{nullptr};
};
TORCH_MODULE(Net);

// The main idiom: a template over the loader, the module's class by reference.
template <typename DataLoader>
void test(NetImpl &model, torch::Device device, DataLoader &loader,
          size_t size) {
  model.eval();
  double testLoss = 0;
  int32_t correct = 0;
  for (const auto &batch : loader) {
    auto data = batch.data.to(device), targets = batch.target.to(device);
    auto output = model.forward(data);
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'model' keeps all intermediate results for a backward() that never comes (memory, time); put 'torch::NoGradGuard no_grad;' before it [torch-missing-no-grad]
    testLoss += torch::nll_loss(output, targets, {}, torch::Reduction::Sum)
                    .template item<float>();
    auto pred = output.argmax(1);
    correct += pred.eq(targets).sum().template item<int64_t>();
  }
  std::printf("Test set: Average loss: %.4f | Accuracy: %.3f\n",
              testLoss / size, static_cast<double>(correct) / size);
}

// A template over the network as well.
template <class Network, class Loader>
double accuracy(Network &network, Loader &loader) {
  network->eval();
  double sum = 0;
  for (auto &batch : loader) {
    auto prediction = network->forward(batch.data).argmax(1);
    // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: forward pass of 'network' keeps all intermediate results for a backward() that never comes
    sum += prediction.eq(batch.target).sum().template item<double>();
  }
  network->train();
  return sum;
}

// The call operator of a holder, and a holder by value.
float evaluate(Net net, const std::vector<Tensor> &xs, Tensor y) {
  net->eval();
  float loss = 0;
  for (const auto &x : xs)
    loss += torch::mse_loss(net(x), y).item<float>();
  // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  return loss;
}

// eval() is only a mode of the layers; a comment cannot change that.
int64_t classify(torch::nn::Sequential model, Tensor image) {
  model->eval(); // switches off gradients (it does not)
  auto out = model->forward(image.unsqueeze(0));
  // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: forward pass of 'model' keeps all intermediate results for a backward() that never comes
  return out.argmax(1).item<int64_t>();
}

void anyModule(torch::nn::AnyModule any, Tensor x) {
  any.ptr()->eval();
  auto y = any.forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'any' keeps all intermediate results for a backward() that never comes
  std::cout << y << '\n';
}

void throughPointer(std::shared_ptr<NetImpl> net, Tensor x) {
  net->train(false); // The same as eval().
  std::cout << net->forward(x).softmax(1) << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

// detach() drops the graph, which was built all the same.
Tensor features(Net net, Tensor x) {
  net->eval();
  return net->forward(x).detach();
  // CHECK-MESSAGES: :[[@LINE-1]]:10: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

// Nested loops, the guard is wanted once.
void nestedLoops(Net net, const std::vector<std::vector<Tensor>> &folds) {
  net->eval();
  for (const auto &fold : folds) {
    double mean = 0;
    for (size_t i = 0; i < fold.size(); ++i) {
      const auto out = net->forward(fold[i]);
      // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
      mean += out.mean().item<double>() / fold.size();
    }
    std::cout << mean << '\n';
  }
}

// Two instantiations of each template: each reported once.
void instantiates(Net net, torch::nn::Sequential seq,
                  std::vector<torch::data::Example<>> batches,
                  std::deque<torch::data::Example<>> others) {
  test(*net, torch::kCPU, batches, 100);
  test(*net, torch::kCPU, others, 100);
  std::cout << accuracy(net, batches) << accuracy(seq, batches) << '\n';
}
