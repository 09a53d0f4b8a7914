// RUN: %check_torch %s torch-retained-graph %t
//
// Members, structs and globals that live from call to call.

#include <torch/torch.h>

#include <map>

using torch::Tensor;
using torch::nn::Linear;

// The method is called in a loop; the member outlives each call.
class Trainer {
public:
  void step(const Tensor &x, const Tensor &y) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    history.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'history' keeps what its backward() would need (its autograd graph) for every iteration
    total += loss;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: adding 'loss' to 'total' keeps what backward() would need of all iterations (their autograd graphs)
  }
  float mean() const { return total.item<float>() / history.size(); }

private:
  Linear net{8, 2};
  std::vector<Tensor> history;
  Tensor total = torch::zeros({1});
};

void callsStep(Tensor x, Tensor y) {
  Trainer trainer;
  for (int i = 0; i < 10; ++i)
    trainer.step(x, y);
  std::cout << trainer.mean() << '\n';
}

// The loop is in the method; 'this->' is written.
struct Recorder {
  void run(Linear net, Tensor x, Tensor y) {
    for (int i = 0; i < 10; ++i) {
      auto loss = torch::mse_loss(net->forward(x), y);
      loss.backward();
      this->losses_.push_back(loss);
      // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: tensor 'loss' kept in '{{.*}}losses_' keeps what its backward() would need (its autograd graph) for every iteration
    }
  }
  std::vector<Tensor> losses_;
};

// A struct of vectors, passed by reference.
struct Statistics {
  std::vector<Tensor> train, valid;
  std::map<std::string, std::vector<Tensor>> perKind;
};

void collect(Linear net, Statistics &stats, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    stats.train.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in '{{.*}}train' keeps what its backward() would need (its autograd graph) for every iteration
    // The key is always the same, the vector behind it grows.
    stats.perKind["mse"].push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in '{{.*}}perKind{{.*}}' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

static std::vector<Tensor> globalLosses;

void intoGlobal(Linear net, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i) {
    auto loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    globalLosses.push_back(loss);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: tensor 'loss' kept in 'globalLosses' keeps what its backward() would need (its autograd graph) for every iteration
  }
}

// A static local lives from call to call.
static float stepWithStatic(Linear net, Tensor x, Tensor y) {
  static std::vector<Tensor> seen;
  auto loss = torch::mse_loss(net->forward(x), y);
  loss.backward();
  seen.push_back(loss);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: tensor 'loss' kept in 'seen' keeps what its backward() would need (its autograd graph) for every iteration
  return seen.back().item<float>();
}

void callsStatic(Linear net, Tensor x, Tensor y) {
  for (int i = 0; i < 10; ++i)
    stepWithStatic(net, x, y);
}

// A decoder with a cache of keys, called once per generated token, without a
// guard: the cache grows with its graph.
struct DecoderImpl : torch::nn::Module {
  DecoderImpl() { key = register_module("key", Linear(8, 8)); }
  Tensor forward(Tensor token) {
    auto k = key->forward(token).unsqueeze(1);
    cache = cache.defined() ? torch::cat({cache, k}, 1) : k;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: {{.*}}'cache' keeps what {{(its )?}}backward() would need
    return cache.sum(1);
  }
  Linear key{nullptr};
  Tensor cache;
};
TORCH_MODULE(Decoder);

int main() {
  Decoder decoder;
  auto token = torch::rand({1, 8});
  for (int i = 0; i < 100; ++i) {
    auto next = decoder->forward(token).argmax(-1);
    std::cout << next << '\n';
  }
}
