// RUN: %check_torch %s torch-missing-no-grad %t
//
// Evaluation between the steps of a training.

#include <torch/torch.h>

using torch::Tensor;
using torch::nn::Linear;
using Batches = std::vector<torch::data::Example<>>;

// The epoch trains, and then validates.
static void validationPart(Linear net, Batches &train, Batches &valid) {
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (int epoch = 0; epoch < 10; ++epoch) {
    net->train();
    for (auto &batch : train) {
      opt.zero_grad();
      auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
      loss.backward();
      opt.step();
    }
    net->eval();
    float sum = 0;
    for (auto &batch : valid) {
      auto output = net->forward(batch.data);
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
      sum += torch::mse_loss(output, batch.target).item<float>();
    }
    std::cout << sum << '\n';
  }
}

// Samples for a checkpoint: the result is saved, the training goes on.
static void gan(Linear generator, Linear critic, Tensor real) {
  torch::optim::Adam optG(generator->parameters()), optD(critic->parameters());
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto fake = generator->forward(torch::randn({4, 8}));
    optD.zero_grad();
    auto lossD =
        critic->forward(fake.detach()).mean() - critic->forward(real).mean();
    lossD.backward();
    optD.step();
    optG.zero_grad();
    auto lossG = -critic->forward(fake).mean();
    lossG.backward();
    optG.step();
    if (epoch % 5 == 0) {
      auto samples = generator->forward(torch::randn({10, 8}));
      // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: forward pass of 'generator' keeps all intermediate results for a backward() that never comes
      torch::save(samples.view({-1, 2, 1}), "samples.pt");
    }
  }
}

// For a picture after each epoch: detached too late.
static void visualise(Linear generator, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    auto picture = generator->forward(torch::randn({10, 8})).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: forward pass of 'generator' keeps all intermediate results for a backward() that never comes
    std::cout << picture << '\n';
  }
}

// A target network whose values are only ever detached.
static void deepQ(Linear policy, Linear target, Tensor state, Tensor next) {
  torch::optim::Adam opt(policy->parameters());
  target->eval();
  for (int step = 0; step < 100; ++step) {
    auto nextValue = target->forward(next).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:22: warning: forward pass of 'target' keeps all intermediate results for a backward() that never comes
    auto expected = 0.99 * nextValue + 1;
    auto loss = torch::mse_loss(policy->forward(state), expected);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

// The guard is a temporary, the next one has ended, the third comes too late.
static void guardNotInForce(Linear net, Tensor x) {
  net->eval();
  torch::NoGradGuard();
  {
    torch::NoGradGuard ended;
  }
  auto y = net->forward(x);
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
  torch::NoGradGuard late;
  std::cout << y.argmax() << '\n';
}

// Switched off and on again.
static void switchedOnAgain(Linear net, Tensor x) {
  torch::NoGradGuard no_grad;
  net->eval();
  torch::AutoGradMode enable(true);
  std::cout << net->forward(x).argmax() << '\n';
  // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: forward pass of 'net' keeps all intermediate results for a backward() that never comes
}

int main() {
  Linear net(8, 2), other(8, 2);
  auto x = torch::rand({4, 8});
  Batches train, valid;
  validationPart(net, train, valid);
  gan(net, other, x);
  visualise(net, 3);
  deepQ(net, other, x, x);
  for (int i = 0; i < 4; ++i)
    guardNotInForce(net, x);
  while (true)
    switchedOnAgain(net, x);
}
