// RUN: %check_torch %s torch-missing-no-grad %t -still-warns
//
// What leaves a forward pass by a pointer has its graph, and is trained through.

#include <torch/torch.h>
#include <tuple>
#include <vector>

using torch::Tensor;

struct ScaleImpl : torch::nn::Module {
  ScaleImpl() { layer_ = register_module("layer", torch::nn::Linear(8, 8)); }
  Tensor forward(Tensor x, Tensor wanted, Tensor *cost) {
    x = layer_(x);
    if (cost)
      *cost = torch::mse_loss(x, wanted);
    return x;
  }
  torch::nn::Linear layer_{nullptr};
};

// The layers lie in Sequentials that a list has, and each tells its part of the cost.
struct PyramidImpl : torch::nn::Module {
  PyramidImpl() {
    for (int i = 0; i < 3; ++i) {
      torch::nn::Sequential level;
      level->push_back(std::make_shared<ScaleImpl>());
      levels_.push_back(level);
      register_module("level" + std::to_string(i), level);
    }
  }
  std::tuple<Tensor, Tensor> forward(Tensor x, Tensor wanted) {
    Tensor cost;
    bool begun = false;
    for (size_t i = 0; i < levels_.size(); ++i) {
      torch::nn::SequentialImpl *level = levels_[i].get();
      Tensor part;
      x = level->forward(x, wanted, &part);
      if (begun)
        cost += part;
      else
        cost = part;
      begun = true;
    }
    return {x, cost};
  }
  std::vector<torch::nn::Sequential> levels_;
};
TORCH_MODULE(Pyramid);

float train(Pyramid &net, torch::optim::Optimizer &optimizer, int steps) {
  float total = 0;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = torch::rand({512, 8}), wanted = torch::rand({512, 8});
    Tensor y, cost;
    optimizer.zero_grad();
    std::tie(y, cost) = net->forward(x, wanted);
    cost.backward();
    optimizer.step();
    total += cost.item<float>();
  }
  return total;
}

// The same network, for which nothing goes backward.
float check(Pyramid &net, int batches) {
  net->eval();
  float total = 0;
  for (int i = 0; i < batches; ++i) {
    Tensor y, cost;
    std::tie(y, cost) = net->forward(torch::rand({512, 8}), torch::rand({512, 8}));
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: forward pass of 'net' keeps all intermediate results
    total += cost.item<float>();
  }
  net->train();
  return total;
}

int main() {
  Pyramid net;
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  float last = 0;
  for (int epoch = 0; epoch < 10; ++epoch)
    last = train(net, optimizer, 100) + check(net, 20);
  return last > 0;
}
