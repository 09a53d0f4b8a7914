// RUN: %check_torch %s torch-unused-gradients %t
//
// The mistake in its shapes. There is no fix: a guard needs a scope of its own.

#include <torch/script.h>
#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using torch::nn::Sequential;
using torch::optim::Adam;
using torch::optim::SGD;
using Batches = std::vector<Tensor>;

// A backbone from a file, and a head that is trained: through a template.
template <class Loader, class Head>
static void transfer(torch::jit::Module net, Head head, Loader &loader,
                     torch::optim::Optimizer &opt) {
  for (auto &batch : loader) {
    opt.zero_grad();
    auto output = net.forward({batch}).toTensor();
    // CHECK-MESSAGES: :[[@LINE-1]]:19: warning: forward pass of 'net' records a graph, and backward() goes through it for gradients that no optimizer uses (memory, time); put 'torch::NoGradGuard no_grad;' around it, or set 'requires_grad_(false)' on its parameters [torch-unused-gradients]
    // CHECK-MESSAGES: :[[@LINE+2]]:5: note: this backward() goes through it
    // CHECK-MESSAGES: :[[@LINE+6]]:14: note: the network is loaded here
    head->forward(output.flatten(1)).mean().backward();
    opt.step();
  }
}
void backbone(Batches &batches) {
  auto net = torch::jit::load("backbone.pt");
  Linear head(512, 2);
  Adam opt(head->parameters(), 1e-3);
  transfer(net, head, batches, opt);
}

// A target network, in an agent that the function makes.
struct Agent {
  Linear online{8, 2}, target{8, 2};
  SGD opt;
  Agent() : opt(online->parameters(), 0.1) {}
  void learn(const Tensor &state, const Tensor &next, const Tensor &reward) {
    auto best = std::get<0>(target->forward(next).max(1));
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: forward pass of 'target' records a graph
    auto loss = torch::mse_loss(online->forward(state).sum(1), reward + best);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
};
void play(const Batches &states) {
  Agent agent;
  for (size_t i = 1; i < states.size(); ++i)
    agent.learn(states[i - 1], states[i], torch::ones({32}));
}

// A teacher that was trained before; a helper that runs both; a lambda.
static Tensor run(Sequential &net, const Tensor &x) {
  return torch::relu(net->forward(x));
}
void distill(const Batches &batches) {
  Sequential teacher(Linear(8, 64), Linear(64, 2)), student(Linear(8, 2));
  {
    Adam opt(teacher->parameters(), 1e-3);
    for (const Tensor &x : batches) {
      opt.zero_grad();
      run(teacher, x).mean().backward();
      opt.step();
    }
  }
  Adam opt(student->parameters(), 1e-3);
  auto loss = [&](const Tensor &x) {
    return torch::mse_loss(run(student, x), run(teacher, x));
    // CHECK-MESSAGES: :[[@LINE-1]]:45: warning: forward pass below this call records a graph, and backward() goes through it
  };
  for (const Tensor &x : batches) {
    opt.zero_grad();
    loss(x).backward();
    opt.step();
  }
}
