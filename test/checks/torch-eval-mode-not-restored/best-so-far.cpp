// RUN: %check_torch %s torch-eval-mode-not-restored %t
//
// train() comes back where the loss is the best so far, and only there.

#include <torch/torch.h>

using torch::Tensor;

struct NetImpl : torch::nn::Module {
  NetImpl()
      : fc(register_module("fc", torch::nn::Linear(4, 2))),
        drop(register_module("drop", torch::nn::Dropout(0.1))) {}
  Tensor forward(Tensor x) { return drop(fc(x)); }
  torch::nn::Linear fc;
  torch::nn::Dropout drop;
};
TORCH_MODULE(Net);

Tensor batch() { return torch::rand({2, 4}); }

void step(Net &net, torch::optim::Optimizer &optimizer) {
  optimizer.zero_grad();
  net->forward(batch()).square().mean().backward();
  optimizer.step();
}

float estimate(Net net) {
  torch::NoGradGuard off;
  net->eval();
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'net' is still in eval mode when the loop trains it again
  return net->forward(batch()).mean().item<float>();
}
void saved(Net net, int epochs) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  float best = 1e9f;
  net->train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step(net, optimizer);
    if (epoch % 10 == 0) {
      const float loss = estimate(net);
      if (loss < best) {
        best = loss;
        torch::save(net, "best.pt");
        net->train();
      }
    }
  }
}

float measured(Net &net) {
  torch::NoGradGuard off;
  net->eval();
  return net->forward(batch()).mean().item<float>();
}
// The way without train() ends the training.
void ended(Net net, int epochs) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  float best = 1e9f;
  net->train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step(net, optimizer);
    const float loss = measured(net);
    if (loss > best * 2)
      break;
    net->train();
    best = std::min(best, loss);
  }
}
// On both ways.
void both(Net net, int epochs) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  float best = 1e9f;
  net->train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step(net, optimizer);
    const float loss = measured(net);
    if (loss < best) {
      best = loss;
      torch::save(net, "best.pt");
      net->train();
    } else {
      net->train();
    }
  }
}
// Somebody asked what it was before.
void asked(Net net, int epochs, double rate) {
  torch::optim::Adam optimizer(net->parameters(), 1e-3);
  net->train();
  for (int epoch = 0; epoch < epochs; ++epoch) {
    step(net, optimizer);
    const bool was = net->is_training();
    measured(net);
    if (was && rate > 0.5)
      net->train();
  }
}

int main() {
  saved(Net(), 2);
  ended(Net(), 2);
  both(Net(), 2);
  asked(Net(), 2, 1);
}
