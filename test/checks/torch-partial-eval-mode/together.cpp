// RUN: %check_torch %s torch-partial-eval-mode %t -still-warns
//
// Two networks are trained together, and evaluated together: one of them in
// train mode.

#include <torch/torch.h>

using torch::NoGradGuard;
using torch::Tensor;
using torch::nn::Dropout;
using torch::nn::Linear;
using torch::nn::Sequential;
using Batches = std::vector<torch::data::Example<>>;

static Sequential make(int in, int out) { return Sequential(Linear(in, out), Dropout(0.3)); }

static std::vector<Tensor> both(Sequential &a, Sequential &b) {
  std::vector<Tensor> all = a->parameters();
  for (const Tensor &p : b->parameters())
    all.push_back(p);
  return all;
}

class Trainer {
public:
  void fit(const Batches &batches, const Batches &held_out) {
    for (int epoch = 0; epoch < 9; ++epoch) {
      epochOf(batches);
      std::cout << error(held_out);
    }
  }
  void epochOf(const Batches &batches) {
    coder->train();
    head->train();
    for (const auto &batch : batches) {
      optimizer.zero_grad();
      torch::mse_loss(head->forward(coder->forward(batch.data)), batch.target).backward();
      optimizer.step();
    }
  }
  double error(const Batches &batches) {
    NoGradGuard no_grad;
    coder->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: only 'coder' is set to eval mode: 'head', which is evaluated with it, runs with its Dropout as in training; set it to eval(), and back, as well [torch-partial-eval-mode]
    double sum = 0;
    for (const auto &batch : batches)
      sum += torch::mse_loss(head->forward(coder->forward(batch.data)), batch.target).item<double>();
    return sum;
  }
  // Here both are.
  Tensor answer(const Tensor &x) {
    NoGradGuard no_grad;
    coder->eval();
    head->eval();
    return head->forward(coder->forward(x));
  }
  // The dropout of the head is what is wanted.
  double spread(const Tensor &x) {
    NoGradGuard no_grad;
    coder->eval();
    head->train();
    return head->forward(coder->forward(x)).std().item<double>();
  }
  // Or of a pass for each sample.
  Tensor samples(const Tensor &x) {
    NoGradGuard no_grad;
    coder->eval();
    const Tensor code = coder->forward(x);
    std::vector<Tensor> all;
    for (int i = 0; i < 16; ++i)
      all.push_back(head->forward(code));
    return torch::stack(all);
  }

private:
  Sequential coder = make(8, 4), head = make(4, 1);
  torch::optim::Adam optimizer{both(coder, head)};
};

// A part of a network.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    register_module("body", body);
    register_module("head", head);
  }
  Tensor forward(const Tensor &x) { return head->forward(body->forward(x)); }
  Sequential body = make(8, 4), head = make(4, 1);
};
TORCH_MODULE(Net);
void part(const Batches &batches, const Tensor &x) {
  Net net;
  torch::optim::Adam optimizer(net->parameters());
  for (int epoch = 0; epoch < 9; ++epoch) {
    net->train();
    for (const auto &batch : batches) {
      optimizer.zero_grad();
      torch::mse_loss(net->forward(batch.data), batch.target).backward();
      optimizer.step();
    }
    net->body->eval();
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: only 'net->body' is set to eval mode: 'head'
    NoGradGuard no_grad;
    std::cout << net->forward(x).sum().item<double>();
  }
}

// A frozen one, which is in eval mode in training, too.
void frozen(const Batches &batches, const Tensor &x) {
  Sequential body = make(8, 4), head = make(4, 1);
  torch::optim::Adam optimizer(both(body, head));
  for (const auto &batch : batches) {
    body->eval();
    optimizer.zero_grad();
    torch::mse_loss(head->forward(body->forward(batch.data)), batch.target).backward();
    optimizer.step();
  }
  NoGradGuard no_grad;
  body->eval();
  std::cout << head->forward(body->forward(x));
}

// Each is trained for itself: what the one makes is for the other to learn.
void teacher(const Batches &batches, const Tensor &x) {
  Sequential first = make(8, 1), second = make(8, 1);
  torch::optim::Adam ofFirst(first->parameters()), ofSecond(second->parameters());
  for (const auto &batch : batches) {
    first->train();
    ofFirst.zero_grad();
    torch::mse_loss(first->forward(batch.data), batch.target).backward();
    ofFirst.step();
    first->eval();
    Tensor target;
    {
      NoGradGuard no_grad;
      target = first->forward(batch.data) + second->forward(batch.data);
    }
    ofSecond.zero_grad();
    torch::mse_loss(second->forward(batch.data), target).backward();
    ofSecond.step();
  }
}

// Nothing in it depends on the mode.
void indifferent(const Batches &batches, const Tensor &x) {
  Sequential body = make(8, 4);
  Linear head(4, 1);
  torch::optim::Adam optimizer(body->parameters());
  for (int epoch = 0; epoch < 9; ++epoch) {
    body->train();
    for (const auto &batch : batches) {
      optimizer.zero_grad();
      torch::mse_loss(head->forward(body->forward(batch.data)), batch.target).backward();
      optimizer.step();
    }
    body->eval();
    NoGradGuard no_grad;
    std::cout << head->forward(body->forward(x));
  }
}

int main() {
  Trainer trainer;
  trainer.fit({}, {});
  std::cout << trainer.answer({}) << trainer.spread({}) << trainer.samples({});
  trainer.epochOf({});
  part({}, {});
  frozen({}, {});
  teacher({}, {});
  indifferent({}, {});
}
